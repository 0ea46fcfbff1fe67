import { describe, expect, it } from 'vitest'
import type { LogicLabel } from '../../grade/logic/problem.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { encodeSteps } from '../../tasks/logic/format.ts'
import { generateLogicProblems } from '../../tasks/logic/generator.ts'
import { FakePolicy } from '../../train/fake-policy.ts'
import { evaluateSet } from './evaluate.ts'
import { miniatureFormat } from './format.ts'

const problems = generateLogicProblems(8, { hops: 2 }, 'evaluate')
const other: Record<LogicLabel, LogicLabel> = { True: 'False', False: 'True', Unknown: 'True' }

/** Even problems are proved; odd ones get the right proof with the wrong answer; second samples assert the last step at once. */
const respond = (prompt: number, index: number): number[] => {
  const { proof, label } = problems[prompt]
  const steps = index === 0 ? proof! : proof!.slice(-1)
  return encodeSteps(steps, prompt % 2 === 0 ? label : other[label])
}

const evaluate = async (samples: number, greedy = false) => {
  const policy = new FakePolicy(respond)
  const solver = await LogicSolver.start({ backend: 'ground' })
  const row = await evaluateSet({ policy, solver, format: miniatureFormat() }, 'test', 3, problems, {
    samples,
    greedy,
    sampling: { maxTokens: 64, temperature: 0.7, seed: 5 },
  })
  return { row, policy }
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
      accuracy: 0.5,
      validProofs: 1,
      correctAndValid: 0.5,
      correctAndProved: 0.25,
    })
    expect(row.greedyAccuracy).toBeUndefined()
    expect(row.items?.map(({ accuracy }) => accuracy)).toEqual([1, 0, 1, 0, 1, 0, 1, 0])
  })

  it('gives C4 and C5 as they really are: whole proofs use all that they need, a bare conclusion nothing', async () => {
    const { row: whole } = await evaluate(0)
    expect(whole.criteria).toMatchObject({ C1: 0.5, C2: 1, C3: 1, C4: 1, C5: 1 })
    const { row: both } = await evaluate(2)
    expect(both.criteria).toMatchObject({ C1: 0.5, C2: 1, C4: 0.5 })
    // One step alone costs a fifth of the format.
    expect(both.criteria?.C3).toBeCloseTo(0.9, 12)
  })

  it('puts intervals over problems, not over samples', async () => {
    const { row } = await evaluate(2)
    const [low, high] = row.accuracyInterval!
    // Eight problems, half of them right: the standard error is .177. Sixteen independent samples would give .125.
    expect(high - low).toBeGreaterThan(0.55)
    expect(low).toBeLessThan(0.5)
    expect(high).toBeGreaterThan(0.5)
  })

  it('decodes greedily beside the samples, or alone', async () => {
    const { row, policy } = await evaluate(2, true)
    expect(policy.sampled.map(({ temperature }) => temperature)).toEqual([0, 0.7])
    expect(row).toMatchObject({ accuracy: 0.5, greedyAccuracy: 0.5, greedyCorrectAndValid: 0.5 })
    const { row: alone, policy: asked } = await evaluate(0)
    expect(asked.sampled).toHaveLength(1)
    expect(alone).toMatchObject({ samples: 1, temperature: 0, correctAndProved: 0.5 })
  })

  it('counts by label, and sets shallow baselines beside', async () => {
    const { row } = await evaluate(1)
    const labels = Object.keys(row.byLabel!)
    expect(labels.toSorted()).toEqual([...new Set(problems.map(({ label }) => label))].toSorted())
    for (const label of labels) {
      const own = problems.flatMap((problem, p) => (problem.label === label ? [Number(p % 2 === 0)] : []))
      const share = own.reduce((a, b) => a + b, 0) / own.length
      expect(row.byLabel![label]).toEqual({ n: own.length, accuracy: share, correctAndValid: share })
    }
    expect(Object.keys(row.baselines!)).toContain('query negation')
  })
})
