import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DECISION_RULES, RULE } from '../analysis/rules.ts'
import { fakeRegistration } from '../fake-paper.fixture.ts'
import { readRegistered, register } from './registered.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-registered-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const VERSIONS = { gradus: '0.1.0', commit: 'abc' }
const block = (seeds: number[]) => ({ seeds, registered: '2026-12-01' })
const registration = fakeRegistration()
const written = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))

describe('what is put down at a registration', () => {
  it('has rule, version and commit, sealed together with the hash of the content', () => {
    register(folder, registration, VERSIONS)
    const record = written('registration.json')
    expect(record).toMatchObject({ sha256: registration.hash, rule: RULE.version, versions: VERSIONS })
    expect(record.seal).toMatch(/^[0-9a-f]{64}$/)
    expect(record.content).not.toHaveProperty('hash')
    // Another commit is another seal; what was put down stays.
    const later = readRegistered(folder, registration, { ...VERSIONS, commit: 'def' })
    expect(later).toEqual({ ...readRegistered(folder, registration, VERSIONS), blocks: [] })
    expect(later).toMatchObject({ seal: record.seal, versions: VERSIONS })
    rmSync(join(folder, 'registration.json'))
    register(folder, registration, { ...VERSIONS, commit: 'def' })
    expect(written('registration.json').seal).not.toBe(record.seal)
  })

  it('names no rule in records from before it was kept: that of their time', () => {
    const at = (registeredAt: string) => {
      const record = { sha256: registration.hash, registeredAt, file: 'made-up.yaml', content: {} }
      writeFileAtomic(join(folder, 'registration.json'), JSON.stringify(record))
      return readRegistered(folder, registration, VERSIONS)
    }
    expect(at('2026-11-21T10:48:29.041Z')).toMatchObject({ rule: 1, versions: {}, seal: null })
    expect(at('2026-11-21T13:00:00.000Z').rule).toBe(2)
    expect(DECISION_RULES.map(({ version }) => version)).toEqual([1, 2, 3])
  })

  it('is refused where a newer Gradus made it', () => {
    const record = { sha256: registration.hash, registeredAt: '2027-01-01T00:00:00Z', rule: 99 }
    writeFileAtomic(join(folder, 'registration.json'), JSON.stringify(record))
    expect(() => readRegistered(folder, registration, VERSIONS)).toThrow(
      /expected a decision rule from 1 to \d+, got 99: it was registered with a newer Gradus/,
    )
  })

  it('has later blocks beside it, which must not change any more', () => {
    register(folder, registration, VERSIONS)
    const before = written('registration.json')
    const enlarged = fakeRegistration({ blocks: [block([6, 7])] })
    register(folder, enlarged, { ...VERSIONS, commit: 'def' })
    expect(written('registration.json')).toEqual(before)
    expect(written('registration-block-2.json')).toMatchObject({
      sha256: enlarged.blockHashes[0],
      versions: { commit: 'def' },
      content: { seeds: [6, 7] },
    })
    expect(readRegistered(folder, enlarged, VERSIONS).blocks).toHaveLength(1)
    const changed = fakeRegistration({ blocks: [block([6, 7, 8])] })
    expect(() => register(folder, changed, VERSIONS)).toThrow(
      /made-up\.yaml: blocks\[0\]: expected the block [0-9a-f]{16} that was registered at .*was changed since/,
    )
    register(folder, fakeRegistration({ blocks: [block([6, 7]), block([8])] }), VERSIONS)
    expect(written('registration-block-3.json').content.seeds).toEqual([8])
  })
})
