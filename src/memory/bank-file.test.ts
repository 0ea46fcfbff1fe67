import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { RubricBank } from './bank.ts'
import { BankFile, readBankFile, startFromFile, writeBankFile } from './bank-file.ts'
import type { Embedder } from './embedder.ts'
import { HashedNgrams } from './hashed.ts'
import type { Reflection } from './item.ts'

let dir: string
let path: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-bank-'))
  path = join(dir, 'bank.jsonl')
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const QUESTIONS = ['How old is the moon?', 'How old is the sun?', 'Who painted\nthe ceiling?']

const reflection = (question: string, u = 0.5): Reflection => ({
  question,
  rubrics: { needs: ['a date', 'a source'] },
  takeaways: ['look at the catalogue first'],
  u,
  step: 3,
})

/** Hashed vectors that pretend to cost something. */
class Stored implements Embedder {
  readonly name: string
  readonly dims = 16
  readonly #hashed = new HashedNgrams({ dims: 16 })
  texts: string[] = []

  constructor(name = 'stored') {
    this.name = name
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    this.texts.push(...texts)
    return this.#hashed.embed(texts)
  }
}

const filled = async (embedder: Embedder = new HashedNgrams(), questions = QUESTIONS) => {
  const bank = new RubricBank({ embedder })
  await bank.add(questions.map(question => reflection(question)))
  return bank
}

describe('the file of a bank', () => {
  it('has a line about it and an item a line, and is read back as it was', async () => {
    const bank = await filled()
    writeBankFile(path, bank, 20)
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines[0]).toEqual({
      gradus: 'bank',
      version: 1,
      embedder: 'hashed-ngrams-1 dims=256 order=2',
      dims: null,
      items: 3,
      step: 20,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(lines[1]).toMatchObject({
      question: QUESTIONS[0],
      takeaways: ['look at the catalogue first'],
      u: 0.5,
      step: 3,
    })
    const read = await readBankFile(path)
    expect(read.step).toBe(20)
    expect(read.items.map(({ item }) => item)).toEqual(bank.items())
  })

  it('is what another run or inference starts from, with its vectors or with new ones', async () => {
    writeBankFile(path, await filled(new Stored()), 20)
    const same = new Stored()
    const again = new RubricBank({ embedder: same })
    await startFromFile(again, path)
    expect(again.within(QUESTIONS[1])?.u).toBe(0.5)
    await again.cross('How old is it?')
    expect(same.texts).toEqual(['How old is it?'])
    const other = new Stored('other')
    const anew = new RubricBank({ embedder: other })
    await startFromFile(anew, path)
    expect((await anew.cross('How old is it?', 1))[0].item.question).toMatch(/^How old/)
    expect(other.texts.sort()).toEqual(['How old is it?', ...QUESTIONS].sort())
    await expect(startFromFile(anew, path, { otherEmbedder: 'refuse' })).rejects.toThrow(
      'bank.jsonl:1: expected a bank of the embedder "other", got one of "stored"',
    )
  })

  it('is written every ten steps, and when told to', async () => {
    const bank = await filled()
    const file = new BankFile(path)
    expect([9, 11].map(step => file.afterStep(bank, step))).toEqual([false, false])
    expect(file.exists).toBe(false)
    expect(file.afterStep(bank, 10)).toBe(true)
    expect((await readBankFile(path)).step).toBe(10)
    file.write(bank, 12)
    expect((await readBankFile(path)).step).toBe(12)
    expect(new BankFile(path, { everySteps: 4 }).afterStep(bank, 8)).toBe(true)
  })

  it('stays the old one when the writer is killed before the new one has its name (11.18)', async () => {
    writeBankFile(path, await filled(), 10)
    const dist = new URL('../../dist/', import.meta.url)
    const script = `
      import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      fs.renameSync = () => process.kill(process.pid, 'SIGKILL')
      syncBuiltinESMExports()
      const { RubricBank, HashedNgrams, writeBankFile } = await import('${dist}memory/index.js')
      const bank = new RubricBank({ embedder: new HashedNgrams() })
      await bank.add([{ question: 'new', rubrics: '', takeaways: '', u: 1, step: 20 }])
      writeBankFile(process.argv[1], bank, 20)`
    const child = spawnSync(process.execPath, ['--input-type=module', '-e', script, path], {
      encoding: 'utf8',
    })
    expect(child.signal, child.stderr).toBe('SIGKILL')
    const left = readdirSync(dir).filter(name => name !== 'bank.jsonl')
    expect(left).toEqual([expect.stringMatching(/^bank\.jsonl\.gradus-.*\.tmp$/)])
    expect(readFileSync(join(dir, left[0]), 'utf8')).toContain('"question":"new"')
    const old = await readBankFile(path)
    expect([old.step, old.items.length]).toEqual([10, 3])
  })

  it('may be long: pieces of it are joined', async () => {
    const questions = Array.from({ length: 1100 }, (_, i) => `question ${i}`)
    writeBankFile(path, await filled(new HashedNgrams({ dims: 8 }), questions), 1)
    expect((await readBankFile(path)).items.map(({ item }) => item.question)).toEqual(questions)
  })
})

describe('files that are no bank', () => {
  const write = async (change: (lines: string[]) => string) => {
    writeBankFile(path, await filled(new Stored()), 20)
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    writeFileSync(path, change(lines))
  }
  /** As of an earlier version, or changed on purpose: without a digest. */
  const unsealed = (text: string) => text.replace(/,"sha256":"[0-9a-f]{64}"/, '')
  const edit = (lines: string[], at: number, change: (row: Record<string, unknown>) => void) => {
    const row = JSON.parse(lines[at])
    change(row)
    lines[at] = JSON.stringify(row)
    return lines.join('\n')
  }

  it.each<[string, (lines: string[]) => string, RegExp]>([
    ['cut within a line', lines => lines.join('\n').slice(0, -40), /bank\.jsonl:4: expected JSON/],
    [
      'cut between lines',
      lines => lines.slice(0, 3).join('\n'),
      /bank\.jsonl:4: expected 3 items.*got 2; the file was cut/,
    ],
    ['cut after the first line', lines => lines[0], /bank\.jsonl:2: expected 3 items.*got 0/],
    ['empty', () => '', /bank\.jsonl:1: expected the first line of a bank, got an empty file/],
    [
      'of another kind',
      () => '{"prompt":"x","points":1}\n',
      /bank\.jsonl:1: expected the first line of a bank.*got an object with prompt, points/,
    ],
    ['a list', () => '[1]\n', /bank\.jsonl:1: .*got a list of 1/],
    ['null', () => 'null\n', /bank\.jsonl:1: expected the first line/],
    ['not JSON', () => 'question,lesson\n', /bank\.jsonl:1: expected JSON/],
    ['without its first line', lines => lines.slice(1).join('\n'), /bank\.jsonl:1: expected the first line/],
    [
      'joined with another',
      lines => [...lines, ...lines].join('\n'),
      /bank\.jsonl:5: expected 3 items.*got more/,
    ],
    ['of a later version', lines => edit(lines, 0, row => (row.version = 2)), /bank\.jsonl:1: version/],
    [
      'with a question twice',
      lines => [lines[0], lines[1], lines[1], lines[2]].join('\n'),
      /bank\.jsonl:3: expected one item a question/,
    ],
    ['with a changed question', lines => edit(lines, 2, row => (row.question = 'x')), /bank\.jsonl:3: qHash/],
    [
      'with a short vector',
      lines => edit(lines, 2, row => (row.embedding = 'AAAAAA==')),
      /bank\.jsonl:3: embedding: expected 16 numbers/,
    ],
    ['with a hostile number', lines => edit(lines, 1, row => (row.u = '1e999')), /bank\.jsonl:2: u/],
    ['with infinity', lines => lines.join('\n').replace('"u":0.5', '"u":1e999'), /bank\.jsonl:2: u/],
    ['nested without end', lines => `${lines[0]}\n${'['.repeat(5000)}`, /bank\.jsonl:2: expected/],
    [
      'with half a character',
      lines => lines.join('\n').replace('How old', '\\ud800'),
      /bank\.jsonl:2: expected text, got half/,
    ],
  ])('are refused by file and line: %s', async (_, change, message) => {
    await write(change)
    await expect(readBankFile(path)).rejects.toThrow(DataError)
    await expect(readBankFile(path)).rejects.toThrow(message)
  })

  it.each<[string, (lines: string[]) => string]>([
    ['another utility', lines => edit(lines, 2, row => (row.u = 0.9))],
    ['another lesson', lines => edit(lines, 1, row => (row.takeaways = ['look nowhere']))],
    ['another step', lines => edit(lines, 0, row => (row.step = 21))],
    ['its lines in another order', lines => [lines[0], lines[2], lines[1], lines[3]].join('\n')],
  ])('are refused with %s, unless somebody says that it is meant', async (_, change) => {
    await write(change)
    const message = /bank\.jsonl: expected the lines that were written.*take sha256 out of its first line/
    await expect(readBankFile(path)).rejects.toThrow(message)
    await expect(readBankFile(path)).rejects.toThrow(DataError)
    writeFileSync(path, unsealed(readFileSync(path, 'utf8')))
    expect((await readBankFile(path)).items).toHaveLength(3)
  })

  it('keep prototypes out, whatever keys they have', async () => {
    const text = JSON.stringify({ a: 1 }).replace('"a"', '"__proto__"')
    await write(lines => unsealed(lines.join('\n')).replace('["look at the catalogue first"]', text))
    const { items } = await readBankFile(path)
    expect(Object.getPrototypeOf(items[0].item.takeaways)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).a).toBeUndefined()
  })

  it('are refused where they are not there, hold nothing, or lessons of another task', async () => {
    const bank = new RubricBank({ embedder: new HashedNgrams() })
    await expect(startFromFile(bank, join(dir, 'none.jsonl'))).rejects.toThrow('there is no such file')
    writeBankFile(path, bank, 0)
    expect((await readBankFile(path)).items).toEqual([])
    await expect(startFromFile(bank, path)).rejects.toThrow('expected at least one item')
    writeBankFile(path, await filled(), 1)
    await expect(readBankFile(path, { takeaways: z.strictObject({ key: z.string() }) })).rejects.toThrow(
      /bank\.jsonl:2: takeaways/,
    )
  })
})
