import { describe, expect, it } from 'vitest'
import type { Criterion } from '../../rubric/criterion.ts'
import { type ScoredTask, scored } from '../../tasks/scored-response.ts'
import { answering } from '../../train/answering-io.fixture.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { distillSchema } from './config.ts'
import { distill, silentTeacher } from './recipe.ts'

const criteria: Criterion[] = [1, 2].map(i => ({ id: `c${i}`, text: `says ${i}`, points: 1 }))

/** Prompt of problem n is n, with 100 and more for every criterion that is shown; a response meets what its tokens name. */
const numbers = (graded: string[] = []): ScoredTask<number> =>
  scored({
    ...{ label: 'numbers', train: [7, 8], tests: { unseen: [9] }, notes: [] },
    ...{ id: String, question: String, rubric: () => ({ criteria }) },
    show: tokens => Array.from(tokens).join(' '),
    prompt: (problem, hints = []) => [problem, ...hints.map(({ id }) => 100 + Number(id[1]))],
    grade: async items => {
      graded.push(...items.map(({ key = '' }) => key))
      return items.map(({ tokens }) => ({
        wellFormed: true,
        verdicts: criteria.map(({ id }) => ({
          ...{ criterionId: id, source: 'rule' as const },
          met: tokens.includes(Number(id[1])),
        })),
      }))
    },
  })

const setUp = (more: object, graded: string[] = []) => {
  const policy = new FakePolicy()
  const config = distillSchema.parse({ rollout: { prompts: 2, samples: 2, maxTokens: 4 }, ...more })
  const parts = { policy, problem: (i: number) => 7 + (i % 2), task: numbers(graded) }
  return { policy, recipe: distill(config, { ...parts, evaluate: async () => [] }) }
}

/** Log-probs of sampling are -1 a token, those of the teacher minus the token. */
const RESPONSES = [
  [[1, 3], [3]],
  [
    [2, 2],
    [4, 4, 4],
  ],
]

const stepOf = async (more: object, step: number, graded?: string[]) => {
  const { policy, recipe } = setUp(more, graded)
  const rolled = await recipe.rollOut(step, answering(RESPONSES, undefined, 'stop', step))
  return { policy, update: await recipe.learn(step, rolled) }
}

describe('a step of distillation', () => {
  it('has the frozen start read what was sampled behind the prompt that shows the rubric, and asks no grader', async () => {
    const graded: string[] = []
    const { policy, update } = await stepOf({ baseline: 'none' }, 1, graded)
    expect(graded).toEqual([])
    const [{ items, options }] = policy.scored
    expect(options?.weights).toBe('reference')
    expect(items.map(({ promptTokens, tokens }) => [promptTokens, [...tokens]])).toEqual([
      [
        [7, 101, 102],
        [1, 3],
      ],
      [[7, 101, 102], [3]],
      [
        [8, 101, 102],
        [2, 2],
      ],
      [
        [8, 101, 102],
        [4, 4, 4],
      ],
    ])
    const [{ datums }] = update.phases
    expect(datums.map(({ datum }) => [datum.promptTokens, [...datum.advantages]])).toEqual([
      [[7], [0, -2]],
      [[7], [-2]],
      [[8], [-1, -1]],
      [[8], [-3, -3, -3]],
    ])
    // Gaps 0, 2, 2, 1, 1, 3, 3, 3 over eight tokens; the teacher reads three prompt tokens with each of four responses.
    expect(update.metrics).toMatchObject({ teacherKl: 15 / 8, teacherChanges: 7 / 8, teacherTokens: 20 })
    expect(update.metrics.scaffoldTokens).toBe(2)
    const [row] = update.rollouts.map(({ row: of }) => of())
    expect(row).toMatchObject({ problemId: '7', prompt: '7', response: '1 3', reward: null })
  })

  it('asks the policy itself where that is the teacher', async () => {
    const { policy } = await stepOf({ teacher: 'policy' }, 1)
    expect(policy.scored[0].options?.weights).toBe('current')
  })

  it('is followed by GRPO on rewards by the rubric, for which nobody reads a prompt with it', async () => {
    const graded: string[] = []
    expect((await stepOf({ rewards: { after: 2 } }, 2, graded)).policy.scored).toHaveLength(1)
    expect(graded).toEqual([])
    const { policy, update } = await stepOf({ rewards: { after: 2 }, dropZero: true }, 3, graded)
    expect([policy.scored, graded.length]).toEqual([[], 4])
    // Scores .5 and 0, and .5 and 0: one standard deviation above and below the mean of each group.
    const first = update.phases[0].datums.map(({ datum }) => datum.advantages[0])
    expect(first.map(Math.round)).toEqual([1, -1, 1, -1])
    expect(update.metrics).toMatchObject({ reward: 0.25, zeroVarianceGroups: 0 })
  })
})

it('says when the rubric told the teacher nothing', () => {
  const steps = (share: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ step: i + 1, teacherChanges: share }))
  expect(silentTeacher(steps(0.001, 20))).toEqual([expect.stringContaining('nothing to learn')])
  expect(silentTeacher(steps(0.2, 20))).toEqual([])
  expect(silentTeacher(steps(0, 4))).toEqual([])
})
