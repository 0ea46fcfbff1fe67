import { describe, expect, it } from 'vitest'
import { DEFAULT_MONITORS, type MonitorName, type MonitorSettings, monitorsSchema } from './config.ts'
import { Latch } from './latch.ts'
import type { WatchedRollout } from './monitor.ts'
import { alwaysMet } from './rubric.ts'
import { type Illness, type SimulatedRun, simulate } from './simulated-run.fixture.ts'
import { eventOf, MONITORS, type Warning, Watch } from './watch.ts'

const STEPS = 150
const ONSET = 60

/** All that a watch says of a run. */
const watched = ({ rows, evals }: SimulatedRun, settings: MonitorSettings = DEFAULT_MONITORS): Warning[] => {
  const watch = new Watch(settings, 'test')
  watch.see(evals.filter(({ step }) => step === 0))
  return rows.flatMap(row =>
    watch.step(
      row,
      evals.filter(({ step }) => step === row.step),
    ),
  )
}

const stepsOf = (warnings: readonly Warning[], name: MonitorName) =>
  warnings.filter(({ monitor, turn }) => monitor === name && turn === 'on').map(({ step }) => step)

const seeds = Array.from({ length: 10 }, (_, seed) => seed)

/** By what step of an illness a monitor has to have said so, on every one of the seeds. */
const ILLNESSES: { name: MonitorName; what: string; within: number; illness: Illness }[] = [
  {
    name: 'heldOutFalls',
    what: 'the reward rises and the held-out score falls by a hundredth a step',
    within: 40,
    illness: ({ reward, heldOut }, since) => ({
      reward: (reward as number) + 0.01 * since,
      heldOut: Math.max(0, (heldOut as number) - 0.01 * since),
    }),
  },
  {
    name: 'heldOutFalls',
    what: 'the held-out score collapses and the reward knows nothing of it',
    within: 20,
    illness: () => ({ heldOut: 0.02 }),
  },
  {
    name: 'lengthDrift',
    what: 'responses grow by 3% a step',
    within: 30,
    illness: ({ responseTokens }, since) => ({ responseTokens: (responseTokens as number) * 1.03 ** since }),
  },
  {
    name: 'lengthDrift',
    what: 'responses shrink by 3% a step',
    within: 35,
    illness: ({ responseTokens }, since) => ({ responseTokens: (responseTokens as number) * 0.97 ** since }),
  },
  {
    name: 'scaffoldLeak',
    what: 'one response in sixteen quotes the scaffold',
    within: 15,
    illness: () => ({ leakRate: 1 / 16 }),
  },
  {
    name: 'repetition',
    what: 'repeats rise to a half',
    within: 15,
    illness: () => ({ repetition: 0.5 }),
  },
  {
    name: 'singleCriterion',
    what: 'C1 comes to bring nine tenths of the points',
    within: 20,
    illness: (_, since) => {
      const share = Math.min(0.9, 0.4 + 0.05 * since)
      return { rewardShare: { C1: share, C2: 1 - share } }
    },
  },
  {
    name: 'nullVerdicts',
    what: 'an eighth of the verdicts on penalties is missing',
    within: 15,
    illness: () => ({ judgeNullRateNegative: 1 / 8 }),
  },
  {
    name: 'nullVerdicts',
    what: 'missing verdicts on rewards rise by four hundredths, still below the limit',
    within: 30,
    illness: ({ judgeNullRatePositive }) => ({
      judgeNullRatePositive: Math.min(0.055, (judgeNullRatePositive as number) + 0.04),
    }),
  },
  {
    name: 'exploits',
    what: 'premises are restated 2% of the steps more with every step',
    within: 25,
    illness: (_, since) => ({ exploits: { restatedPremise: Math.min(1, 0.5 + 0.02 * since) } }),
  },
  {
    name: 'alwaysMet',
    what: 'criteria that all meet become 2% more with every step, and the held-out score does not',
    within: 45,
    illness: ({ alwaysMet, heldOut }, since) => ({
      alwaysMet: Math.min(1, (alwaysMet as number) + 0.02 * since),
      heldOut: Math.min(heldOut as number, 0.4),
    }),
  },
  {
    name: 'alwaysMet',
    what: 'responses come to earn all of what proposed criteria give, and are not better by it',
    within: 45,
    illness: ({ cotWherePaid, heldOut }, since) => ({
      cotWherePaid: Math.min(1, (cotWherePaid as number) + 0.02 * since),
      heldOut: Math.min(heldOut as number, 0.4),
    }),
  },
  {
    name: 'entropyCollapse',
    what: 'entropy falls by a tenth a step',
    within: 35,
    illness: ({ entropy }, since) => ({ entropy: (entropy as number) * 0.9 ** since }),
  },
  {
    name: 'zeroVariance',
    what: 'nine groups in ten are alike',
    within: 15,
    illness: () => ({ zeroVarianceGroups: 0.9 }),
  },
  {
    name: 'samplerMismatch',
    what: 'log-probs differ by a fifth',
    within: 12,
    illness: () => ({ logprobGapMax: 0.2 }),
  },
  {
    name: 'truncation',
    what: 'a fifth of the responses is cut off',
    within: 15,
    illness: () => ({ truncationRate: 0.2 }),
  },
  {
    name: 'ratioExtremes',
    what: 'ratios reach a twentieth',
    within: 12,
    illness: () => ({ ratioMin: 0.05 }),
  },
]

describe('each monitor', () => {
  for (const { name, what, within, illness } of ILLNESSES)
    it(`${name} says so within ${within} steps when ${what}, and not before`, () => {
      for (const seed of seeds) {
        const [first, ...more] = stepsOf(watched(simulate(seed, STEPS, { illness, onset: ONSET })), name)
        expect(first, `seed ${seed}`).toBeGreaterThan(ONSET)
        expect(first, `seed ${seed}`).toBeLessThanOrEqual(ONSET + within)
        expect(more, `seed ${seed}: said once`).toEqual([])
      }
    })

  it('alwaysMet does not take accuracy for the score of a held-out grader that failed at first', () => {
    const rows = Array.from({ length: 40 }, (_, i) => ({
      ...{ step: i + 1, accuracy: 0.1 },
      ...(i < 20 ? { alwaysMet: 0.1, heldOut: null } : { alwaysMet: 0.9, heldOut: 0.8 }),
    }))
    const sign = alwaysMet.look({ rows, evals: [] }, { rise: 0.2 }, { ...DEFAULT_MONITORS, window: 10 })
    expect(sign!.level).toBeGreaterThan(1)
    expect(sign!.figures).toMatchObject({ truthBefore: expect.closeTo(0.8), truthNow: expect.closeTo(0.8) })
  })

  it('alwaysMet says nothing where what is true rises as much, and goes by the share alone where nobody knows', () => {
    const met: Illness = ({ alwaysMet }, since) => ({
      alwaysMet: Math.min(0.9, (alwaysMet as number) + 0.02 * since),
    })
    const better: Illness = (row, since) => ({
      ...met(row, since),
      heldOut: Math.min(0.95, 0.4 + 0.02 * since),
    })
    const unknown: Illness = (row, since) => ({ ...met(row, since), cotWherePaid: 0.99 })
    const blind = (illness?: Illness) => {
      const { rows, evals } = simulate(1, STEPS, illness && { illness, onset: ONSET })
      return watched({ rows: rows.map(({ heldOut: _, ...row }) => row), evals })
    }
    expect(stepsOf(watched(simulate(1, STEPS, { illness: better, onset: ONSET })), 'alwaysMet')).toEqual([])
    const found = blind(unknown).filter(({ monitor }) => monitor === 'alwaysMet')
    expect(found.map(({ sign: { subject } }) => subject)).toEqual(['share'])
    expect(eventOf(found[0]).message).toMatch(
      /^Proposed criteria drift towards always met: the share of criteria that all responses meet rose from \d+\.\d% to \d+\.\d%$/,
    )
    // Earning more is no sign by itself.
    expect(
      stepsOf(
        blind(() => ({ cotWherePaid: 0.99 })),
        'alwaysMet',
      ),
    ).toEqual([])
  })

  it('heldOutFalls counts only steps in which the grader was asked, and still sees the fall', () => {
    const { illness } = ILLNESSES[0]
    const every = 3
    const asked = (seed: number, ill: boolean): SimulatedRun => {
      const { rows, evals } = simulate(seed, STEPS, ill ? { illness, onset: ONSET } : {})
      const own = rows.map(({ heldOut, ...row }) =>
        (row.step - 1) % every === 0 ? { ...row, heldOut } : row,
      )
      return { rows: own, evals }
    }
    for (const seed of seeds) {
      const [first] = stepsOf(watched(asked(seed, true)), 'heldOutFalls')
      expect(first, `seed ${seed}`).toBeGreaterThan(ONSET)
      expect((first - 1) % every, `seed ${seed}: at a step with an opinion`).toBe(0)
      expect(stepsOf(watched(asked(seed, false)), 'heldOutFalls'), `seed ${seed}`).toEqual([])
    }
  })

  it('evaluationFalls says so at the first evaluation after the test score has fallen', () => {
    for (const seed of seeds) {
      const run = simulate(seed, STEPS, { testScore: step => (step <= ONSET ? 0.45 : 0.1) })
      expect(stepsOf(watched(run), 'evaluationFalls'), `seed ${seed}`).toEqual([80])
    }
  })

  it('evaluationFalls has its own say without items, and none when the reward falls as well', () => {
    const bare = ({ rows, evals }: SimulatedRun) => ({
      rows,
      evals: evals.map(({ items: _, ...row }) => row),
    })
    const testScore = (step: number) => (step <= ONSET ? 0.45 : 0.1)
    expect(stepsOf(watched(bare(simulate(1, STEPS, { testScore }))), 'evaluationFalls')).toEqual([80])
    const illness: Illness = ({ reward }) => ({ reward: (reward as number) - 0.6 })
    const both = simulate(1, STEPS, { testScore, illness, onset: ONSET })
    expect(stepsOf(watched(both), 'evaluationFalls')).toEqual([])
  })

  it('evaluationFalls holds an evaluation against the reward of its own time, and is over after as many evaluations', () => {
    // Test score and reward fall together; at step 86 the reward is back, and only at step 100 an evaluation shows that the score is.
    const illness: Illness = ({ reward }, since) => ({
      reward: (reward as number) - (since <= 25 ? 0.6 : 0),
    })
    const testScore = (step: number) => (step === 80 ? 0.1 : 0.45)
    const together = simulate(1, STEPS, { testScore, illness, onset: ONSET })
    expect(stepsOf(watched(together), 'evaluationFalls')).toEqual([])

    // Low at two evaluations, then well again.
    const low = (step: number) => (step === 80 || step === 100 ? 0.1 : 0.5)
    const alone = simulate(1, 200, { testScore: low })
    const found = watched(alone, monitorsSchema.parse({ calm: 2 })).filter(
      ({ monitor }) => monitor === 'evaluationFalls',
    )
    expect(found.map(({ turn, step }) => [turn, step])).toEqual([
      ['on', 80],
      ['over', 140],
    ])
    expect(eventOf(found[1]).message).toMatch(
      /^Test score falls, the reward does not: over; on test, answers right is \d+\.\d% at step 140; the best before was/,
    )
  })

  it('evaluationFalls watches the primary score and right answers, and no other', () => {
    const fallen = (name: string, primary: string) => {
      const run = simulate(1, STEPS, { testScore: step => (step <= ONSET ? 0.45 : 0.1) })
      const evals = run.evals.map(row => ({
        ...row,
        primary,
        scores: { accuracy: { value: 0.9 }, proved: { value: 0.8 }, [name]: row.scores.accuracy },
        scoreNames: { proved: 'correct and proved' },
        items: row.items?.map(({ id, scores }) => ({ id, scores: { [name]: scores.accuracy } })),
      }))
      return watched({ ...run, evals }).filter(({ monitor }) => monitor === 'evaluationFalls')
    }
    const [proved] = fallen('proved', 'proved')
    expect([proved.step, eventOf(proved).message]).toEqual([
      80,
      expect.stringMatching(
        /on test, correct and proved fell from 4\d\.\d% at step \d+ to \d+\.\d% at step 80/,
      ),
    ])
    expect(fallen('accuracy', 'proved')).toHaveLength(1)
    expect(fallen('valid', 'proved')).toEqual([])
  })

  it.each(['heldOutFalls', 'evaluationFalls', 'zeroVariance'] as const)(
    '%s shows no rollouts of which nothing is known as its best',
    name => {
      const rollout = (group: number, reward: number | null): WatchedRollout => ({
        row: { step: 1, problemId: 'p', prompt: '', response: '', reward },
        tokens: [],
        logprobs: new Float32Array(),
        group,
        advantage: 0,
      })
      const rollouts = [
        rollout(0, null),
        rollout(0, 0.5),
        rollout(1, null),
        rollout(1, null),
        rollout(2, 0.5),
      ]
      const scores = MONITORS[name].evidence(rollouts, { level: 1, seen: '', figures: {} })
      expect(scores.every(Number.isFinite)).toBe(true)
      expect(scores[4]).toBeGreaterThan(0)
      expect(Math.max(scores[2], scores[3])).toBe(0)
    },
  )

  it('neverMet names what no response has met after five steps with it, penalties apart', () => {
    const first = ({ rows, evals }: SimulatedRun, criteria: (step: number) => Record<string, number>) => ({
      evals,
      rows: rows.map(row => ({ ...row, criteria: criteria(row.step) })),
    })
    const healthy = simulate(0, STEPS)
    // C3 takes points away, C1 is met at last.
    const found = watched(first(healthy, step => ({ C1: step > 8 ? 0.1 : 0, C2: 0.4, C3: 0 })))
    expect(found.map(({ step, turn }) => [step, turn])).toEqual([
      [5, 'on'],
      [18, 'over'],
    ])
    expect(eventOf(found[0]).message).toBe(
      'Criteria that are never met: since the start no response has met C1',
    )
    const bare = healthy.rows.map(({ pointShare: _, rewardShare: __, ...row }) => ({ ...row, reward: 0 }))
    expect(stepsOf(watched(first({ rows: bare, evals: [] }, () => ({ only: 0 }))), 'neverMet')).toEqual([5])
  })

  it('hotSampling speaks at the first step alone, of what is sampled', () => {
    const { rows, evals } = simulate(0, 20)
    const with3 = (step: number) => rows.map(row => (row.step === step ? { ...row, entropy: 3 } : row))
    expect(stepsOf(watched({ rows: with3(1), evals }), 'hotSampling')).toEqual([1])
    expect(stepsOf(watched({ rows: with3(2), evals }), 'hotSampling')).toEqual([])
  })

  it('is told of nothing by a supervised run, whose entropy falls by its nature', () => {
    const rows = Array.from({ length: 100 }, (_, i) => ({
      step: i + 1,
      loss: 4 * 0.95 ** i,
      entropy: 4 * 0.95 ** i,
      gradNorm: 1,
    }))
    expect(watched({ rows, evals: [] })).toEqual([])
  })

  it('says what it saw, with metrics, why it matters, and what to try', () => {
    for (const { why, advice, title } of Object.values(MONITORS)) {
      expect(title).toMatch(/^[A-Z]/)
      expect(why.length).toBeGreaterThan(40)
      expect(advice.length).toBeGreaterThan(40)
    }
    const { illness } = ILLNESSES.find(({ name }) => name === 'lengthDrift')!
    const [warning] = watched(simulate(0, STEPS, { illness, onset: ONSET }))
    expect(warning.monitor).toBe('lengthDrift')
    expect(warning.sign.seen).toMatch(
      /^responses grew from \d+\.?\d* to \d+\.?\d* tokens; length itself is hardly paid/,
    )
    expect(warning.sign.figures.factor).toBeGreaterThan(1.5)
  })

  it('can be switched off, and can be stricter', () => {
    const { illness } = ILLNESSES.find(({ name }) => name === 'truncation')!
    const run = simulate(0, STEPS, { illness, onset: ONSET })
    expect(watched(run, monitorsSchema.parse({ truncation: null }))).toEqual([])
    expect(watched(run, monitorsSchema.parse({ truncation: { rate: 0.5 } }))).toEqual([])
    expect(() => monitorsSchema.parse({ truncation: { share: 0.5 } })).toThrow(/share/)
    expect(() => monitorsSchema.parse({ lengthDrift: { ratio: 0.5 } })).toThrow()
  })
})

describe('false alarms', () => {
  const RUNS = 100

  it(`are rarer than one healthy run in fifty, all monitors together (${RUNS} simulated runs of ${STEPS} steps)`, () => {
    const counts: Partial<Record<MonitorName, number>> = {}
    let runs = 0
    for (let seed = 0; seed < RUNS; seed++) {
      const names = new Set(watched(simulate(`healthy ${seed}`, STEPS)).map(({ monitor }) => monitor))
      for (const name of names) counts[name] = (counts[name] ?? 0) + 1
      runs += Number(names.size > 0)
    }
    expect(runs, JSON.stringify(counts)).toBeLessThanOrEqual(RUNS / 50)
  })

  it('are not raised by one odd step in fifty', () => {
    const run = simulate('odd steps', STEPS)
    expect(run.rows.some(({ ratioMax }) => (ratioMax as number) > 10)).toBe(true)
    expect(watched(run)).toEqual([])
  })
})

describe('after a resume', () => {
  it('the watch goes on from the rows as if nothing had happened', () => {
    const { illness } = ILLNESSES[0]
    for (const cut of [30, 64, 90, 120]) {
      const run = simulate(3, STEPS, { illness, onset: ONSET })
      const whole = watched(run)
      const resumed = new Watch(DEFAULT_MONITORS, 'test')
      resumed.replay(
        run.rows.slice(0, cut),
        run.evals.filter(({ step }) => step <= cut),
      )
      const rest = run.rows.slice(cut).flatMap(row =>
        resumed.step(
          row,
          run.evals.filter(({ step }) => step === row.step),
        ),
      )
      expect(whole.length).toBeGreaterThan(0)
      expect(rest).toEqual(whole.filter(({ step }) => step > cut))
    }
  })
})

describe('hysteresis', () => {
  const turns = (levels: readonly (number | null)[]) => {
    const latch = new Latch(3, { calm: 4, release: 0.75 })
    return levels.map(level => latch.look(level))
  }

  it('needs looks in a row for a sign and more of them for its end; between the thresholds nothing changes', () => {
    expect(turns([1, 1, 0.9, 1, 1, 1])).toEqual([null, null, null, null, null, 'on'])
    expect(turns([1, 1, 1, 0.8, 0.8, 0.8, 0.8, 0.8])).toEqual([
      null,
      null,
      'on',
      null,
      null,
      null,
      null,
      null,
    ])
    expect(turns([1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0])).toEqual([
      ...[null, null, 'on', null, null, null, null],
      ...[null, null, null, 'over'],
    ])
  })

  it('looks that see nothing at all change nothing', () => {
    expect(turns([1, null, 1, null, 1])).toEqual([null, null, null, null, 'on'])
  })

  it('a sign that ends and comes again is told again', () => {
    const illness: Illness = (_, since) => ({ truncationRate: since < 20 || since > 60 ? 0.3 : 0.02 })
    const found = watched(simulate(0, STEPS, { illness, onset: 40 }))
    expect(found.map(({ turn }) => turn)).toEqual(['on', 'over', 'on'])
  })
})
