import { describe, expect, it, vi } from 'vitest'
import type { LogicLabel } from '../../grade/logic/problem.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { describeScore } from '../../runs/scores.ts'
import { encodeSteps } from '../../tasks/logic/format.ts'
import { generateLogicProblems } from '../../tasks/logic/generator.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import { logicTask } from '../../tasks/logic/task.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { evaluateSet } from './evaluate.ts'

const problems = generateLogicProblems(8, { hops: 2 }, 'evaluate')
const other: Record<LogicLabel, LogicLabel> = { True: 'False', False: 'True', Unknown: 'True' }

/** Even problems are proved; odd ones get the right proof with the wrong answer; second samples assert the last step at once. */
const respond = (prompt: number, index: number): number[] => {
  const { proof, label } = problems[prompt]
  const steps = index === 0 ? proof! : proof!.slice(-1)
  return encodeSteps(steps, prompt % 2 === 0 ? label : other[label])
}

/** A policy that answers so, and what judges it. */
const partsOf = (solver: LogicSolver) => ({
  policy: new FakePolicy(respond),
  task: logicTask(miniatureFormat(), solver, { truth: 'only' }),
})

const valuesOf = ({ scores }: EvalRow) =>
  Object.fromEntries(Object.entries(scores).map(([name, { value }]) => [name, value]))

const evaluate = async (samples: number, greedy = false) => {
  const parts = partsOf(await LogicSolver.start({ backend: 'ground' }))
  const row = await evaluateSet(parts, 'test', 3, problems, {
    samples,
    greedy,
    sampling: { maxTokens: 64, temperature: 0.7, seed: 5 },
  })
  return { row, policy: parts.policy }
}

describe('evaluateSet', () => {
  it('tells answers, valid proofs, both together, and proofs without a leap', async () => {
    const { row, policy } = await evaluate(2)
    expect(policy.sampled).toHaveLength(1)
    expect(policy.sampled[0]).toMatchObject({ samplesPerPrompt: 2, temperature: 0.7, seed: 5 })
    expect(row).toMatchObject({
      step: 3,
      set: 'test',
      n: 8,
      samples: 2,
      temperature: 0.7,
      primary: 'correctAndProved',
    })
    expect(valuesOf(row)).toEqual({
      correctAndProved: 0.25,
      accuracy: 0.5,
      correctAndValid: 0.5,
      validProofs: 1,
    })
    const column = (name: string) => row.items?.map(({ scores }) => scores[name])
    expect(column('accuracy')).toEqual([1, 0, 1, 0, 1, 0, 1, 0])
    const [first] = row.items!
    expect(first.sample).toMatchObject({
      prompt: miniatureFormat().show(problems[0]),
      gold: problems[0].label,
      answer: problems[0].label,
      ...{ correct: true, proved: true, reward: null },
    })
    expect(first.sample?.steps?.every(({ status }) => status === 'entailed')).toBe(true)
    expect(row.items![1].sample).toMatchObject({ correct: false })
    // The second sample of each problem leaps to its end.
    expect(column('correctAndProved')).toEqual([0.5, 0, 0.5, 0, 0.5, 0, 0.5, 0])
    expect(describeScore(row.primary, [row])).toBe('correct and proved')
  })

  it('gives C4 and C5 as they really are: whole proofs use all that they need, a bare conclusion nothing', async () => {
    const { row: whole } = await evaluate(0)
    expect(whole.criteria).toMatchObject({ C1: 0.5, C2: 1, C3: 1, C4: 1, C5: 1 })
    const { row: both } = await evaluate(2)
    expect(both.criteria).toMatchObject({ C1: 0.5, C2: 1, C4: 0.5 })
    // One step alone costs a fifth of the format.
    expect(both.criteria?.C3).toBeCloseTo(0.9, 12)
  })

  it('gives the metrics of each source, and of each label within it, where there are several', async () => {
    const own = problems.map((problem, i) => ({ ...problem, source: i < 2 ? 'small' : 'large' }))
    const solver = await LogicSolver.start({ backend: 'ground' })
    const parts = partsOf(solver)
    const settings = { samples: 1, greedy: false, sampling: { maxTokens: 64, temperature: 1, seed: 5 } }
    const { bySource } = await evaluateSet(parts, 'mixed', 0, own, settings)
    expect(Object.keys(bySource!)).toEqual(['small', 'large'])
    expect(bySource!.small).toMatchObject({
      n: 2,
      scores: { accuracy: { value: 0.5 } },
      criteria: { C1: 0.5, C2: 1 },
    })
    expect(bySource!.large.n).toBe(6)
    const labels = Object.entries(bySource!.large.byLabel!)
    expect(labels.reduce((sum, [, { n }]) => sum + n, 0)).toBe(6)
    const { row } = await evaluate(1)
    expect(row.bySource).toBeUndefined()
  })

  it('leaves out of proofs what has no formula of its conclusion, and is then headed by the answers', async () => {
    const bare = problems.map((problem, i) => (i < 6 ? { ...problem, conclusionFol: null } : problem))
    const solver = await LogicSolver.start({ backend: 'ground' })
    const parts = partsOf(solver)
    const settings = { samples: 1, greedy: false, sampling: { maxTokens: 64, temperature: 1, seed: 5 } }
    const row = await evaluateSet(parts, 'some', 0, bare, settings)
    expect(valuesOf(row)).toEqual({
      correctAndProved: 0.5,
      accuracy: 0.5,
      correctAndValid: 0.5,
      validProofs: 1,
    })
    expect(row.items![0]).toMatchObject({
      scores: { correctAndProved: null, accuracy: 1 },
      criteria: { C2: 1, C4: null, C5: null },
    })
    const none = await evaluateSet(parts, 'none', 0, bare.slice(0, 6), settings)
    expect(none).toMatchObject({ primary: 'accuracy', criteria: { C4: null, C5: null } })
    expect(Object.keys(none.scores)).toEqual(['accuracy'])
  })

  it('puts intervals over problems, not over samples', async () => {
    const { row } = await evaluate(2)
    const [low, high] = row.scores.accuracy.interval!
    // Eight problems, half of them right: the standard error is .177. Sixteen independent samples would give .125.
    expect(high - low).toBeGreaterThan(0.55)
    expect(row.scores.correctAndProved.interval).toEqual([low / 2, high / 2])
    expect(low).toBeLessThan(0.5)
    expect(high).toBeGreaterThan(0.5)
  })

  it('decodes greedily beside the samples, or alone', async () => {
    const { row, policy } = await evaluate(2, true)
    expect(policy.sampled.map(({ temperature }) => temperature)).toEqual([0, 0.7])
    expect(valuesOf(row)).toMatchObject({
      accuracy: 0.5,
      correctAndProved: 0.25,
      'greedy.accuracy': 0.5,
      'greedy.correctAndProved': 0.5,
    })
    expect(row.items![0].scores).toMatchObject({ correctAndProved: 0.5, 'greedy.correctAndProved': 1 })
    const { row: alone, policy: asked } = await evaluate(0)
    expect(asked.sampled).toHaveLength(1)
    expect(alone).toMatchObject({ samples: 1, temperature: 0 })
    expect(valuesOf(alone)).toEqual({
      correctAndProved: 0.5,
      accuracy: 0.5,
      correctAndValid: 0.5,
      validProofs: 1,
    })
  })

  it('keeps each criterion by problem, with intervals over problems', async () => {
    const { row } = await evaluate(2)
    expect(row.items?.map(({ criteria }) => criteria?.C1)).toEqual([1, 0, 1, 0, 1, 0, 1, 0])
    expect(row.items?.every(({ criteria }) => criteria?.C4 === 0.5)).toBe(true)
    const { C1, C2 } = row.criteriaIntervals!
    expect(C1).toEqual(row.scores.accuracy.interval)
    expect(C2).toEqual([1, 1])
  })

  it('tells which labels the answers favour', async () => {
    const { row } = await evaluate(1)
    const golds = problems.map(({ label }) => label)
    const said = golds.map((gold, p) => (p % 2 === 0 ? gold : other[gold]))
    const count = (labels: string[], label: string) => labels.filter(l => l === label).length
    const { predicted, trueBias, macroRecall, minClassRecall } = row.balance!
    for (const label of ['True', 'False', 'Unknown']) expect(predicted[label]).toBe(count(said, label) / 8)
    expect(trueBias).toBe((count(said, 'True') - count(golds, 'True')) / 8)
    const recalls = Object.values(row.byLabel!).map(({ scores }) => scores.accuracy!)
    expect(macroRecall).toBeCloseTo(recalls.reduce((a, b) => a + b, 0) / recalls.length, 12)
    expect(minClassRecall).toBe(Math.min(...recalls))
  })

  it('leaves out problems that contradict themselves, and says so when none is left', async () => {
    const faulty = problems.map(problem => ({
      ...problem,
      premisesFol: [...problem.premisesFol, { kind: 'false' } as const],
    }))
    const settings = { samples: 1, greedy: false, sampling: { maxTokens: 64 } }
    const solver = await LogicSolver.start({ backend: 'ground' })
    const parts = partsOf(solver)
    const one = await evaluateSet(parts, 'mixed', 0, [problems[0], ...faulty.slice(1)], settings)
    expect(one).toMatchObject({ n: 1, scores: { accuracy: { value: 1 } } })
    await expect(evaluateSet(parts, 'broken', 0, faulty, settings)).rejects.toThrow(
      /broken: nothing is left to evaluate: every one of 8 problems was left out/,
    )
  })

  it.each([1, 2])(
    'counts problems by label, and sets shallow baselines beside (%i samples)',
    async samples => {
      const { row } = await evaluate(samples)
      const labels = Object.keys(row.byLabel!)
      expect(labels.toSorted()).toEqual([...new Set(problems.map(({ label }) => label))].toSorted())
      for (const label of labels) {
        const own = problems.flatMap((problem, p) => (problem.label === label ? [Number(p % 2 === 0)] : []))
        const share = own.reduce((a, b) => a + b, 0) / own.length
        const { n, scores } = row.byLabel![label]
        expect(n).toBe(own.length)
        expect(scores).toMatchObject({ correctAndProved: share / samples, accuracy: share })
      }
      expect(Object.keys(row.baselines!)).toContain('query negation')
    },
  )

  describe('a solver that fails on one response', () => {
    /** A solver whose `call`-th batch of questions says nothing about the premises of the first problem. */
    const failingAt = async (call: number) => {
      const solver = await LogicSolver.start({ backend: 'ground' })
      const ask = solver.checkSteps.bind(solver)
      let calls = 0
      vi.spyOn(solver, 'checkSteps').mockImplementation(async items => {
        const statuses = await ask(items)
        if (++calls === call) statuses[0] = 'failed'
        return statuses
      })
      return solver
    }
    const settings = { samples: 1, greedy: true, sampling: { maxTokens: 64 } }
    it('decoded greedily, leaves out that score alone', async () => {
      const row = await evaluateSet(partsOf(await failingAt(1)), 'test', 0, problems, settings)
      expect(row.n).toBe(8)
      expect(valuesOf(row)).toMatchObject({
        accuracy: 0.5,
        'greedy.accuracy': 3 / 7,
        'greedy.correctAndProved': 3 / 7,
      })
      const [first, second] = row.items!
      expect(first.scores.accuracy).toBe(1)
      expect(first.scores).not.toHaveProperty(['greedy.accuracy'])
      expect(second.scores).toMatchObject({ 'greedy.accuracy': 0, 'greedy.correctAndProved': 0 })
    })

    it('decoded greedily of the only problem, leaves out the greedy scores', async () => {
      const row = await evaluateSet(partsOf(await failingAt(1)), 'test', 0, problems.slice(0, 1), settings)
      expect(row).toMatchObject({ n: 1, scores: { accuracy: { value: 1 } } })
      expect(Object.keys(row.scores).filter(name => name.startsWith('greedy'))).toEqual([])
    })

    it('sampled, leaves the problem out of every mean and the baselines', async () => {
      const row = await evaluateSet(partsOf(await failingAt(2)), 'test', 0, problems, settings)
      expect(row.n).toBe(7)
      expect(valuesOf(row)).toMatchObject({ accuracy: 3 / 7, 'greedy.accuracy': 3 / 7 })
      expect(row.baselines!['query negation'].n).toBe(7)
    })
  })
})
