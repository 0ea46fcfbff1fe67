import { describe, expect, it } from 'vitest'
import type { GroupScores } from '../../grade/group/index.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import { answering } from '../../train/answering-io.fixture.ts'
import { decidingHash } from '../common/deciding.ts'
import { type GroupAsked, type GroupScorer, openGroups } from '../options/group-judge.ts'
import { asTrained } from '../options/options.ts'
import { checkRuscarlSettings } from './check.ts'
import { ruscarlSchema } from './config.ts'
import { ruscarl } from './recipe.ts'

/** Eight merits of 1 to 8 points and a flaw; a response meets what its tokens name. */
const RUBRIC: Rubric = {
  criteria: [
    ...Array.from({ length: 8 }, (_, i) => ({ id: `c${i}`, text: `does ${i}`, points: i + 1 })),
    { id: 'c8', text: 'does 8', points: -6 },
  ],
}

const namingTask = () => {
  /** Ids of the criteria that each response was asked about. */
  const asked: string[][] = []
  const task: Task<number> = {
    ...{ train: [], tests: {}, label: 'numbers', notes: [] },
    id: problem => `problem ${problem}`,
    question: String,
    rubric: () => RUBRIC,
    prompt: (problem, shown = []) => [problem, ...shown.map(() => 99)],
    show: tokens => Array.from(tokens).join(' '),
    grade: async items =>
      items.map(({ tokens, criteria }) => {
        asked.push(criteria.map(({ id }) => id))
        const verdicts = criteria.map(({ id }) => ({
          criterionId: id,
          met: tokens.includes(Number(id.slice(1))),
          source: 'rule' as const,
        }))
        return { verdicts, wellFormed: true }
      }),
  }
  return { ...task, asked }
}

const RESPONSES = [[0, 1, 2], [3], [7, 8], [4, 5, 6, 7]]

const learnt = async (
  more: Record<string, unknown>,
  {
    step = 1,
    task = namingTask(),
    groups,
  }: { step?: number; task?: ReturnType<typeof namingTask>; groups?: GroupScorer<number> } = {},
) => {
  const config = ruscarlSchema.parse({
    rollout: { prompts: 2, samples: 4, maxTokens: 4 },
    scaffold: { group: { kind: 'none' } },
    dropZero: false,
    ...more,
  })
  const recipe = ruscarl(config, {
    policy: {} as Policy,
    problem: index => index % 2,
    task: asTrained(config, task, { groups: () => groups ?? null }).reward,
    evaluate: async () => [],
  })
  const rolled = await recipe.rollOut(step, answering([RESPONSES, RESPONSES], undefined, 'stop', step))
  const lesson = await recipe.learn(step, rolled)
  const rows = lesson.rollouts.map(({ row }) => row())
  return { ...lesson, rows, rewards: lesson.rollouts.map(({ reward }) => reward), task }
}
type Learnt = Awaited<ReturnType<typeof learnt>>

const leftOutIn = (row: Learnt['rows'][number]): string[] =>
  row.verdicts!.flatMap(({ criterionId, leftOut }) => (leftOut ? [criterionId] : []))

const CARELESS = { kind: 'packing', carelessJudge: true }
const DROPOUT = { rubricDropout: { rate: 0.5 } }

describe('rubric dropout in ruscarl', () => {
  it('scores all rollouts of a group by the same part of the rubric, and each prompt by its own', async () => {
    const { rows, rewards } = await learnt(DROPOUT)
    const left = rows.map(leftOutIn)
    for (const p of [0, 1]) {
      const own = left.slice(4 * p, 4 * p + 4)
      expect(new Set(own.map(ids => ids.join())).size).toBe(1)
      expect(own[0]).toHaveLength(4)
      expect(own[0]).not.toContain('c8')
      const kept = RUBRIC.criteria.filter(({ id }) => !own[0].includes(id))
      const worth = kept.reduce((sum, { points }) => sum + Math.max(0, points), 0)
      RESPONSES.forEach((tokens, g) => {
        const earned = kept.reduce(
          (sum, { id, points }) => sum + (tokens.includes(Number(id.slice(1))) ? points : 0),
          0,
        )
        expect(rewards[4 * p + g]).toBeCloseTo(earned / worth, 12)
      })
    }
    expect(left[0]).not.toEqual(left[4])
  })

  it('keeps every verdict in the rows, and logs what was left out and what the whole is worth', async () => {
    const { rows, metrics } = await learnt(DROPOUT)
    for (const { verdicts } of rows) expect(verdicts).toHaveLength(9)
    const plain = await learnt({})
    expect(metrics.rewardWhole).toBeCloseTo(plain.metrics.reward as number, 12)
    const left = metrics.leftOut as Record<string, number>
    expect(left.criteria).toBeCloseTo(8 / 18, 12)
    const points = [0, 4].flatMap(i => leftOutIn(rows[i]).map(id => Number(id.slice(1)) + 1))
    expect(left.points).toBeCloseTo(points.reduce((sum, own) => sum + own, 0) / 72, 12)
    // What criteria earn of the rewards is about those that count.
    for (const id of Object.keys(metrics.rewardShare as object))
      expect([0, 4].some(i => !leftOutIn(rows[i]).includes(id))).toBe(true)
  })

  it('says of points what groups of criteria leave of them, and of criteria what graders said', async () => {
    const { metrics } = await learnt({
      criterionGroups: [{ criteria: ['c0', 'c3'] }, { criteria: ['c7', 'c6'] }],
    })
    const { rewardShare, criteria } = metrics as Record<string, Record<string, number>>
    // No response meets both of the first group; one both of the second, and another c7 alone.
    expect([rewardShare.c0, rewardShare.c3]).toEqual([0, 0])
    expect(rewardShare.c7 / rewardShare.c6).toBeCloseTo(8 / 7, 12)
    expect([criteria.c0, criteria.c3, criteria.c7]).toEqual([0.25, 0.25, 0.5])
  })

  it('draws anew in every step, and the same again for the same step', async () => {
    const at = async (step: number, more = {}) =>
      leftOutIn((await learnt({ rubricDropout: { rate: 0.5, ...more } }, { step })).rows[0]).join()
    const steps = await Promise.all([1, 2, 3, 4].map(step => at(step)))
    expect(new Set(steps).size).toBeGreaterThan(2)
    expect(await at(3)).toBe(steps[2])
    const fixed = await Promise.all([1, 2, 3].map(step => at(step, { per: 'question' })))
    expect(new Set(fixed).size).toBe(1)
  })

  it('asks graders about what is kept alone where that is said, for the same rewards', async () => {
    const all = await learnt(DROPOUT)
    const kept = await learnt({ rubricDropout: { rate: 0.5, ask: 'kept' } })
    expect(kept.rewards).toEqual(all.rewards)
    expect(all.task.asked.map(({ length }) => length)).toEqual(Array(8).fill(9))
    expect(kept.task.asked.map(({ length }) => length)).toEqual(Array(8).fill(5))
    expect(kept.rows[0].verdicts).toHaveLength(5)
    expect(kept.metrics).not.toHaveProperty('rewardWhole')
    expect(kept.metrics.judgeNullRate).toBe(0)
  })

  it('changes nothing where it is absent: neither settings, nor their hash, nor rows', async () => {
    const config = ruscarlSchema.parse({})
    for (const key of ['rubricDropout', 'groupJudge', 'task.carelessJudge'])
      expect(config).not.toHaveProperty(key)
    expect(decidingHash(config)).not.toBe(decidingHash(ruscarlSchema.parse(DROPOUT)))
    const { metrics, rows } = await learnt({})
    expect(metrics).not.toHaveProperty('leftOut')
    expect(rows.flatMap(leftOutIn)).toEqual([])
  })

  it.each([
    ['rubricDropout', { ...DROPOUT, reward: 'random' }],
    ['rubricDropout', { rubricDropout: { rate: 0.05 } }],
    ['rubricDropout', { rubricDropout: { rate: 0.5, keepAtLeast: 8 } }],
    ['rubricDropout.protect', { rubricDropout: { rate: 0.5, protect: ['needed-9'] } }],
    ['noise', { task: CARELESS, noise: 'removed' }],
    ['task.carelessJudge', { task: CARELESS, reward: 'random' }],
    ['groupJudge', { groupJudge: { kind: 'scripted' }, flipRate: 0.1 }],
    ['rollout.samples', { groupJudge: { kind: 'scripted' }, rollout: { samples: 1 } }],
    [
      'groupJudge.kind',
      { groupJudge: { kind: 'chat', fleet: { endpoints: [{ url: 'http://127.0.0.1:9', model: 'm' }] } } },
    ],
  ])('is refused where it would be ignored: %s', (key, settings) => {
    expect(() => checkRuscarlSettings(ruscarlSchema.parse(settings))).toThrow(`${key}: expected`)
  })
})

describe('a judge of groups in ruscarl', () => {
  /** Scores by the number of tokens; what it was asked is kept. */
  const counting = (change: (scores: (number | null)[]) => (number | null)[] = own => own) => {
    const asked: (GroupAsked & { problem: number })[] = []
    const scorer: GroupScorer<number> = {
      alone: true,
      async score(problem, responses, request): Promise<GroupScores> {
        asked.push({ ...request, problem })
        const scores = change(responses.map(({ length }) => length / 10))
        const problemText = scores.includes(null) ? 'it says nothing' : null
        return { scores, explanations: scores.map(() => null), problem: problemText, shown: 4, cut: 0 }
      },
    }
    return { scorer, asked }
  }

  it('is asked once a prompt, and what it says is paid', async () => {
    const { scorer, asked } = counting()
    const { rewards, rows, metrics, task } = await learnt({}, { groups: scorer })
    expect(asked.map(({ problem, key }) => [problem, key])).toEqual([
      [0, '1/1/0'],
      [1, '1/1/1'],
    ])
    expect(rewards).toEqual([0.3, 0.1, 0.2, 0.4, 0.3, 0.1, 0.2, 0.4])
    expect(rows[0].verdicts![0]).toEqual({
      ...{ criterionId: 'relative to the group', met: false, credit: 0.3 },
      // By a script, not by a model.
      source: 'rule',
    })
    expect(metrics).toMatchObject({ reward: 0.25, groupNullRate: 0 })
    expect(metrics).not.toHaveProperty('rewardShare')
    // Nobody is asked criterion by criterion.
    expect(task.asked.flat()).toEqual([])
  })

  it('leaves a rollout without a score out, and never pays zero for it', async () => {
    const { scorer } = counting(scores => scores.map((score, i) => (i === 1 ? null : score)))
    const { rewards, rollouts, metrics, rows } = await learnt({}, { groups: scorer })
    expect(rewards[1]).toBeNull()
    expect([...rollouts[1].advantages]).toEqual([0])
    expect(metrics.groupNullRate).toBe(0.25)
    expect(rows[1].verdicts![0]).toMatchObject({ met: null, explanation: 'it says nothing' })
  })

  it('stops the run when it says nothing of a whole step, with its reason', async () => {
    const { scorer } = counting(scores => scores.map(() => null))
    await expect(learnt({}, { groups: scorer })).rejects.toThrow('it says nothing')
  })

  it('goes by the criteria that dropout keeps', async () => {
    const { scorer, asked } = counting()
    await learnt(DROPOUT, { groups: scorer })
    expect(asked.map(({ rubric }) => rubric.criteria.length)).toEqual([5, 5])
    expect(asked[0].rubric.criteria.map(({ id }) => id)).toContain('c8')
  })
})

describe('a judge of groups by script', () => {
  const settings = { kind: 'scripted' as const, sees: 'training' as const, noise: 0, placeBias: 0 }
  const graded = (scores: readonly (number | null)[]) => ({
    grade: async () => scores.map((score): ScoredResponse => ({ score, verdicts: [], wellFormed: true })),
  })
  const responses = [0, 1, 2, 3].map(() => new Int32Array())
  const asked = (key = 'k'): GroupAsked => ({ rubric: RUBRIC, key })
  const judgeOf = (more: object, scores: readonly (number | null)[]) =>
    openGroups<number>({ groupJudge: { ...settings, ...more }, seed: 1 }, graded([]), graded(scores))!
  const scoresOf = async (more: object, scores: readonly (number | null)[], key?: string) =>
    (await judgeOf(more, scores).score(0, responses, asked(key))).scores

  it('says how far each is from the mean of the group', async () => {
    expect(await scoresOf({}, [0.2, 0.4, 0.6, 0.8])).toEqual([
      expect.closeTo(0.35, 12),
      expect.closeTo(0.45, 12),
      expect.closeTo(0.55, 12),
      expect.closeTo(0.65, 12),
    ])
    expect(await scoresOf({}, [1, 1, 1, 1])).toEqual([0.5, 0.5, 0.5, 0.5])
    expect(await scoresOf({}, [-5, 0, 0, 5])).toEqual([0, 0.5, 0.5, 1])
  })

  it('does not know what its grader does not know', async () => {
    expect(await scoresOf({}, [0.2, null, 0.4, null])).toEqual([
      expect.closeTo(0.45, 12),
      null,
      expect.closeTo(0.55, 12),
      null,
    ])
  })

  it('errs by its key alone, and by places where it likes them', async () => {
    const noisy = { noise: 0.2 }
    const first = await scoresOf(noisy, [0, 0, 0, 0])
    expect(new Set(first).size).toBe(4)
    expect(await scoresOf(noisy, [0, 0, 0, 0])).toEqual(first)
    expect(await scoresOf(noisy, [0, 0, 0, 0], 'other')).not.toEqual(first)
    const biased = (await scoresOf({ placeBias: 0.3 }, [0, 0, 0, 0])) as number[]
    expect([...biased].sort((a, b) => a - b)).toEqual([0.35, 0.45, 0.55, 0.65].map(v => expect.closeTo(v, 9)))
  })
})
