import { describe, expect, it } from 'vitest'
import { DataError } from '../util/errors.ts'
import { Rng } from '../util/rng.ts'
import { antiCorrelationTest, chanceAllConstant, withinCorrelation } from './lint-statistics.ts'
import { lintVerdicts } from './lint-verdicts.ts'
import { joinRuns, parseOutcome, parseVerdictRow, type VerdictRow, withOutcomes } from './verdict-rows.ts'

const rubricOf = (...points: number[]) => ({
  criteria: points.map((p, i) => ({ id: `c${i}`, text: `Names thing ${i}`, points: p })),
})

/** One row a response; `verdicts[i]` are the credits of criterion i. */
const rowsOf = (
  columns: (number | null)[][],
  more: (response: number) => Partial<VerdictRow> = () => ({}),
): VerdictRow[] =>
  columns[0].map((_, response) => ({
    group: '',
    judgements: [Object.fromEntries(columns.map((column, i) => [`c${i}`, column[response]]))],
    ...more(response),
  }))

const fill = (count: number, ones: number): number[] =>
  Array.from({ length: count }, (_, i) => Number(i < ones))
const rulesOf = (findings: { rule: string; criterionIds: string[] }[]) =>
  findings.map(({ rule, criterionIds }) => `${rule} ${criterionIds}`)

describe('chance', () => {
  it('counts the ways in which all groups can be constant', () => {
    // Two groups of 2, two met: {first} or {second} out of C(4, 2) = 6.
    expect(chanceAllConstant([2, 2], 2)).toBeCloseTo(2 / 6, 12)
    expect(chanceAllConstant([2, 2], 1)).toBe(0)
    // Three groups of 4, 8 met: 3 of C(12, 8) = 495.
    expect(chanceAllConstant([4, 4, 4], 8)).toBeCloseTo(3 / 495, 12)
  })

  it('is exact for yes and no', () => {
    // 8 responses, 4 right, 4 met, none of them both: 1 of C(8, 4) = 70.
    const opposite = { credits: [1, 1, 1, 1, 0, 0, 0, 0], outcomes: [0, 0, 0, 0, 1, 1, 1, 1] }
    expect(antiCorrelationTest([opposite])).toBeCloseTo(1 / 70, 12)
    expect(antiCorrelationTest([opposite, opposite])).toBeCloseTo(1 / 4900, 12)
    // The hypergeometric table, 3 of 8 right and 5 met: only "all three right ones met" exceeds phi 0.2.
    const two = { credits: fill(8, 5), outcomes: [1, 1, 0, 0, 0, 1, 0, 0] }
    expect(1 - antiCorrelationTest([two])).toBeCloseTo(0.179, 3)
  })

  it('permutes inside groups where outcomes are graded', () => {
    const group = { credits: [1, 1, 1, 0, 0, 0], outcomes: [0.1, 0.2, 0.3, 0.7, 0.8, 0.9] }
    // 1 of C(6, 3) = 20 arrangements is as extreme.
    expect(antiCorrelationTest([group], { draws: 20_000 })).toBeCloseTo(1 / 20, 2)
    expect(antiCorrelationTest([group], { seed: 1 })).toBe(antiCorrelationTest([group], { seed: 1 }))
  })

  it('takes group means out and bounds what is left', () => {
    // A criterion met on easy prompts only correlates with being right over all, but not inside any prompt.
    const easy = { credits: fill(10, 9), outcomes: fill(10, 9).reverse() }
    const hard = { credits: fill(10, 1), outcomes: fill(10, 1).reverse() }
    const { estimate, upper } = withinCorrelation([easy, hard])!
    expect(estimate).toBeCloseTo(-1 / 9, 12)
    expect(upper).toBeGreaterThan(0.2)
    expect(withinCorrelation([{ credits: [1, 0], outcomes: [1, 0] }])).toBeNull()
  })
})

describe('lintVerdicts', () => {
  it('finds saturated and never met criteria once there is enough data', () => {
    const rubric = rubricOf(1, 1, 1, -1)
    const columns = (n: number) => [fill(n, n), fill(n, 0), fill(n, n / 2), fill(n, 0)]
    expect(rulesOf(lintVerdicts(rubric, rowsOf(columns(8))))).toEqual([])
    expect(rulesOf(lintVerdicts(rubric, rowsOf(columns(40))))).toEqual([
      'saturated c0',
      'never-met c1',
      'never-met c3',
    ])
    expect(lintVerdicts(rubric, rowsOf(columns(40))).at(-1)?.severity).toBe('info')
    expect(rulesOf(lintVerdicts(rubricOf(1), rowsOf([fill(40, 36)])))).toEqual([])
  })

  it('finds criteria that judge the prompt', () => {
    const group = (response: number) => ({ group: `p${Math.floor(response / 4)}` })
    const rows = rowsOf([[...fill(16, 8)], [...fill(16, 8)].map((_, i) => Number(i % 4 < 2))], group)
    expect(rulesOf(lintVerdicts(rubricOf(1, 1), rows))).toEqual(['non-discriminating c0'])
    // Two groups of two may be constant by chance.
    expect(
      lintVerdicts(
        rubricOf(1),
        rowsOf([[1, 1, 0, 0]], i => ({ group: `${i < 2}` })),
      ),
    ).toEqual([])
  })

  it('takes any number of responses', () => {
    const half = 70_000
    const group = (response: number) => ({ group: `${response < half}` })
    const rows = rowsOf([fill(2 * half, half)], group)
    expect(rulesOf(lintVerdicts(rubricOf(1), rows))).toEqual(['non-discriminating c0'])
  })

  it('takes no name that every object has for a verdict', () => {
    const criteria = ['c0', 'constructor'].map(id => ({ id, text: `Names ${id}`, points: 1 }))
    expect(rulesOf(lintVerdicts({ criteria }, rowsOf([fill(4, 2)])))).toEqual(['no-verdicts constructor'])
  })

  it('finds criteria that go against the outcome, by the sign of their points', () => {
    const right = fill(40, 20)
    const wrong = right.map(x => 1 - x)
    const outcome = (response: number) => ({ outcome: right[response] })
    const findings = lintVerdicts(rubricOf(2, 2, -2, -2), rowsOf([right, wrong, right, wrong], outcome))
    expect(rulesOf(findings)).toEqual(['anti-correlated c1', 'anti-correlated c2'])
    expect(findings[0].message).toContain('rewards worse responses (correlation -1.00')
    expect(findings[1].message).toContain('punishes better responses')
  })

  it('calls a criterion uncorrelated only when there are enough responses to know', () => {
    const alternating = (n: number) => Array.from({ length: n }, (_, i) => Number(i % 4 < 2))
    const rows = (n: number) => rowsOf([alternating(n)], response => ({ outcome: response % 2 }))
    expect(lintVerdicts(rubricOf(1), rows(40))).toEqual([])
    expect(rulesOf(lintVerdicts(rubricOf(1), rows(400)))).toEqual(['uncorrelated c0'])
  })

  it('reports noise about as often as its level says', () => {
    const rng = new Rng('noise')
    const draw = () => Array.from({ length: 16 }, () => Number(rng.next() < 0.5))
    const outcome = draw()
    let rubricsWithFindings = 0
    for (let rubric = 0; rubric < 100; rubric++) {
      const columns = Array.from({ length: 10 }, draw)
      const rows = rowsOf(columns, response => ({ outcome: outcome[response], group: `${response % 4}` }))
      const wrong = lintVerdicts(rubricOf(...columns.map((_, i) => (i % 2 ? 1 : -1))), rows)
      rubricsWithFindings += Number(wrong.length > 0)
    }
    expect(rubricsWithFindings).toBeLessThanOrEqual(10)
  })

  it('finds criteria that the judge decides anew each time, and those it cannot decide', () => {
    const rng = new Rng('judge')
    const rows: VerdictRow[] = Array.from({ length: 30 }, (_, i) => ({
      group: '',
      judgements: [0, 1, 2].map(() => ({
        c0: Number(rng.next() < 0.5),
        c1: i % 2,
        c2: i < 10 ? null : i % 2,
      })) as unknown as VerdictRow['judgements'],
    }))
    expect(rulesOf(lintVerdicts(rubricOf(1, 1, 1, 1), rows))).toEqual([
      'judge-fails c2',
      'low-agreement c0',
      'no-verdicts c3',
    ])
    expect(lintVerdicts(rubricOf(1, 1, 1, 1), rows, { off: ['no-verdicts', 'judge-fails'] })).toHaveLength(1)
  })

  it('leaves verdicts on other criteria aside, and refuses those of another rubric', () => {
    const rules = (rows: VerdictRow[]) => lintVerdicts(rubricOf(1), rows).map(({ rule }) => rule)
    expect(rules(rowsOf([Array(40).fill(1), Array(40).fill(1)]))).toEqual(['saturated'])
    const others = [parseVerdictRow({ verdicts: { other: true } })]
    expect(() => rules(others)).toThrow(DataError)
    expect(() => rules(others)).toThrow('expected some on c0, got only others, such as other')
  })
})

describe('parseVerdictRow', () => {
  it('reads lists as gradus grade prints them, and maps', () => {
    const list = [
      { criterionId: 'a', met: true, source: 'llm', explanation: 'x' },
      { criterionId: 'b', met: null, source: 'llm' },
      { criterionId: 'c', met: null, level: 1, source: 'llm' },
      { criterionId: 'd', met: false, credit: 0.25, source: 'formal' },
    ]
    expect(parseVerdictRow({ id: 'x', score: 0.5, verdicts: list, outcome: true, group: 3 })).toEqual({
      id: 'x',
      group: '3',
      outcome: 1,
      judgements: [{ a: 1, b: null, c: 0.5, d: 0.25 }],
    })
    const map = parseVerdictRow({ verdicts: { a: true, b: null }, repeats: [{ a: false, b: 0.5 }] })
    expect(map.judgements).toEqual([
      { a: 1, b: null },
      { a: 0, b: 0.5 },
    ])
  })

  it('says what is wrong', () => {
    expect(() => parseVerdictRow({ verdicts: { a: 'yes' } }, 'v.jsonl:1')).toThrow('v.jsonl:1: verdicts')
    expect(() => parseVerdictRow({ verdicts: {}, outcome: 'good' })).toThrow('outcome')
  })

  it('joins runs over the same responses, and outcomes by id', () => {
    const row = (id: string, met: boolean) => parseVerdictRow({ id, verdicts: { a: met } })
    const joined = joinRuns([
      [row('x', true), row('y', true), row('y', false)],
      [row('y', false), row('x', false), row('y', true)],
    ])
    expect(joined.map(({ judgements }) => judgements)).toEqual([
      [{ a: 1 }, { a: 0 }],
      [{ a: 1 }, { a: 0 }],
      [{ a: 0 }, { a: 1 }],
    ])
    expect(() => joinRuns([[row('x', true)], [row('z', true)]])).toThrow(
      'expected a response of the first one',
    )
    const outcome = parseOutcome({ id: 7, outcome: false, group: 'p', response: '...' })
    expect(withOutcomes([row('7', true), row('8', true)], [outcome])).toEqual([
      { id: '7', group: 'p', outcome: 0, judgements: [{ a: 1 }] },
      { id: '8', group: '', judgements: [{ a: 1 }] },
    ])
    expect(() => withOutcomes([], [outcome, outcome])).toThrow('got 7 twice')
  })
})
