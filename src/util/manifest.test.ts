import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { assertAsSaved, manifestProblems, readManifest, unlistedFiles, writeManifest } from './manifest.ts'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-manifest-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const path = (...parts: string[]) => join(dir, ...parts)
const problems = () => manifestProblems(dir, readManifest(dir)!)

describe('a manifest', () => {
  it('lists every file with its size and SHA-256, those in folders too', async () => {
    writeFileSync(path('a'), 'abc')
    mkdirSync(path('sub'))
    writeFileSync(path('sub', 'empty'), '')
    const { files } = await writeManifest(dir, { step: 3 })
    // From FIPS 180-2's examples and the well-known hash of nothing.
    expect(files).toEqual({
      a: { bytes: 3, sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' },
      'sub/empty': { bytes: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
    })
    expect(readManifest(dir)).toMatchObject({ formatVersion: 1, about: { step: 3 } })
    expect(problems()).toEqual([])
  })

  it('says which file is missing, cut, changed or not listed', async () => {
    for (const name of ['gone', 'cut', 'flipped', 'kept']) writeFileSync(path(name), `${name} content`)
    await writeManifest(dir, {})
    rmSync(path('gone'))
    writeFileSync(path('cut'), 'cut')
    writeFileSync(path('flipped'), 'flipped Content')
    writeFileSync(path('more'), '')
    expect(problems()).toEqual([
      'cut: expected 11 bytes, got 3',
      'flipped: its bytes are not those that were saved (SHA-256)',
      'gone is missing',
    ])
    expect(manifestProblems(dir, readManifest(dir)!, { sizesOnly: true })).toHaveLength(2)
    expect(manifestProblems(dir, readManifest(dir)!, { only: name => name === 'kept' })).toEqual([])
    expect(unlistedFiles(dir, readManifest(dir)!)).toEqual(['more'])
    expect(() => assertAsSaved(dir)).toThrow(/not as it was saved: cut.*gone is missing.*another checkpoint/)
  })

  it('is refused when it was changed itself, and is nothing where another program wrote one', async () => {
    writeFileSync(path('a'), 'abc')
    await writeManifest(dir, { step: 3 })
    const text = readFileSync(path('manifest.json'), 'utf8')
    writeFileSync(path('manifest.json'), text.replace('"step": 3', '"step": 4'))
    expect(() => readManifest(dir)).toThrow(/changed after it was written/)
    writeFileSync(path('manifest.json'), text.slice(0, -9))
    expect(() => readManifest(dir)).toThrow(/not JSON/)
    writeFileSync(path('manifest.json'), '{"name":"an extension"}')
    expect(readManifest(dir)).toBeNull()
    assertAsSaved(dir)
  })

  it('finds any one byte that was changed, taken or added', async () => {
    const content = fc.uint8Array({ minLength: 1, maxLength: 40 })
    const damage = fc.record({ kind: fc.constantFrom('flip', 'take', 'add'), at: fc.nat(), bit: fc.nat(7) })
    await fc.assert(
      fc.asyncProperty(content, damage, async (bytes, { kind, at, bit }) => {
        writeFileSync(path('file'), bytes)
        await writeManifest(dir, {})
        const i = at % bytes.length
        const changed = [...bytes]
        if (kind === 'flip') changed[i] ^= 1 << bit
        if (kind === 'take') changed.splice(i, 1)
        if (kind === 'add') changed.splice(i, 0, bit)
        writeFileSync(path('file'), Uint8Array.from(changed))
        return problems().length === 1
      }),
      { numRuns: 60 },
    )
  })
})
