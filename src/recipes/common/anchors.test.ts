import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { anchorLines, anchorsSetting, checkAnchors, openAnchors } from './anchors.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-anchors-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let made = 0
const dirOf = () => mkdtempSync(join(folder, 'run-'))
const write = (rows: readonly unknown[]): string => {
  const path = join(folder, `${made++}.jsonl`)
  writeFileSync(path, rows.map(row => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n'))
  return path
}
const row = (prompt: string, good: boolean, response = good ? 'yes' : 'no') => ({ prompt, response, good })
const of = (settings: object) => ({ anchors: anchorsSetting.parse(settings) })

/** Problems are their questions, of which every second is answered both ways. */
const sourceOf = (rightOf: (p: number) => (boolean | null)[]) => {
  const rounds: number[] = []
  const source: Parameters<typeof openAnchors<string, string>>[2] = {
    task: { question: own => own, fromQuestion: own => own },
    problem: i => `q${i}`,
    shown: z.string(),
    read: (problem, response) => `${problem}: ${response}`,
    answers: async (problems, round) => {
      rounds.push(round)
      return problems.map(problem =>
        rightOf(Number(problem.slice(1))).map((right, i) => ({
          ...{ response: `${i}`, shown: `shown ${problem} ${i}`, right },
        })),
      )
    },
  }
  return { source, rounds }
}

describe('anchors of a file', () => {
  it('are tried on all questions, but on one alone where there are three of either kind to it', async () => {
    const own = [true, true, true, false, false, false].map((good, i) => row('mine', good, `r${i}`))
    const file = write([...own, row('yours', true), row('yours', false)])
    const anchors = await openAnchors(of({ file }), dirOf(), sourceOf(() => []).source)
    expect(anchors!.of('mine').map(({ shown }) => shown)).toEqual(
      own.map(({ response }) => `mine: ${response}`),
    )
    expect(anchors!.of('yours')).toHaveLength(8)
    expect(anchors!.of('elsewhere')).toHaveLength(8)
    expect(anchors!.minAgreement).toBe(0.7)
    // One bad answer less.
    const fewer = write([...own.slice(0, 5), row('yours', false)])
    const others = await openAnchors(of({ file: fewer }), dirOf(), sourceOf(() => []).source)
    expect(others!.of('mine')).toHaveLength(6)
  })

  it.each<[string, unknown[], RegExp]>([
    ['no label', [row('a', true), { prompt: 'a', response: 'b' }], /\.jsonl:2: good: expected/],
    ['another label', [{ ...row('a', true), good: 'yes' }], /\.jsonl:1: good: expected/],
    ['an empty response', [row('a', true, ' ')], /\.jsonl:1: response: expected text/],
    ['no JSON', [row('a', true), '{'], /\.jsonl:2/],
    [
      'good ones alone',
      [row('a', true)],
      /expected good answers and bad ones, got 1 row, none with good false/,
    ],
    ['nothing', [], /got 0 rows, none with good true/],
    [
      'two labels of the same answer',
      [row('a', true, 'x'), row('a', false), row('a ', false, 'x')],
      /\.jsonl:3: good: expected true, as .*\.jsonl:1 says of the same answer, got false/,
    ],
  ])('are refused with %s', (_, rows, message) => {
    const file = write(rows)
    expect(() => checkAnchors(of({ file }), { proposes: true, madeUp: false }, 'run')).toThrow(message)
  })
})

describe('anchors of the start', () => {
  /** Only every third question has answers of both kinds. */
  const every3rd = (p: number) => (p % 3 === 0 ? [null, false, true, true, false] : [true, true, null])

  it('are a right and a wrong answer to each question, kept in the run, and the same after a resume', async () => {
    const dir = dirOf()
    const { source, rounds } = sourceOf(every3rd)
    const anchors = await openAnchors(of({ start: 16 }), dir, source)
    const asked = anchors!.of('q0')
    // 16 questions at a time have six of them, so that eight are found in the second round.
    expect(rounds).toEqual([0, 1])
    expect(asked.slice(0, 4)).toEqual([
      { problem: 'q0', shown: 'shown q0 2', good: true },
      { problem: 'q0', shown: 'shown q0 1', good: false },
      { problem: 'q3', shown: 'shown q3 2', good: true },
      { problem: 'q3', shown: 'shown q3 1', good: false },
    ])
    expect(asked).toHaveLength(16)
    const lines = readFileSync(join(dir, 'anchors.jsonl'), 'utf8').trim().split('\n')
    expect(JSON.parse(lines[2])).toEqual({
      ...{ prompt: 'q3', response: '2', good: true, problem: 3, shown: 'shown q3 2' },
    })
    // Another policy by now, which would never be wrong.
    const later = sourceOf(() => [true])
    const again = await openAnchors(of({ start: 16 }), dir, later.source)
    expect(again!.of('x')).toEqual(asked)
    expect(later.rounds).toEqual([])
  })

  it('take no question twice', async () => {
    const { source } = sourceOf(() => [true, false])
    const anchors = await openAnchors(of({ start: 20 }), dirOf(), {
      ...source,
      problem: i => `q${Math.floor(i / 2)}`,
    })
    expect(new Set(anchors!.of('x').map(({ problem }) => problem)).size).toBe(10)
  })

  it('are none where the start is nearly always right', async () => {
    const dir = dirOf()
    const { source } = sourceOf(p => (p === 100 ? [true, false] : [true, true]))
    await expect(openAnchors(of({ start: 4 }), dir, source)).rejects.toThrow(
      'anchors.start: expected 2 questions that the starting policy answers right and wrong, got 1 among 256',
    )
    expect(existsSync(join(dir, 'anchors.jsonl'))).toBe(false)
  })

  it('that a run keeps and somebody has changed are refused', async () => {
    const dir = dirOf()
    writeFileSync(
      join(dir, 'anchors.jsonl'),
      '{"prompt": "q0", "response": "1", "good": true, "problem": 0}\n',
    )
    await expect(openAnchors(of({ start: 4 }), dir, sourceOf(() => []).source)).rejects.toThrow(
      /anchors\.jsonl:1: shown: expected/,
    )
    // Cut at the end of a line.
    const whole = dirOf()
    await openAnchors(of({ start: 4 }), whole, sourceOf(() => [true, false]).source)
    const path = join(whole, 'anchors.jsonl')
    writeFileSync(path, readFileSync(path, 'utf8').split('\n').slice(0, 3).join('\n'))
    await expect(openAnchors(of({ start: 4 }), whole, sourceOf(() => []).source)).rejects.toThrow(
      /anchors\.jsonl: expected 4 answers, half of them good, as the run has made them, got 3 with 2 good/,
    )
  })
})

it('are nothing without the setting', async () => {
  expect(await openAnchors({}, folder, sourceOf(() => []).source)).toBeUndefined()
  expect(checkAnchors({}, { proposes: false, madeUp: true }, 'run')).toEqual([])
  expect(anchorLines({}, [], { question: 0, step: 0 })).toEqual([])
})

it.each<[string, object, { proposes?: boolean; madeUp?: boolean }, RegExp]>([
  ['neither file nor start', {}, {}, /^anchors: expected either file or start, got neither/],
  ['both', { file: 'a.jsonl', start: 4 }, {}, /got both/],
  ['a file for made-up questions', { file: 'a.jsonl' }, { madeUp: true }, /^anchors\.file: expected nothing/],
  ['nothing to gate', { start: 4 }, { proposes: false }, /^anchors: expected nothing where no criterion/],
])('are refused with %s', (_, settings, task, message) => {
  expect(() => checkAnchors(of(settings), { proposes: true, madeUp: false, ...task }, 'plan')).toThrow(
    message,
  )
})

it('say in a plan what they cost and what a criterion needs', () => {
  const calls = { question: 20, step: 320 }
  expect(anchorLines(of({ start: 10, minAgreement: 0.8 }), [], calls)).toEqual([
    // 56 of 1,024 ways that ten coins fall.
    'anchors      10 answers of the start, half of them right; criteria count from an agreement of 80.0% on: one that is always met has 50%, one whose verdicts are coin tosses is admitted in 5.5% of cases',
    '             at most 20 calls a question besides, 320 a step',
  ])
  const rows = [row('a', true), row('b', false), row('c', false)]
  expect(anchorLines(of({ file: 'own.jsonl' }), rows, calls)[0]).toContain(
    '1 good and 2 bad answers of own.jsonl',
  )
  expect(
    checkAnchors(of({ file: join(folder, 'later.jsonl') }), { proposes: true, madeUp: false }, 'plan'),
  ).toEqual([])
})
