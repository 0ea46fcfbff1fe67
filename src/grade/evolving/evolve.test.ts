import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JudgeError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { EvolvingBuffers, NO_RUBRICS } from './buffers.ts'
import { type GroupToJudge, judgeGroup, rubricRow } from './evolve.ts'
import { draft, rollout, rubric } from './evolving.fixture.ts'
import { assertScored, evolvingMetrics } from './metrics.ts'
import type { Level, LevelsById, Stage, StagedRollout, StageJudge, StageRubric } from './rubrics.ts'
import { scriptedStageJudge } from './scripted-judge.ts'
import { DEFAULT_EVOLVING, evolvingSchema } from './settings.ts'

const EXACT = evolvingSchema.parse({
  refuse: { similarity: null, tagChecks: false, otherStages: false, orders: false },
})

/** Levels by rubric title and rollout key; 1 where nothing is said. */
const judgeOf = (
  levels: Record<string, Record<string, Level | null>>,
  propose: () => ReturnType<typeof draft>[] | null = () => [],
) =>
  scriptedStageJudge<string>({
    seed: 1,
    propose,
    level: ({ rollout: { key }, rubric: { title } }) =>
      levels[title]?.[key] ?? (key in (levels[title] ?? {}) ? null : 1),
  })

const group = (changes: Partial<GroupToJudge<string>> = {}): GroupToJudge<string> => ({
  step: 5,
  question: 'Which city is larger?',
  key: 'q',
  rollouts: [rollout('x'), rollout('y')],
  ...changes,
})

describe('one turn with a question', () => {
  it('proposes, scores on everything, and drops afterwards', async () => {
    const judge = judgeOf(
      { given: { x: 2, y: 0 }, old: { x: 1, y: 1 }, fresh: { x: 2, y: 0 }, dull: { x: 0, y: 2 } },
      () => [draft(1, 'fresh', { weight: 3 }), draft(1, 'dull')],
    )
    const given = { ...rubric('given.g', 4, { since: null, title: 'given' }) }
    const before = { active: [rubric('1.1.1', 1, { title: 'old' })], inactive: [] }
    const caps: [number, number, number, number] = [1, 2, 2, 3]
    const judged = await judgeGroup(judge, group({ persistent: [given], before }), { ...EXACT, caps })
    // Stage 1: old 1/2 (w 1), fresh 1 (w 3), dull 0 (w 1): 3.5 / 5; of y .5 + 0 + 1: 1.5 / 5.
    expect(judged.rollouts.map(({ rewards_K }) => rewards_K)).toEqual([
      [0.7, 0, 0, 1],
      [0.3, 0, 0, 0],
    ])
    // `old` tells nothing apart; of two that tell as much the older one goes.
    expect(judged.rubrics.map(({ title }, i) => [title, judged.fates[i]])).toEqual([
      ['given', 'kept'],
      ['old', 'inactive'],
      ['fresh', 'pruned'],
      ['dull', 'kept'],
    ])
    expect(judged.after.active.map(({ id, since }) => [id, since])).toEqual([['5.1.2', 5]])
    expect(judged.after.inactive.map(({ id }) => id)).toEqual(['1.1.1'])
    expect(judged.levels).toEqual({ positive: { asked: 8, nulls: 0 }, negative: { asked: 0, nulls: 0 } })
  })

  it('never removes what was given, though it tells nothing apart and the cap is 0', async () => {
    const given = rubric('given.g', 4, { since: null, title: 'given' })
    const caps: [number, number, number, number] = [0, 0, 0, 0]
    const judge = judgeOf({}, () => [draft(4, 'fresh')])
    const judged = await judgeGroup(judge, group({ persistent: [given] }), { ...EXACT, caps })
    expect(judged.fates).toEqual(['kept', 'inactive'])
    expect(judged.after.active).toEqual([])
    expect(judged.rollouts[0].rewards_K).toEqual([0, 0, 0, 0.5])
  })

  it('asks once for rubrics and once a rollout for levels, and of stages that the rollout has', async () => {
    const asked: string[] = []
    const judge: StageJudge<string> = {
      async propose({ rollouts, existing }) {
        asked.push(`propose ${rollouts.length} ${existing.length}`)
        return { drafts: [draft(3, 'fresh')] }
      },
      async score({ rollout: { key }, rubrics }) {
        asked.push(`${key}: ${rubrics.map(({ title }) => title).join()}`)
        return { scores: Object.fromEntries(rubrics.map(({ id }) => [id, { level: 2 as const }])) }
      },
    }
    const before = { active: [rubric('1.1.1', 1, { title: 'old' })], inactive: [] }
    const rollouts = [rollout('x'), rollout('y', ['p', 'r', '', 'a']), rollout('z', ['', 'r', '', 'a'])]
    const judged = await judgeGroup(judge, group({ before, rollouts }), EXACT)
    expect(asked).toEqual(['propose 3 1', 'x: old,fresh', 'y: old'])
    expect(judged.rollouts.map(({ rewards_K }) => rewards_K)).toEqual([
      [1, 0, 1, 0],
      [1, 0, 0, 0],
      [0, 0, 0, 0],
    ])
  })

  it('remembers the latest of what was set aside', async () => {
    const inactive = ['a', 'b', 'c'].map(id => rubric(id, 1))
    const before = { active: [rubric('d', 1)], inactive }
    const judged = await judgeGroup(judgeOf({}), group({ before }), { ...EXACT, maxInactive: 2 })
    expect(judged.after.inactive.map(({ id }) => id)).toEqual(['c', 'd'])
  })

  it('proposes nothing where it shall not, or where there are no rollouts', async () => {
    const judge = judgeOf({}, () => {
      throw new Error('asked')
    })
    expect((await judgeGroup(judge, group(), { ...EXACT, generate: false })).rubrics).toEqual([])
    const empty = await judgeGroup(judge, group({ rollouts: [] }), EXACT)
    expect(empty).toMatchObject({ rollouts: [], generationFailure: null })
  })
})

describe('what fails', () => {
  const given = rubric('given.g', 4, { since: null, title: 'given' })
  const before = { active: [rubric('1.1.1', 1, { title: 'old' })], inactive: [] }

  /** Fails at scorings as told by the number of rubrics asked about. */
  const failing = (fails: (asked: number, key: string) => boolean): StageJudge<string> => ({
    propose: async () => ({ drafts: null, problem: 'no list' }),
    score: async ({ rubrics, rollout: { key } }) =>
      fails(rubrics.length, key)
        ? { scores: null, problem: 'not JSON' }
        : { scores: Object.fromEntries(rubrics.map(({ id }) => [id, { level: 2 as const }])) },
  })

  it('proposing: there are no new rubrics, and the old ones stay', async () => {
    const judged = await judgeGroup(
      failing(() => false),
      group({ before }),
      { ...EXACT, dropZeroVariance: false },
    )
    expect(judged.generationFailure).toBe('no list')
    expect(judged.after.active).toEqual(before.active)
  })

  it('proposing, where there is nothing else to score by: nothing is known, and that is no zero', async () => {
    const judged = await judgeGroup(
      failing(() => false),
      group(),
      EXACT,
    )
    for (const { rewards_K, failure } of judged.rollouts) {
      expect(rewards_K).toEqual([null, null, null, null])
      expect(failure).toBe('no list')
    }
    expect(evolvingMetrics([judged])).toMatchObject({ failedScorings: 1, failedGenerations: 1 })
    expect(Object.values(evolvingMetrics([judged]).stageScores as object)).toEqual([null, null, null, null])
    // A step of nothing else stops: going on would train on nothing.
    expect(() => assertScored([judged])).toThrow(/none for any of them \(no list\)/)
  })

  it('scoring: the answer is asked about alone, and nothing else of the rollout is known', async () => {
    const judge = failing((asked, key) => asked === 2 && key === 'x')
    const judged = await judgeGroup(judge, group({ before, persistent: [given] }), EXACT)
    expect(judged.rollouts[0]).toMatchObject({ rewards_K: [null, null, null, 1], failure: 'not JSON' })
    expect(judged.rollouts[1]).toMatchObject({ rewards_K: [1, 0, 0, 1], failure: null })
    // A single level is known of `old`: no reason to drop it.
    expect(judged.fates).toEqual(['kept', 'kept'])
    expect(judged.levels.positive).toEqual({ asked: 4, nulls: 1 })
  })

  it('scoring, the answer too: nothing is known', async () => {
    const judged = await judgeGroup(
      failing(() => true),
      group({ before, persistent: [given] }),
      EXACT,
    )
    for (const { rewards_K, failure, scores } of judged.rollouts) {
      expect(rewards_K).toEqual([null, null, null, null])
      expect(failure).toBe('not JSON')
      expect(scores).toEqual({})
    }
    expect(judged.after.active).toEqual(before.active)
    expect(() => assertScored([judged])).toThrow(/levels on 2 rollouts, got none .*not JSON/)
    const fine = await judgeGroup(
      failing(() => false),
      group({ before }),
      EXACT,
    )
    expect(() => assertScored([judged, fine])).not.toThrow()
    expect(() => assertScored([])).not.toThrow()
  })

  it('scoring where there is nothing to say of the answer: its reward is the constant that it is for all', async () => {
    const judged = await judgeGroup(
      failing(() => true),
      group({ before }),
      EXACT,
    )
    expect(judged.rollouts[0].rewards_K).toEqual([null, null, null, 0])
  })

  it('a judge that throws for one question, not for all', async () => {
    const throwing = (error: Error): StageJudge<string> => ({
      propose: async () => Promise.reject(error),
      score: async () => Promise.reject(error),
    })
    const passing = await judgeGroup(
      throwing(new JudgeError('timeout', 'too slow')),
      group({ before }),
      EXACT,
    )
    expect(passing).toMatchObject({ generationFailure: 'too slow' })
    expect(passing.rollouts[0].failure).toBe('too slow')
    for (const error of [
      new JudgeError('auth', 'no key'),
      new JudgeError('cancelled', 'stop'),
      new TypeError('bug'),
    ])
      await expect(judgeGroup(throwing(error), group(), EXACT)).rejects.toBe(error)
  })

  it.each<[string, unknown]>([
    ['text', '2'],
    ['level 3', 3],
    ['a half', 0.5],
    ['NaN', Number.NaN],
    ['nothing', undefined],
    ['an object', {}],
  ])('a level that is %s is not known', async (_, level) => {
    const judge: StageJudge<string> = {
      propose: async () => ({ drafts: [] }),
      score: async ({ rubrics }) => ({
        scores: Object.fromEntries([
          ...rubrics.map(({ id }, i) => [id, i === 0 ? { level } : { level: 2, justification: 'seen' }]),
          ['stranger', { level: 0 }],
        ]) as LevelsById,
      }),
    }
    const two = { active: [rubric('a', 1, { weight: 3 }), rubric('b', 1)], inactive: [] }
    const judged = await judgeGroup(judge, group({ before: two }), EXACT)
    expect(judged.rollouts[0].scores).toEqual({ a: { level: null }, b: { level: 2, justification: 'seen' } })
    expect(judged.rollouts[0].rewards_K[0]).toBe(1)
  })

  it('an aborted signal stops it', async () => {
    const signal = AbortSignal.abort(new Error('stop'))
    await expect(judgeGroup(judgeOf({}), group({ signal }), EXACT)).rejects.toThrow('stop')
  })
})

describe('what is told of a judgement', () => {
  const judgement = () =>
    judgeGroup(
      judgeOf({ fresh: { x: 2, y: 0 }, flaw: { x: 1, y: null } }, () => [
        draft(1, 'fresh', { weight: 3 }),
        draft(2, 'flaw', { sign: 'negative' }),
        draft(1, 'Fresh'),
      ]),
      group({ before: { active: [rubric('1.3.1', 3, { title: 'old' })], inactive: [] } }),
      EXACT,
    )

  it('is a row of every rubric with its variance and fate, and of what was refused', async () => {
    const judged = await judgement()
    expect(rubricRow(judged)).toEqual({
      step: 5,
      question: 'q',
      rollouts: 2,
      failedScorings: 0,
      rubrics: [
        {
          ...{ id: '1.3.1', stage: 3, sign: 'positive', title: 'old', weight: 1, since: 1 },
          ...{ fate: 'inactive', scored: 2, score: 0.5, variance: 0 },
        },
        {
          ...{
            id: '5.1.1',
            stage: 1,
            sign: 'positive',
            title: 'fresh',
            description: 'Names fresh',
            weight: 3,
          },
          ...{ since: 5, born: true, fate: 'kept', scored: 2, score: 0.5, variance: 0.25 },
        },
        {
          ...{ id: '5.2.1', stage: 2, sign: 'negative', title: 'flaw', description: 'Names flaw', weight: 1 },
          ...{ since: 5, born: true, fate: 'kept', scored: 1, score: 0.5, variance: null },
        },
      ],
      refused: [
        {
          stage: 1,
          title: 'Fresh',
          description: 'Names Fresh',
          rule: 'duplicate',
          reason: 'repeats 5.1.1 (fresh)',
        },
      ],
    })
  })

  it('may leave out what was there and stays', async () => {
    const again = await judgeGroup(
      judgeOf({ old: { x: 2, y: 0 } }),
      group({ step: 6, before: { active: [rubric('1.3.1', 3, { title: 'old' })], inactive: [] } }),
      EXACT,
    )
    expect(rubricRow(again, 'changes').rubrics).toEqual([])
    expect(rubricRow(again).rubrics).toHaveLength(1)
  })

  it('is values of a step', async () => {
    expect(evolvingMetrics([await judgement()])).toEqual({
      stageScores: { plan: 0.5, research: 0.5, review: 0.5, answer: 0 },
      skippedStages: { plan: 0, research: 0, review: 0, answer: 0 },
      rubricsActive: 2,
      alwaysMet: 0,
      rubricChanges: { born: 2, pruned: 0, inactive: 1, refused: 1 },
      rubricVariance: 0.125,
      failedScorings: 0,
      failedGenerations: 0,
      judgeNullRatePositive: 0,
      judgeNullRateNegative: 0.5,
    })
    expect(evolvingMetrics([])).toMatchObject({
      rubricsActive: null,
      failedScorings: null,
      rubricVariance: null,
    })
  })
})

/** Proposals and levels by named streams: what a miniature does. */
const randomJudge = (seed: number, failRate: number) =>
  scriptedStageJudge<string>({
    seed,
    propose: ({ rng }) =>
      rng.next() < 0.1
        ? null
        : Array.from({ length: rng.int(7) }, () =>
            draft((1 + rng.int(4)) as Stage, `thing ${rng.int(12)}`, {
              sign: rng.pick(['positive', 'negative'] as const),
              weight: 1 + rng.int(4),
            }),
          ),
    level: ({ rollout: { key }, rubric: { title } }) =>
      new Rng(`${key}/${title}`).pick([0, 1, 2, 2, null] as const),
    noise: { seed, failRate, flipRate: 0.1, levelRate: 0.1, nullRate: 0.1 },
  })

it('over many steps: rewards in [0, 1] or unknown, caps hold, what was given stays, and a reload changes nothing', async () => {
  const given = [rubric('given.g', 4, { since: null, weight: 2 })]
  const stage = fc.constantFrom('text', 'text', '')
  const course = fc.record({
    seed: fc.integer({ min: 0, max: 1e6 }),
    failRate: fc.constantFrom(0, 0.3, 1),
    dropZeroVariance: fc.boolean(),
    caps: fc.tuple(...([3, 2, 2, 3] as const).map(most => fc.integer({ min: 0, max: most }))) as fc.Arbitrary<
      [number, number, number, number]
    >,
    steps: fc.array(fc.array(fc.tuple(stage, stage, stage, stage), { maxLength: 4 }), {
      minLength: 1,
      maxLength: 5,
    }),
    reloadAt: fc.integer({ min: 0, max: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(course, async ({ seed, failRate, steps, reloadAt, ...changes }) => {
      const settings = { ...EXACT, ...changes }
      const run = async (reload: boolean) => {
        let buffers = new EvolvingBuffers()
        const rows: unknown[] = []
        for (const [step, shapes] of steps.entries()) {
          if (reload && step === reloadAt) {
            const saved = JSON.parse(JSON.stringify(buffers.save()))
            buffers = new EvolvingBuffers()
            buffers.load(saved)
          }
          for (const key of ['q1', 'q2']) {
            const rollouts = shapes.map((own, i): StagedRollout => rollout(`${step}/${key}/${i}`, own))
            const judged = await judgeGroup(
              randomJudge(seed, failRate),
              { step, question: key, key, rollouts, persistent: given, before: buffers.of(key) },
              settings,
            )
            buffers.keep(key, judged.after)
            rows.push(rubricRow(judged))
            const rewards = judged.rollouts.flatMap(({ rewards_K }) => rewards_K)
            expect(rewards.every(r => r === null || (r >= 0 && r <= 1))).toBe(true)
            const active = (k: number) =>
              judged.after.active.filter((own: StageRubric) => own.stage === k).length
            for (const k of [1, 2, 3, 4]) expect(active(k)).toBeLessThanOrEqual(settings.caps[k - 1])
            expect(judged.rubrics[0]).toEqual(given[0])
            expect(judged.fates[0]).toBe('kept')
            expect(judged.after.active.every(({ since }) => since !== null)).toBe(true)
          }
        }
        return { saved: buffers.save(), rows }
      }
      expect(await run(true)).toEqual(await run(false))
    }),
    { numRuns: 60 },
  )
}, 60_000)

it('settings have the defaults of the paper and refuse what cannot be', () => {
  expect(DEFAULT_EVOLVING).toMatchObject({
    caps: [3, 2, 2, 3],
    targets: [
      [1, 4],
      [1, 4],
      [1, 4],
      [2, 5],
    ],
    dropZeroVariance: true,
    generate: true,
  })
  for (const wrong of [
    { caps: [3, 2, 2] },
    { caps: [3, 2, 2, -1] },
    { caps: [3, 2, 2, 0.5] },
    {
      targets: [
        [4, 1],
        [1, 4],
        [1, 4],
        [2, 5],
      ],
    },
    { refuse: { similarity: 2 } },
    { unknown: 1 },
  ])
    expect(evolvingSchema.safeParse(wrong).success).toBe(false)
  expect(NO_RUBRICS).toEqual({ active: [], inactive: [] })
})
