import { describe, expect, it } from 'vitest'
import type { Rubric } from '../../rubric/criterion.ts'
import { type HeldOutJudge, heldOutScores } from './held-out-judge.ts'
import { completeScore } from './spoilt-rewards.ts'

const [PROBLEMS, SAMPLES] = [16, 8]

/** The token of each sample says which one it is. */
const groups = Array.from({ length: PROBLEMS }, (_, problem) =>
  Array.from({ length: SAMPLES }, (_, g) => ({ problem, rollout: { tokens: Int32Array.of(g) } })),
)

const judgeAsked = (share: number, every = 1): HeldOutJudge<number> => ({
  task: {
    id: String,
    grade: async items =>
      items.map(({ problem, tokens }) => ({
        score: problem * 100 + tokens[0],
        verdicts: [],
        wellFormed: true,
      })),
  },
  rollouts: { share, every },
  testName: null,
})

const askedOf = async (share: number, step = 1, seed = 7) => {
  const { scores } = await heldOutScores(judgeAsked(share), groups, step, seed)
  return scores!.flatMap((score, i) =>
    score === null ? [] : [{ p: Math.floor(i / SAMPLES), g: i % SAMPLES, score }],
  )
}

const counts = (values: readonly number[], size: number) =>
  Array.from({ length: size }, (_, value) => values.filter(each => each === value).length)

describe('a held-out judge of rollouts', () => {
  it('is about all of them where that is asked for, each in its place', async () => {
    const asked = await askedOf(1)
    expect(asked).toHaveLength(PROBLEMS * SAMPLES)
    for (const { p, g, score } of asked) expect(score).toBe(p * 100 + g)
  })

  it('is about a share spread evenly over problems and places in the group, another one in every step', async () => {
    const quarter = await askedOf(0.25)
    for (const { p, g, score } of quarter) expect(score).toBe(p * 100 + g)
    expect(
      counts(
        quarter.map(({ p }) => p),
        PROBLEMS,
      ),
    ).toEqual(Array(PROBLEMS).fill(2))
    expect(
      counts(
        quarter.map(({ g }) => g),
        SAMPLES,
      ),
    ).toEqual(Array(SAMPLES).fill(4))
    expect(await askedOf(0.25)).toEqual(quarter)
    expect(await askedOf(0.25, 2)).not.toEqual(quarter)
    expect(await askedOf(0.25, 1, 8)).not.toEqual(quarter)
    expect(await askedOf(0.001)).toHaveLength(1)
    expect(await askedOf(0.1)).toHaveLength(13)
  })

  it('is asked for every so many steps, from the first on, or never', async () => {
    const asked = async (step: number) =>
      (await heldOutScores(judgeAsked(1, 5), groups, step, 7)).scores !== null
    expect(await Promise.all([1, 2, 5, 6, 7, 10, 11].map(asked))).toEqual([
      ...[true, false, false, true, false, false, true],
    ])
    expect((await heldOutScores({ ...judgeAsked(1), rollouts: null }, groups, 1, 7)).scores).toBeNull()
  })
})

describe('the score of a held-out judge', () => {
  const rubric: Rubric = {
    criteria: [
      { id: 'a', text: 'a', points: 3 },
      { id: 'b', text: 'b', points: -1 },
    ],
  }
  const verdicts = (a: boolean | null, b: boolean | null) => [
    { criterionId: 'a', met: a, source: 'llm' as const },
    { criterionId: 'b', met: b, source: 'llm' as const },
  ]

  it('needs every verdict: a judge that fails is not one that thinks less of the response', () => {
    expect(completeScore(rubric, verdicts(true, true))).toBeCloseTo(2 / 3, 12)
    expect(completeScore(rubric, verdicts(true, null))).toBeNull()
    expect(completeScore(rubric, verdicts(null, false))).toBeNull()
  })
})
