import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RULE_TEXTS, WRAPPER_TEXTS } from '../../rubric/rule-names.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

let sandbox: Sandbox
beforeAll(() => {
  sandbox = new Sandbox()
})
afterAll(() => sandbox.remove())

const score = async (rows: readonly unknown[], ...args: string[]) => {
  const text = rows.map(row => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n')
  const file = sandbox.write('graded.jsonl', text)
  const { code, out, err } = await cli(['score', file, ...args])
  const lines = out
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  return { code, lines, scores: lines.map(line => line.score), err, file }
}

const flat = (points: number[], verdicts: unknown[]) => ({
  criteria: points.map(p => ({ points: p })),
  verdicts,
})
const example = flat([7, 5, 10, -6], [true, false, true, true])

describe('gradus score', () => {
  it.each([
    ['signed', 11 / 22],
    ['bounded', 17 / 28],
    ['mean', 2 / 4],
    ['weighted', 11],
    ['all-weights', 17 / 28],
    ['dr-tulu', 11 / 22],
    ['tree', 17 / 28],
    ['saturation(signed)', 1 - Math.exp(-3 * 0.5)],
  ])('scores by rule %s', async (rule, expected) => {
    const { code, scores } = await score([example], '--rule', rule)
    expect(code).toBe(0)
    expect(scores[0]).toBeCloseTo(expected, 12)
  })

  it('keeps parts, counts nulls, gives null where nothing can be divided by', async () => {
    const rows = [
      { id: 'a', ...flat([5, -2], [true, null]) },
      flat([-1], [true]),
      flat([3, 1], [null, false]),
    ]
    const { lines } = await score(rows, '--rule', 'signed')
    expect(lines).toEqual([
      { id: 'a', score: 1, parts: { c0: 1 }, nulls: { positive: 0, negative: 1 } },
      { score: null, parts: { c0: 1 }, nulls: { positive: 0, negative: 0 } },
      { score: 0, parts: { c1: 0 }, nulls: { positive: 1, negative: 0 } },
    ])
    expect((await score(rows, '--rule', 'signed', '--undefined', '0')).scores).toEqual([1, 0, 0])
    const asFalse = await score([flat([3, 1], [null, true])], '--rule', 'signed', '--nulls', 'as-false')
    expect(asFalse.scores).toEqual([0.25])
  })

  it('rolls a graded tree up', async () => {
    const leaf = (weight: number, grade: unknown) => ({ weight, sub_tasks: [], score: grade })
    const tree = (a: unknown, b: unknown) => ({
      id: 'root',
      requirements: 'the whole',
      sub_tasks: [leaf(2, 1), { weight: 1, score: 1, sub_tasks: [leaf(3, a), leaf(1, b)] }],
    })
    // (2 x 1 + 1 x (3 x 1 + 1 x 0) / 4) / 3; the inner node's own score is not read.
    const rows = [tree(1, 0), { tree: tree(true, false) }, tree(null, 0), tree(null, null)]
    expect((await score(rows, '--rule', 'tree')).scores).toEqual([2.75 / 3, 2.75 / 3, 2 / 3, 1])
    expect((await score(rows, '--rule', 'tree', '--nulls', 'as-false')).scores[3]).toBeCloseTo(2 / 3, 12)
    expect((await score(rows, '--rule', 'signed')).scores[0]).toBeCloseTo(2.75 / 3, 12)
    const failed = { sub_tasks: [leaf(1, 1), { ...leaf(1, 0), valid_score: false }] }
    expect((await score([failed], '--rule', 'tree')).scores).toEqual([1])
    const beside = {
      tree: {
        sub_tasks: [
          { id: 'a', weight: 1 },
          { id: 'b', weight: 3 },
        ],
      },
      verdicts: { b: true, a: false },
    }
    expect((await score([beside], '--rule', 'tree')).scores).toEqual([0.75])
    const strange = { ...beside, verdicts: { c: true } }
    expect((await score([strange], '--rule', 'tree')).err).toContain('verdicts.c: expected the id of a leaf')
  })

  it('takes a .json file as one row', async () => {
    const tree = {
      id: 'root',
      sub_tasks: [
        { weight: 1, score: 1 },
        { weight: 3, score: 0 },
      ],
    }
    const file = sandbox.write('tree.json', JSON.stringify(tree, null, 2))
    const { code, out } = await cli(['score', file, '--rule', 'tree'])
    expect({ code, row: JSON.parse(out) }).toMatchObject({ code: 0, row: { id: 'root', score: 0.25 } })
  })

  it('reads levels, credits and verdict objects', async () => {
    // The worked example of the stage score.
    const levels = flat([3, 1, -2], [2, 1, 1])
    expect((await score([levels], '--rule', 'levels')).scores).toEqual([0.75])
    expect((await score([flat([3, 1], [0.5, 1])], '--rule', 'signed')).scores).toEqual([2.5 / 4])
    const objects = flat(
      [3, 1],
      [
        { criterionId: 'c0', met: true, explanation: 'x' },
        { met: null, credit: 0.5 },
      ],
    )
    expect((await score([objects], '--rule', 'signed')).scores).toEqual([3.5 / 4])
  })

  it('has a veto', async () => {
    const row = { criteria: [{ points: 3, critical: true }, { points: 1 }], verdicts: [false, true] }
    const { lines } = await score([row], '--rule', 'veto(signed)')
    expect(lines).toEqual([
      { score: 0, parts: { c0: 0, c1: 1 }, nulls: { positive: 0, negative: 0 }, vetoedBy: ['c0'] },
    ])
  })

  it.each([
    ['a verdict as text', flat([1], ['true']), 'verdicts[0]: expected true, false, null'],
    ['points of zero', flat([0], [true]), 'criteria[0].points: expected a non-zero number, got 0'],
    ['a short list', flat([1, 2], [true]), 'verdicts: expected 2, one a criterion, got 1'],
    ['no verdicts', { criteria: [{ points: 1 }] }, 'verdicts: expected a list, got nothing'],
    ['a credit above 1', flat([1], [2]), 'verdicts[0]: expected a credit from 0 to 1, got 2'],
    [
      'neither criteria nor tree',
      { x: 1 },
      'expected criteria and verdicts, or a tree with sub_tasks, got an object with x',
    ],
    ['a list', [1], 'graded.jsonl:2: expected an object, got a list of 1'],
    ['no JSON', '{bad', 'JSON'],
    ['NaN', '{"criteria":[{"points":NaN}],"verdicts":[true]}', 'JSON'],
    [
      'a leaf without a grade',
      { sub_tasks: [{ weight: 1, id: 'l' }] },
      'sub_tasks[0]: expected a leaf with score',
    ],
    ['no weight', { sub_tasks: [{ score: 1 }] }, 'sub_tasks[0].weight: expected a number, got nothing'],
  ])('names file and line of a row with %s, and scores the others', async (_, row, message) => {
    const { code, lines, err, file } = await score([example, row, example], '--rule', 'signed')
    expect(code).toBe(1)
    expect(lines.map(({ score }) => score)).toEqual([0.5, null, 0.5])
    expect(lines[1].error).toContain(message)
    expect(err).toContain(`${file}:2: `)
    expect(err).toContain(message)
  })

  it('sums the file up on stderr', async () => {
    const rows = [example, flat([2, -8], [false, true]), flat([-1], [null])]
    const text = await score(rows, '--rule', 'signed', '--summary')
    expect(text.err).toContain('mean 0.0000')
    expect(text.err).toContain('over 2 rows, the mean clipped to [0, 1]; 1 undefined, 0 unusable')
    const { err } = await score(rows, '--rule', 'signed', '--summary', '--json')
    expect(JSON.parse(err)).toMatchObject({
      mean: 0,
      scored: 2,
      skipped: 1,
      failed: 0,
      nullRates: { positive: 0, negative: 1 / 3 },
    })
  })

  it('refuses rules that it does not know and lists those that it does', async () => {
    const unknown = await score([example], '--rule', 'signd')
    expect(unknown.code).toBe(2)
    expect(unknown.err).toContain('did you mean signed?')
    expect((await score([example])).code).toBe(2)
    expect((await cli(['score', sandbox.path('none.jsonl'), '--rule', 'mean'])).err).toContain(
      'cannot be read',
    )
    const { out } = await cli(['score', '--help'])
    for (const name of [...Object.keys(RULE_TEXTS), ...Object.keys(WRAPPER_TEXTS)])
      expect(out).toMatch(new RegExp(`^  ${name} `, 'm'))
  })
})

const healthbench = sharedData('healthbench/rows.jsonl')
describe.skipIf(healthbench === null)('on HealthBench (skipped where ../shared/data is absent)', () => {
  it('agrees with the formula on every row', async () => {
    const data = readJsonl<{ rubrics: { points: number }[] }>(healthbench!)
    const rows = data.map(({ rubrics }, r) =>
      flat(
        rubrics.map(({ points }) => points),
        rubrics.map((_, i) => (i * 7 + r) % 3 === 0),
      ),
    )
    const { scores } = await score(rows, '--rule', 'signed')
    expect(scores).toHaveLength(200)
    for (const [r, { rubrics }] of data.entries()) {
      let earned = 0
      let possible = 0
      for (const [i, { points }] of rubrics.entries()) {
        if ((i * 7 + r) % 3 === 0) earned += points
        if (points > 0) possible += points
      }
      expect(Math.abs(scores[r] - earned / possible)).toBeLessThan(1e-12)
    }
  })
})
