import { describe, expect, it } from 'vitest'
import type { Rubric } from '../../rubric/criterion.ts'
import { scoredReward } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { ruscarlSchema } from '../ruscarl/config.ts'
import { asTrained, checkOptions, isSpoilt, optionLines } from './options.ts'
import { repetitionCharge } from './repetition.ts'

const RUBRIC: Rubric = {
  criteria: [
    { id: 'right', text: 'Is right.', points: 4 },
    { id: 'polite', text: 'Is polite.', points: 1 },
  ],
}
/** Every response is right and not polite: .8. */
const task = {
  ...{ train: [0], tests: {}, label: 'numbers', notes: [], id: String, question: String, show: String },
  ...{ rubric: () => RUBRIC, prompt: () => [0] },
  grade: async items =>
    items.map(() => ({
      verdicts: ['right', 'polite'].map(criterionId => ({
        ...{ criterionId, met: criterionId === 'right', source: 'rule' as const },
      })),
      wellFormed: true,
    })),
} satisfies Task<number>

const settings = { seed: 1, repetition: { n: 2, factor: 0.6 } }
const paid = async (config: Parameters<typeof asTrained>[0], ...tokens: number[]) => {
  const item = { problem: 0, tokens: Int32Array.from(tokens) }
  const [graded] = await asTrained(config, task).reward.grade([item])
  return { graded, ...scoredReward(graded) }
}

describe('a penalty for repetition', () => {
  it('takes the share of the runs that were there before from the reward, and leaves the score', async () => {
    // 1 2, 2 1, 1 2, 2 1: two of four were there before. .8 - .6 x .5
    const { graded, reward, parts } = await paid(settings, 1, 2, 1, 2, 1)
    expect(graded.score).toBeCloseTo(0.8, 12)
    expect(reward).toBeCloseTo(0.5, 12)
    expect(parts).toEqual({ right: 1, polite: 0, repetition: -0.3 })
    expect((await paid(settings, 1, 2, 3, 4, 5)).reward).toBeCloseTo(0.8, 12)
    expect((await paid(settings, 1)).reward).toBeCloseTo(0.8, 12)
    expect((await paid({ seed: 1 }, 1, 2, 1, 2, 1)).parts).toEqual({ right: 1, polite: 0 })
  })

  it('is in metrics and plan, and makes the truth worth watching', async () => {
    const { graded } = await paid(settings, 1, 2, 1, 2, 1)
    const groups = [
      [
        { problem: 0, grade: graded },
        { problem: 0, grade: { charges: { repetition: 0 } } },
      ],
    ]
    expect(repetitionCharge.metrics!(groups as never)).toEqual({ repetitionPenalty: -0.15 })
    expect(optionLines(settings)).toEqual([
      'repetition   up to 0.6 less for sequences of 2 tokens that occurred before',
    ])
    expect([isSpoilt(settings), isSpoilt({})]).toEqual([true, false])
  })

  it('is refused where it would be ignored', () => {
    const own = repetitionCharge.shape.repetition.parse({})
    expect(own).toEqual({ n: 4, factor: 1 })
    expect(() => checkOptions({ repetition: own, normalise: 'criterion' }, {})).toThrow(
      'repetition: expected nothing with normalise "criterion"',
    )
    const short = ruscarlSchema.parse({ repetition: own, rollout: { maxTokens: 4 } })
    expect(() => checkOptions(short, {})).toThrow('repetition.n: expected less than the 4 tokens')
  })
})
