import { describe, expect, it } from 'vitest'
import type { Verdict } from '../../rubric/criterion.ts'
import type { RolloutRow } from '../../runs/rows.ts'
import type { ThinkingVerifier } from '../../tasks/thinking.ts'
import { StepRollouts } from '../../train/rollout.ts'
import { rlcerSchema } from './config.ts'
import {
  lettersTask,
  lettersVerifier,
  rubricOf,
  type Script,
  ScriptedPolicy,
  textOf,
} from './letters.fixture.ts'
import { rlcer } from './recipe.ts'

/** Five criteria; of reasoners that write `a` when they are right and `b` when they are wrong, two are valid. */
const RUBRIC = rubricOf([
  ['has a', 3],
  ['has b', -4],
  ['has b', 2],
  ['has x', 1],
  ['has z', 1],
])

/** Sample 0 and 1 are right, 2 and 3 wrong; everybody writes x, nobody z. */
const REASONERS = ['xa</think>right', 'xa</think>right', 'xb</think>wrong', 'xb</think>wrong']

const usual: Script = (prompt, _, index) => (prompt.endsWith('!') ? RUBRIC : REASONERS[index])

const SMALL = {
  rollout: { prompts: 2, samples: 4, maxTokens: 40 },
  // `has b` stands in the rubric twice, with either sign.
  rubricator: { maxTokens: 2000, distinct: false },
}

const PROBLEMS = ['p', 'q', 'r', 's', 't']

interface Changes {
  script?: Script
  verifier?: ThinkingVerifier<string>
  truth?: ThinkingVerifier<string>
}

const parts = ({ script = usual, verifier = lettersVerifier, truth }: Changes = {}) => {
  const policy = new ScriptedPolicy(script)
  return {
    policy,
    ...{ task: lettersTask, verifier, truth },
    problem: (i: number) => PROBLEMS[i % PROBLEMS.length],
    evaluate: async () => [],
  }
}

/** One step of the recipe with settings. */
const stepOf = async (settings: object = {}, changes: Changes = {}, step = 1) => {
  const config = rlcerSchema.parse({ ...SMALL, ...settings })
  const made = parts(changes)
  const recipe = rlcer(config, made)
  const io = new StepRollouts(made.policy, { seed: config.seed, step })
  const rolled = await recipe.rollOut(step, io)
  const lesson = await recipe.learn(step, rolled)
  const rows = lesson.rollouts.map(own => own.row())
  const of = (role: string) => rows.filter(row => row.role === role)
  return {
    ...lesson,
    rolled,
    io,
    policy: made.policy,
    recipe,
    reasoners: of('reasoner'),
    rubricators: of('rubricator'),
  }
}

const rewardsOf = (rows: readonly RolloutRow[]) => rows.map(({ reward }) => reward)

describe('Algorithm 1', () => {
  it('pays reasoners for answers and valid criteria, rubricators for validity and format', async () => {
    const { reasoners, rubricators } = await stepOf()
    // V = {has a +3, has b -4} of four equal rubrics: 1 for those who are right, 0 for those who are wrong.
    expect(rewardsOf(reasoners)).toEqual([2, 2, -1, -1, 2, 2, -1, -1])
    expect(reasoners[0].parts).toEqual({ outcome: 1, cot: 1, overlong: 0 })
    expect(reasoners[2]).toMatchObject({ parts: { outcome: -1, cot: 0 }, correct: false, answer: 'wrong' })
    // Two of five are valid; the same words with another sign are a criterion of their own here.
    expect(rewardsOf(rubricators)).toEqual(Array(8).fill(1.4))
    expect(rubricators[0].verdicts?.map(({ met }) => met)).toEqual([true, true, false, false, false])
    expect(rubricators[0].response).toBe(RUBRIC)
  })

  it('asks one rubricator about each response, without its answer', async () => {
    const { policy, rolled } = await stepOf()
    expect(policy.asked.map(({ role }) => role)).toEqual(['reasoner', 'rubricator'])
    expect(policy.asked[1].prompts).toEqual([
      ...['p:xa!', 'p:xa!', 'p:xb!', 'p:xb!'],
      ...['q:xa!', 'q:xa!', 'q:xb!', 'q:xb!'],
    ])
    expect(rolled[1].rubricators.map(({ grade }) => grade.verdicts_N_K.map(own => own.length))).toEqual(
      Array(4).fill([5, 5, 5, 5]),
    )
  })

  it('shows the answer where the setting says so', async () => {
    const { policy } = await stepOf({ maskFinalAnswer: false })
    expect(policy.asked[1].prompts[0]).toBe('p:xa</think>right!')
  })

  it('learns both roles in one update, whitened apart', async () => {
    const { phases, rollouts } = await stepOf()
    expect(phases).toHaveLength(1)
    expect(phases[0].datums).toHaveLength(16)
    expect(phases[0].loss.value).toEqual({ coef: 1, clip: 0.5 })
    expect(phases[0].datums[0].datum).toMatchObject({
      returns: expect.anything(),
      oldValues: expect.anything(),
    })
    for (const role of ['reasoner', 'rubricator']) {
      const own = rollouts.filter(({ rollout }) => rollout.role === role)
      const advantages = own.flatMap(({ advantages: each }) => [...each])
      const mean = advantages.reduce((a, b) => a + b) / advantages.length
      expect(mean).toBeCloseTo(0, 5)
    }
  })

  it('without a critic compares within questions, and has no value loss', async () => {
    const script: Script = (prompt, _, index) => {
      if (!prompt.endsWith('!')) return REASONERS[index]
      return prompt.startsWith('p:xa') ? RUBRIC : 'no rubric'
    }
    const { phases, rollouts, metrics, policy } = await stepOf(
      { critic: null, advantage: { scale: 'none' }, dropZero: false },
      { script },
    )
    const advantagesOf = (role: string) =>
      rollouts
        .filter(({ rollout }) => rollout.role === role)
        .map(({ advantages }) => Number(advantages[0].toFixed(4)))
    // Reasoners of p: 2, 2, -1, -1 less their mean; of q, without rubrics: 1, 1, -1, -1.
    expect(advantagesOf('reasoner')).toEqual([1.5, 1.5, -1.5, -1.5, 1, 1, -1, -1])
    // Rubricators of p: 1.4, 1.4, 0, 0, each less the mean of the other three.
    expect(advantagesOf('rubricator')).toEqual([0.9333, 0.9333, -0.9333, -0.9333, 0, 0, 0, 0])
    expect(phases[0].loss.value).toBeNull()
    expect(metrics.zeroVarianceGroups).toBe(0)
    expect(policy.calls).not.toContain('score')
  })

  it('normalises each part within its question where it is told to', async () => {
    const { rollouts } = await stepOf({ critic: null, advantage: { perPart: true } })
    const reasoners = rollouts.filter(({ rollout }) => rollout.role === 'reasoner')
    // Outcome and thinking agree in every group: two standard scores of 1 each, standardised over the batch.
    expect(reasoners.map(({ advantages }) => Math.round(1000 * advantages[0]) / 1000)).toEqual([
      ...[1, 1, -1, -1],
      ...[1, 1, -1, -1],
    ])
  })

  it('where all responses are right pays rubricators what says nothing of them, and reasoners for the answer', async () => {
    const script: Script = (prompt, rng, index) =>
      prompt === 'p?' ? 'xa</think>right' : usual(prompt, rng, index)
    const { rollouts, metrics, reasoners } = await stepOf({ critic: null, dropZero: false }, { script })
    expect(rewardsOf(reasoners).slice(0, 4)).toEqual([1, 1, 1, 1])
    const own = rollouts.filter(({ rollout }) => rollout.role === 'rubricator')
    // Of q's rubrics two criteria in five are valid; that is what those of p are paid, and nobody is ahead.
    expect(own.slice(0, 4).map(({ reward }) => reward)).toEqual(Array(4).fill(1.4))
    expect(metrics.evolving).toBeCloseTo(0.4, 12)
    expect(own.slice(0, 4).every(({ advantages }) => advantages.every(a => a === 0))).toBe(true)
    expect(metrics.constantZ).toBe(0.5)
    // Half of the questions can have no valid criterion: what is told of the others alone does not fall with them.
    expect(metrics.cot).toBeCloseTo(0.25, 12)
    expect(metrics.cotWherePaid).toBeCloseTo(0.5, 12)
    expect(metrics.validRate).toBeCloseTo(0.2, 12)
    const { validMinusNull, validMinusNullInformative } = metrics as Record<string, number>
    expect(validMinusNullInformative).toBeGreaterThan(validMinusNull + 0.08)
    expect(validMinusNullInformative).toBeLessThan(0.4)
    // The format is taught there all the same.
    const broken: Script = (prompt, rng, index) => (prompt === 'p:xa!' ? 'no' : script(prompt, rng, index))
    const taught = await stepOf({}, { script: broken })
    expect(rewardsOf(taught.rubricators)).toEqual([...Array(4).fill(0.4), ...Array(4).fill(1.4)])
    expect(taught.phases[0].datums).toHaveLength(16)
    const uninformative = (own: string) => ({ rubricator: { ...SMALL.rubricator, uninformative: own } })
    const zero = await stepOf(uninformative('zero'), { script })
    expect(rewardsOf(zero.rubricators).slice(0, 4)).toEqual([1, 1, 1, 1])
    // Those of p are told of, and not learnt from.
    const masked = await stepOf(uninformative('mask'), { script })
    expect(rewardsOf(masked.rubricators)).toEqual([...Array(4).fill(1.4), ...Array(4).fill(null)])
    expect(masked.phases[0].datums).toHaveLength(12)
  })

  it('takes a rubric that was cut off for none, however it could be mended', async () => {
    const { rubricators, metrics } = await stepOf({ rubricator: { maxTokens: RUBRIC.length - 1 } })
    expect(rewardsOf(rubricators)).toEqual(Array(8).fill(0))
    expect(metrics).toMatchObject({ formatRate: 0, criteriaPerRubric: 0, payingCriteria: 0 })
  })

  it('does not let a rubric that breaks the format steer, and pays for what is valid in it all the same', async () => {
    const broken = rubricOf([['has a', 3]])
    const script: Script = (prompt, rng, index) => (prompt.endsWith('!') ? broken : usual(prompt, rng, index))
    const { reasoners, rubricators } = await stepOf({}, { script })
    expect(rewardsOf(reasoners)).toEqual([1.5, 1.5, -0.5, -0.5, 1.5, 1.5, -0.5, -0.5])
    expect(rewardsOf(rubricators)).toEqual(Array(8).fill(1))
    const steers = await stepOf({ rubricator: { ...SMALL.rubricator, unformattedSteers: true } }, { script })
    expect(rewardsOf(steers.reasoners)).toEqual([2, 2, -1, -1, 2, 2, -1, -1])
  })

  it('takes copies of one criterion for one: neither the format nor validity is had by them', async () => {
    const copies = rubricOf(Array(5).fill(['has a', 3]))
    const script: Script = (prompt, rng, index) => (prompt.endsWith('!') ? copies : usual(prompt, rng, index))
    const { rubricators, reasoners, metrics } = await stepOf(
      { rubricator: { ...SMALL.rubricator, distinct: true } },
      { script },
    )
    expect(rewardsOf(rubricators)).toEqual(Array(8).fill(1))
    expect(rewardsOf(reasoners)[0]).toBe(1.5)
    expect(metrics).toMatchObject({ formatRate: 0, repeatRate: 1, evolving: 1 })
    // As they are written they earn the most that there is.
    const literal = await stepOf({}, { script })
    expect(rewardsOf(literal.rubricators)).toEqual(Array(8).fill(2))
    expect(literal.metrics).toMatchObject({ formatRate: 1, repeatRate: 1 })
  })

  it('adds the penalty of long thinking to reasoners alone', async () => {
    const long = `${'x'.repeat(22)}a</think>right`
    const script: Script = (prompt, rng, index) =>
      prompt.endsWith('!') || index > 0 ? usual(prompt, rng, index) : long
    const { reasoners } = await stepOf({ overlong: { buffer: 10, factor: 2 } }, { script })
    // 36 tokens of 40: 6 into the last 10.
    expect(long).toHaveLength(36)
    expect(reasoners[0].parts?.overlong).toBeCloseTo(-1.2, 12)
    expect(reasoners[0].reward).toBeCloseTo(0.8, 12)
  })
})

describe('arms', () => {
  const none = { rubricator: { enabled: false } }

  it('RLVR samples no rubricators at all', async () => {
    const { policy, io, reasoners, metrics } = await stepOf({ reasonerReward: 'outcome', ...none })
    expect(policy.asked.map(({ role }) => role)).toEqual(['reasoner'])
    expect(io.drawn).toHaveLength(8)
    expect(rewardsOf(reasoners)).toEqual([1, 1, -1, -1, 1, 1, -1, -1])
    expect(metrics).not.toHaveProperty('validRate')
    // The next step may begin as soon as they are sampled.
    await io.lastSampled
  })

  it('rubrics alone pay for thinking alone, and the answers are told to the monitors', async () => {
    const { reasoners, heldOut } = await stepOf({ reasonerReward: 'rubric' })
    expect(rewardsOf(reasoners)).toEqual([1, 1, 0, 0, 1, 1, 0, 0])
    const { scores } = await heldOut!
    expect(scores?.slice(0, 9)).toEqual([1, 1, 0, 0, 1, 1, 0, 0, null])
  })

  it('chance alone pays by the rollout', async () => {
    const { reasoners } = await stepOf({ reasonerReward: 'random', ...none })
    const again = await stepOf({ reasonerReward: 'random', ...none })
    expect(new Set(rewardsOf(reasoners)).size).toBe(8)
    expect(rewardsOf(again.reasoners)).toEqual(rewardsOf(reasoners))
  })

  it('without evolving rubricators are paid for the format', async () => {
    const { rubricators, reasoners } = await stepOf({ rubricator: { ...SMALL.rubricator, evolving: false } })
    expect(rewardsOf(rubricators)).toEqual(Array(8).fill(1))
    expect(rewardsOf(reasoners)[0]).toBe(2)
  })

  it('read literally, penalties are thrown away and those that praise a flaw stay', async () => {
    const { rubricators, metrics } = await stepOf({ validity: { signAware: false } })
    expect(rubricators[0].verdicts?.map(({ met }) => met)).toEqual([true, false, false, false, false])
    expect(metrics.validBySign).toEqual({
      reward: 0.25,
      'penalty, sign-aware': 1,
      'penalty, literal': 0,
    })
  })

  it('a control of what pays leaves validity as it is, and turns the reward', async () => {
    const { reasoners, rubricators } = await stepOf({ control: 'flipped', reasonerReward: 'rubric' })
    expect(rewardsOf(reasoners)).toEqual([0, 0, 1, 1, 0, 0, 1, 1])
    expect(rewardsOf(rubricators)).toEqual(Array(8).fill(1.4))
  })

  it('a control across questions pays each by the other, and rubricators as ever', async () => {
    const turned = [...REASONERS].reverse()
    const script: Script = (prompt, rng, index) =>
      prompt.startsWith('q') && !prompt.endsWith('!') ? turned[index] : usual(prompt, rng, index)
    const settings = { control: 'other-question', reasonerReward: 'rubric' }
    const { reasoners, rubricators, metrics } = await stepOf(settings, { script })
    // Right are the first two of p and the last two of q.
    expect(rewardsOf(reasoners)).toEqual([0, 0, 1, 1, 1, 1, 0, 0])
    expect(rewardsOf(rubricators)).toEqual(Array(8).fill(1.4))
    expect(metrics).toMatchObject({ accuracy: 0.5, validRate: 0.4, payingCriteria: 2 })
  })

  it('a control of verdicts is undone by the choice of criteria: flipped ones change sides', async () => {
    const { reasoners, rubricators } = await stepOf({
      ...{ control: 'flipped', controlAt: 'verdicts', reasonerReward: 'rubric' },
    })
    // `has b +2`, inverted, goes with being right now.
    expect(rubricators[0].verdicts?.map(({ met }) => met)).toEqual([false, false, true, false, false])
    expect(rewardsOf(reasoners)).toEqual([1, 1, 0, 0, 1, 1, 0, 0])
  })
})

describe('metrics', () => {
  it('say how valid criteria are beside what chance gives, by sign, and what they let slip', async () => {
    const { metrics } = await stepOf()
    expect(metrics).toMatchObject({
      ...{ accuracy: 0.5, outcome: 0, cot: 0.5, constantZ: 0, reward: 0.5 },
      rubricatorReward: expect.closeTo(1.4, 12),
      evolving: expect.closeTo(0.4, 12),
      ...{ formatRate: 1, criteriaPerRubric: 5, payingCriteria: 2 },
      validRate: 0.4,
      // Of five criteria two never vary; of the others one is met by two of four, as are the right ones.
      saturation: 0.4,
      alwaysMet: 0.2,
      penaltyShare: 0.2,
      validBySign: { reward: 0.25, 'penalty, sign-aware': 1, 'penalty, literal': 0 },
      judgeNullRatePositive: 0,
      judgeNullRateNegative: 0,
    })
    const { validRate, nullValidRate, validMinusNull, nullCorrelation } = metrics as Record<string, number>
    // phi of two against two is 1, 0 or -1 with chances 1/6, 4/6, 1/6; three of five criteria vary.
    expect(nullValidRate).toBeGreaterThan(0.03)
    expect(nullValidRate).toBeLessThan(0.18)
    expect(validMinusNull).toBeCloseTo(validRate - nullValidRate, 12)
    expect(Math.abs(nullCorrelation)).toBeLessThan(0.15)
  })

  it('tell criteria that stand for the outcome, and leave them out where they are told to', async () => {
    // Over both questions `has a` is right's proxy on 32 pairs.
    const { metrics } = await stepOf()
    expect(metrics.proxyShare).toBeCloseTo(0.4, 12)
    expect(metrics.validRateWithoutProxies).toBe(0)
    const { reasoners } = await stepOf({ validity: { proxies: 'drop' } })
    expect(rewardsOf(reasoners)).toEqual([1.5, 1.5, -0.5, -0.5, 1.5, 1.5, -0.5, -0.5])
  })

  it('count missing verdicts by sign, and how often another verifier agrees with execution', async () => {
    const silentOn = (letter: string): ThinkingVerifier<string> => ({
      verify: async items =>
        (await lettersVerifier.verify(items)).map((verdicts, i) =>
          verdicts.map((verdict, k): Verdict => {
            const { text } = items[i].rubric.criteria[k]
            return { ...verdict, source: 'llm', ...(text === `has ${letter}` && { met: null }) }
          }),
        ),
    })
    const { metrics } = await stepOf({}, { verifier: silentOn('x'), truth: lettersVerifier })
    expect(metrics).toMatchObject({
      ...{ judgeNullRatePositive: 0.25, judgeNullRateNegative: 0 },
      verifierAgreement: { reward: 1, penalty: 1 },
    })
    const wrong: ThinkingVerifier<string> = {
      verify: async items =>
        (await lettersVerifier.verify(items)).map(own =>
          own.map((verdict, k) => (k === 0 ? { ...verdict, met: !verdict.met } : verdict)),
        ),
    }
    const drifted = await stepOf({}, { verifier: wrong, truth: lettersVerifier })
    expect(drifted.metrics.verifierAgreement).toEqual({ reward: 0.75, penalty: 1 })
  })
})

describe('a verifier', () => {
  it('that gives a list of another length gives none', async () => {
    const short: ThinkingVerifier<string> = {
      verify: async items =>
        (await lettersVerifier.verify(items)).map((own, i) => (i % 4 === 0 ? own.slice(1) : own)),
    }
    const { rolled, reasoners } = await stepOf({}, { verifier: short })
    const [first] = rolled[0].rubricators
    expect(first.grade.verdicts_N_K[0].map(({ met }) => met)).toEqual(Array(5).fill(null))
    expect(first.grade.verdicts_N_K[0][0].explanation).toMatch(/expected 5 verdicts, one a criterion, got 4/)
    // Nothing is known of the thinking of the first samples then.
    const unknown = reasoners.filter(({ reward }) => reward === null)
    expect(unknown.map(({ sample }) => sample)).toEqual([0, 0])
  })

  it('that fails on one rubric leaves that rubricator out', async () => {
    const failing: ThinkingVerifier<string> = {
      verify: async items =>
        (await lettersVerifier.verify(items)).map((own, i) =>
          own.map(verdict => ({ ...verdict, source: 'llm' as const, ...(i < 4 && { met: null }) })),
        ),
    }
    const { rubricators } = await stepOf({ dropZero: false, critic: null }, { verifier: failing })
    expect(rewardsOf(rubricators).filter(reward => reward === null)).toHaveLength(1)
  })

  it('that has nothing to say about a whole step stops the run', async () => {
    const silent: ThinkingVerifier<string> = {
      verify: async items =>
        items.map(({ rubric: { criteria } }) =>
          criteria.map(({ id }) => ({
            ...{ criterionId: id, met: null, explanation: 'no connection', source: 'llm' as const },
          })),
        ),
    }
    await expect(stepOf({}, { verifier: silent })).rejects.toThrow(
      /verifier: expected verdicts on 8 rubrics, got none that decides anything \(no connection\)/,
    )
  })

  it('that says a criterion cannot be executed has said enough: it is not valid', async () => {
    const script: Script = (prompt, rng, index) =>
      prompt.endsWith('!')
        ? rubricOf(['one', 'two', 'three', 'four', 'five'].map(word => [word, 1] as const))
        : usual(prompt, rng, index)
    const { rubricators } = await stepOf({}, { script })
    expect(rewardsOf(rubricators)).toEqual(Array(8).fill(1))
  })

  it('is asked while other rubrics are still written', async () => {
    const events: string[] = []
    const policy = new (class extends ScriptedPolicy {
      override async sample(...[request, onSample]: Parameters<ScriptedPolicy['sample']>) {
        const isRubricator = request.prompts.every(prompt => textOf(prompt).endsWith('!'))
        return super.sample(request, sample => {
          if (isRubricator) events.push('written')
          onSample?.(sample)
        })
      }
    })(usual)
    const verifier: ThinkingVerifier<string> = {
      verify: items => {
        events.push('verified')
        return lettersVerifier.verify(items)
      },
    }
    const config = rlcerSchema.parse({ ...SMALL, rollout: { ...SMALL.rollout, prompts: 4 } })
    const recipe = rlcer(config, { ...parts(), policy, verifier })
    await recipe.rollOut(1, new StepRollouts(policy, { seed: 1, step: 1 }))
    expect(events.filter(event => event === 'written')).toHaveLength(16)
    expect(events.indexOf('verified')).toBeLessThan(events.lastIndexOf('written'))
  })
})

describe('questions in parts', () => {
  const settings = { rollout: { ...SMALL.rollout, prompts: 5 }, questionsTogether: 2 }

  it('have their rubricators as soon as their reasoners are there, with further reasoners asked for before', async () => {
    const { policy, rolled } = await stepOf(settings)
    const [r, b] = ['reasoner', 'rubricator']
    expect(policy.asked.map(({ role }) => role)).toEqual([r, r, b, r, b, b])
    expect(policy.asked.map(({ prompts }) => prompts[0][0])).toEqual(['p', 'r', 'p', 't', 'r', 't'])
    expect(rolled.map(({ problem }) => problem)).toEqual(PROBLEMS)
    expect(rolled.flatMap(own => own.rubricators)).toHaveLength(20)
  })

  it('sample the same whenever a group is finished, and a journal brings the step back', async () => {
    const words: Script = (prompt, rng) =>
      prompt.endsWith('!') ? RUBRIC : `x${rng.pick(['a', 'b'])}</think>${rng.pick(['right', 'wrong'])}`
    const first = await stepOf(settings, { script: words })
    const config = rlcerSchema.parse({ ...SMALL, ...settings })
    const made = parts({ script: words })
    const recipe = rlcer(config, made)
    const again = await recipe.rollOut(
      1,
      new StepRollouts(made.policy, { seed: 1, step: 1 }, first.io.journal),
    )
    expect(made.policy.asked).toEqual([])
    const found = (rolled: typeof again) =>
      rolled.flatMap(({ reasoners, rubricators }) =>
        [...reasoners, ...rubricators].map(({ rollout: { key, tokens } }) => [key, textOf(tokens)]),
      )
    expect(found(again)).toEqual(found(first.rolled))
    expect(new Set(found(again).map(([key]) => key)).size).toBe(40)
  })

  it("a failure of the policy is the step's", async () => {
    const script: Script = (prompt, rng, index) => {
      if (prompt.startsWith('r:')) throw new Error('out of memory')
      return usual(prompt, rng, index)
    }
    await expect(stepOf(settings, { script })).rejects.toThrow('out of memory')
  })
})

describe('a scaffold of evolved rubrics', () => {
  const settings = {
    rollout: { ...SMALL.rollout, prompts: 5 },
    scaffold: { group: { kind: 'linear' }, decay: { kind: 'constant' } },
    task: { kind: 'arithmetic', pool: 5 },
    steps: 10,
  }

  it('shows reasoners what was valid for their question before, more to the first than to the last', async () => {
    const config = rlcerSchema.parse({ ...SMALL, ...settings })
    const made = parts()
    const recipe = rlcer(config, made)
    const step = async (number: number) => {
      const io = new StepRollouts(made.policy, { seed: 1, step: number })
      return recipe.learn(number, await recipe.rollOut(number, io))
    }
    await step(1)
    expect(made.policy.asked[0].prompts).toEqual(PROBLEMS.map(name => `${name}?`))
    const { metrics, rollouts } = await step(2)
    const shown = made.policy.asked[2].prompts.slice(0, 4)
    expect(shown[0]).toBe('p+has a-has b?')
    expect(shown[3]).toBe('p?')
    expect(metrics.bankQuestions).toBe(5)
    // Learnt on the plain prompt.
    expect(textOf(rollouts[0].rollout.prompt)).toBe('p?')
    const state = recipe.state!.save()
    const other = rlcer(config, parts())
    other.state!.load(JSON.parse(JSON.stringify(state)))
    expect(other.state!.save()).toEqual(state)
    expect(() => other.state!.load({ p: [{ text: 1 }] })).toThrow(/rubric bank/)
  })

  it('is no part of a run without it', async () => {
    expect(rlcer(rlcerSchema.parse(SMALL), parts()).state).toBeUndefined()
  })
})

describe('rubric dropout', () => {
  /** Those who are right write a, and some of them c as well: both are valid. */
  const proposed = rubricOf([
    ['has a', 3],
    ['has c', 2],
    ['has b', -4],
    ['has x', 1],
    ['has z', 1],
  ])
  const reasoners = ['xa</think>right', 'xac</think>right', 'xb</think>wrong', 'xb</think>wrong']
  const script: Script = (prompt, _, index) => (prompt.endsWith('!') ? proposed : reasoners[index])
  const dropout = { rubricDropout: { rate: 0.5, keepAtLeast: 1 } }

  it('pays all reasoners of a question by the same valid criteria, others in other steps', async () => {
    const without = rewardsOf((await stepOf({}, { script })).reasoners)
    // Of 5 points and 4 to lose: 3 and 4 of 9, then 2 more.
    expect(without[0]).toBeCloseTo(1 + 7 / 9, 12)
    expect(without[1]).toBe(2)
    const seen = new Set<string>()
    for (let step = 1; step <= 8; step++) {
      const { reasoners: rows, metrics } = await stepOf(dropout, { script }, step)
      const paid = rewardsOf(rows)
      // Without c the first has all; without a only what it does not lose, 4 of 6.
      for (const first of [0, 4]) {
        const isA = Math.abs(paid[first]! - (1 + 4 / 6)) < 1e-9
        expect(isA || paid[first] === 2).toBe(true)
        expect(paid[first + 1]).toBe(2)
        expect(paid[first + 2]).toBe(-1)
        seen.add(isA ? 'a' : 'c')
      }
      expect(metrics.leftOut).toMatchObject({ criteria: 1 / 3 })
    }
    expect([...seen].sort()).toEqual(['a', 'c'])
  })

  it('leaves rubricators as they are', async () => {
    const [plain, dropped] = [await stepOf({}, { script }), await stepOf(dropout, { script })]
    expect(rewardsOf(dropped.rubricators)).toEqual(rewardsOf(plain.rubricators))
    expect(plain.metrics).not.toHaveProperty('leftOut')
  })
})
