import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { Rng } from '../../util/rng.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { decidingHash } from '../common/deciding.ts'
import { rubricAsRewardSchema, sourcesSchema } from './config.ts'
import { rubricAsRewardPresets } from './entry.ts'
import { folioRows, proofWriterRows, writeRows } from './sources.fixture.ts'
import {
  checkApart,
  decideSources,
  describeLeftOut,
  describeSmallerTest,
  describeSources,
  mixedStream,
  type OpenSource,
  openSources,
  testCounts,
  testProblemsOf,
} from './sources.ts'

let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-sources-'))
  writeRows(at('folio.jsonl'), folioRows(6, false))
  writeRows(at('held.jsonl'), folioRows(4, true, 50))
  writeRows(at('pw.jsonl'), proofWriterRows(20))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open = (sources: unknown[], mayComeLater = false): OpenSource[] =>
  openSources(sourcesSchema.parse(sources), 'task.sources', { hops: 2 }, mayComeLater)

const tally = (names: readonly string[]) => {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

describe('a stream of several sources', () => {
  const sources = () =>
    open([
      { kind: 'folio', path: at('folio.jsonl'), weight: 2 },
      { kind: 'generated', name: 'prontoqa' },
      { kind: 'generated', name: 'longer', hops: 4, labels: 'three-way', weight: 0.5 },
    ])

  it('has them in proportion, in every stretch of it', () => {
    const problem = mixedStream(sources(), 1)
    const names = Array.from({ length: 70 }, (_, i) => problem(i).source)
    expect(tally(names)).toEqual({ folio: 40, prontoqa: 20, longer: 10 })
    for (let from = 0; from < 63; from++) {
      const { folio = 0, prontoqa = 0 } = tally(names.slice(from, from + 7))
      expect(folio).toBeGreaterThanOrEqual(3)
      expect(folio).toBeLessThanOrEqual(5)
      expect(prontoqa).toBeGreaterThanOrEqual(1)
    }
  })

  it('has each row of a file once a pass, in another order each time, and problem i alike at every call', () => {
    const problem = mixedStream(sources(), 1)
    const all = Array.from({ length: 70 }, (_, i) => problem(i))
    const rows = all.filter(({ source }) => source === 'folio').map(({ id }) => id)
    const [one, two] = [rows.slice(0, 12), rows.slice(12, 24)]
    expect(new Set(one).size).toBe(12)
    expect(new Set(two)).toEqual(new Set(one))
    expect(two).not.toEqual(one)
    const again = mixedStream(sources(), 1)
    expect([again(60).id, again(3).id]).toEqual([all[60].id, all[3].id])
    const other = mixedStream(sources(), 2)
    expect(Array.from({ length: 20 }, (_, i) => other(i).id)).not.toEqual(
      all.slice(0, 20).map(({ id }) => id),
    )
  })

  it('is not shuffled anew for each problem where two far places are looked at in turns', () => {
    const problem = mixedStream(open([{ kind: 'folio', path: at('folio.jsonl') }]), 1)
    const shuffle = vi.spyOn(Rng.prototype, 'shuffle')
    for (let i = 0; i < 12; i++) for (const place of [0, 1200]) problem(place + i)
    expect(shuffle).toHaveBeenCalledTimes(2)
    shuffle.mockRestore()
  })

  it("generates by the source's settings, and by the task's where it has none", () => {
    const problem = mixedStream(sources(), 1)
    const all = Array.from({ length: 70 }, (_, i) => problem(i))
    const hops = (name: string) => new Set(all.filter(({ source }) => source === name).map(own => own.hops))
    expect(hops('prontoqa')).toEqual(new Set([2]))
    expect(hops('longer')).toContain(4)
    expect(
      all.filter(({ source, label }) => source === 'longer' && label === 'Unknown').length,
    ).toBeGreaterThan(0)
  })
})

describe('a test set of several sources', () => {
  const sources = () =>
    open([
      { kind: 'folio', path: at('held.jsonl'), weight: 109 },
      { kind: 'proofwriter', path: at('pw.jsonl'), weight: 57 },
    ])

  it('is as large as the weights allow, and says when that is smaller than asked for', () => {
    expect(testCounts(sources(), 9)).toEqual([6, 3])
    expect(testCounts(sources(), 166)).toEqual([8, 4])
    expect(describeSmallerTest(sources(), 12)).toEqual([])
    expect(describeSmallerTest(sources(), 166)).toEqual([
      'test set: 12 of 166 problems (8 of folio, 4 of proofwriter), the most that the files hold at these weights',
    ])
  })

  it('is the same at every call, smaller ones within larger ones', () => {
    const ids = (most: number) => testProblemsOf(sources(), most).map(({ id }) => id)
    expect(ids(9)).toEqual(ids(9))
    expect(ids(12)).toEqual(expect.arrayContaining(ids(9)))
  })

  it('tells problems of one id apart', () => {
    const path = at('held.jsonl')
    const twice = open([
      { kind: 'folio', path, name: 'a' },
      { kind: 'folio', path, name: 'b' },
    ])
    const ids = testProblemsOf(twice, 16).map(({ id }) => id)
    expect(new Set(ids).size).toBe(16)
    expect(ids[0]).toMatch(/^a\/folio-/)
  })
})

describe('the files of sources', () => {
  it('have rows that cannot be read, which are named with the reason', () => {
    const [good] = proofWriterRows(1)
    const rows = [good, { ...good, id: 'odd', context: 'Alas! Wherefore art thou.' }]
    const [source] = open([{ kind: 'proofwriter', path: writeRows(at('odd.jsonl'), rows) }])
    expect(source.rows).toHaveLength(1)
    expect(source.leftOut).toEqual([
      { id: 'odd', reason: expect.stringContaining('context, sentence 1: expected') },
    ])
    expect(describeLeftOut(source, 'training')[0]).toMatch(
      /^training source proofwriter: 1 row left out: odd \(context/,
    )
    expect(describeSources('training', [source])[0]).toContain('odd.jsonl, 1 row, 1 left out')
  })

  it('still end the reading with rows of another shape', () => {
    const path = writeRows(at('shape.jsonl'), [...proofWriterRows(1), { id: 3 }])
    expect(() => open([{ kind: 'proofwriter', path }])).toThrow(/shape\.jsonl:3: id/)
  })

  it('may come later for a plan alone', () => {
    const later = [{ kind: 'folio', path: at('later.jsonl') }]
    const [source] = open(later, true)
    expect(describeSources('training', [source])[0]).toContain('not there yet')
    expect(() => open(later)).toThrow(/later\.jsonl: cannot be read/)
  })

  it('have parts that share no context', () => {
    const part = (name: string) => open([{ kind: 'proofwriter', path: at('pw.jsonl'), part: name }])[0].rows!
    const [train, test] = [part('train'), part('test')]
    expect(train.length + test.length).toBe(40)
    expect(test.length).toBeGreaterThan(0)
    const contexts = new Set(train.map(({ context }) => context))
    expect(test.filter(({ context }) => contexts.has(context))).toEqual([])
  })

  it('are refused for the test where training has the same sentences', () => {
    const source = (extra: object) => open([{ kind: 'proofwriter', path: at('pw.jsonl'), ...extra }])
    expect(() => checkApart(source({ part: 'train' }), source({ part: 'test' }))).not.toThrow()
    expect(() => checkApart(source({ part: 'train' }), source({ name: 'all' }))).toThrow(
      /evaluation\.sources: expected rows about other sentences than training has, got \d+ of 40 of "all"/,
    )
  })

  it('lose what the solver says cannot be judged', async () => {
    const [good, other] = folioRows(1, true)
    const clash = { ...good, example_id: 7, premises: ['A.', 'B.'], 'premises-FOL': ['P(a)', '¬P(a)'] }
    const wrong = { ...other, example_id: 8, label: 'True' }
    const path = writeRows(at('clash.jsonl'), [good, clash, wrong])
    const solver = await LogicSolver.start({ backend: 'ground' })
    const [source] = await decideSources(open([{ kind: 'folio', path }]), solver)
    await solver.close()
    expect(source.rows!.map(({ conclusionFol }) => conclusionFol !== null)).toEqual([true, false])
    expect(source.leftOut.map(({ id }) => id)).toEqual(['folio-7'])
    expect(source.doubted.map(({ id }) => id)).toEqual(['folio-8'])
  })

  const folio = { train: sharedData('folio/train.jsonl'), test: sharedData('folio/validation_fol_dev.jsonl') }
  const proofwriter = sharedData('proofwriter/dev.jsonl')
  it.skipIf(folio.train === null || folio.test === null || proofwriter === null)(
    'as published (skipped where they are not there): FOLIO trains on 994 rows without formulas of the conclusions and tests on 99 with',
    () => {
      const [train, test, rules] = open([
        { kind: 'folio', path: folio.train, name: 'train' },
        { kind: 'folio', path: folio.test },
        { kind: 'proofwriter', path: proofwriter },
      ])
      const counts = ({ rows, leftOut }: OpenSource) => [
        rows!.length,
        rows!.filter(({ conclusionFol }) => conclusionFol !== null).length,
        leftOut.length,
      ]
      expect([train, test, rules].map(counts)).toEqual([
        [994, 0, 10],
        [99, 99, 1],
        [600, 600, 0],
      ])
      expect(() => checkApart([train], [test])).not.toThrow()
    },
  )
})

describe('configurations without sources', () => {
  it('have the hashes that they had before there were sources', () => {
    const hash = (config: object) => decidingHash(rubricAsRewardSchema.parse(config))
    expect(hash({})).toBe('db282fd7df3fe478')
    expect(hash(rubricAsRewardPresets.quick.config)).toBe('d6fb1327f4914493')
    expect(hash({ task: { file: 'a.jsonl', format: 'folio', prompt: 'chat' } })).toBe('dd68a5704049fde5')
  })
})

describe('preset paper', () => {
  it("tests on FOLIO and ProntoQA in the paper's proportion, and trains on both", () => {
    const { task, evaluation } = rubricAsRewardSchema.parse(rubricAsRewardPresets.paper.config)
    const weights = (sources: typeof task.sources) => sources!.map(({ kind, weight }) => [kind, weight])
    expect(weights(evaluation.sources)).toEqual([
      ['folio', 109],
      ['prontoqa', 57],
    ])
    expect(evaluation.problems).toBe(109 + 57)
    expect(evaluation.sets).toEqual([])
    expect(weights(task.sources)).toEqual([
      ['folio', 109],
      ['generated', 57],
    ])
  })
})
