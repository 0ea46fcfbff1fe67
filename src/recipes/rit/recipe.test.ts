import { describe, expect, it } from 'vitest'
import type { Policy } from '../../policy/policy.ts'
import type { Graded } from '../../rl/rollout.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { partThinking, type ThinkingVerifier, type VerifierItem } from '../../tasks/thinking.ts'
import { answering } from '../../train/answering-io.fixture.ts'
import { ritSchema } from './config.ts'
import { rit } from './recipe.ts'
import type { RitTask } from './tasks.ts'
import { type RitGrade, underControl } from './thinking.ts'

/** Two criteria about thinking: that it says "good", and, a flaw, that it says "bad". */
const RUBRIC: Rubric = {
  criteria: [
    { id: 'good', text: 'says good', points: 1 },
    { id: 'bad', text: 'says bad', points: -1 },
  ],
}
const ANSWERS: Rubric = { criteria: [{ id: 'right', text: 'is right', points: 1 }] }

/** Tokens are places in this list; an answer is a number of tenths, which is its score. */
const WORDS = ['<think>', '</think>', 'good', 'bad', 'so', '0', '3', '5', '10', 'hint'] as const
const tokensOf = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map(word => WORDS.indexOf(word as never))
const textOf = (tokens: ArrayLike<number>) => Array.from(tokens, token => WORDS[token]).join(' ')

class WordVerifier implements ThinkingVerifier<number> {
  readonly asked: VerifierItem<number>[] = []
  /** Whether nothing usable is said of an item. */
  fails: (i: number) => boolean = () => false

  async verify(items: readonly VerifierItem<number>[]): Promise<Verdict[][]> {
    this.asked.push(...items)
    return items.map(({ response, rubric, problem }, i) =>
      rubric.criteria.map(({ id }) => ({
        criterionId: id,
        // Thinking about problem 1 is good where it says "so": another problem has other good thinking.
        met: this.fails(i)
          ? null
          : response.thinking.split(' ').includes(problem === 1 && id === 'good' ? 'so' : id),
        source: 'llm',
      })),
    )
  }
}

/** @param judged whether a judge says something of answers; absent: rules do */
const ritTaskOf = (verifier: WordVerifier, judged?: boolean): RitTask<number> => ({
  task: {
    ...{ train: [0, 1], tests: { test: [0] }, label: 'numbers', notes: [] },
    id: problem => `problem ${problem}`,
    question: problem => `what of ${problem}?`,
    prompt: (problem, hints = []) => [problem, ...hints.map(() => WORDS.indexOf('hint'))],
    show: textOf,
    rubric: () => ANSWERS,
    grade: async items =>
      items.map(({ tokens }) => {
        const { answer, closed } = partThinking(textOf(tokens))
        if (judged !== undefined) {
          const met = judged ? answer === '10' : null
          const verdicts = [{ criterionId: 'right', met, source: 'llm' as const }]
          return { score: met === null ? null : Number(met), verdicts, wellFormed: closed }
        }
        return {
          score: closed ? Number(answer) / 10 : 0,
          verdicts: [{ criterionId: 'right', met: closed && answer === '10', source: 'rule' }],
          wellFormed: closed,
        }
      }),
    thinking: { read: tokens => partThinking(textOf(tokens)), bank: RUBRIC.criteria },
  },
  verifier,
  truth: verifier,
  stepVerdicts: async items =>
    items.map(({ response }) =>
      response.thinking
        .split(' ')
        .filter(Boolean)
        .map(word => word === 'good'),
    ),
  close: async () => {},
})

const learnt = async (
  texts: readonly string[],
  more: Record<string, unknown> = {},
  {
    rubric = RUBRIC,
    verifier = new WordVerifier(),
    problems = [0],
    judged,
  }: { rubric?: Rubric; verifier?: WordVerifier; problems?: readonly number[]; judged?: boolean } = {},
) => {
  const config = ritSchema.parse({
    rollout: { prompts: 1, samples: texts.length, maxTokens: 9 },
    dropZero: false,
    ...more,
  })
  const recipe = rit(config, {
    policy: {} as Policy,
    problem: index => index,
    ritTask: ritTaskOf(verifier, judged),
    rubricOf: () => rubric,
    evaluate: async () => [],
  })
  const rolled = await recipe.rollOut(1, answering([texts.map(tokensOf)], problems))
  return { lesson: await recipe.learn(1, rolled), recipe, verifier }
}
const rewardsOf = ({ lesson }: Awaited<ReturnType<typeof learnt>>) =>
  lesson.rollouts.map(({ reward }) => reward)

/** Thinking of .5 (the flaw is absent), 1, 0 and 1; responses of 1, .3, .5 and 0. */
const FOUR = [
  '<think> so </think> 10',
  '<think> good </think> 3',
  '<think> bad </think> 5',
  'good </think> 0',
]

describe('the reward', () => {
  it('scores thinking by another rule, by groups of criteria, and by a judge that errs, where that is set', async () => {
    const paid = async (more: object, texts = FOUR) =>
      rewardsOf(await learnt(texts, { reward: 'thinking', ...more }))
    // One point to be had, and one to be lost.
    expect(await paid({ scoringRule: { name: 'signed' } })).toEqual([0, 1, -1, 1])
    expect(await paid({ flipRate: 1 })).toEqual([0.5, 0, 1, 0])
    const both = ['<think> good bad </think> 10', '<think> good </think> 10']
    expect(await paid({}, both)).toEqual([0.5, 1])
    expect(await paid({ criterionGroups: [{ criteria: ['good'], voidedBy: ['bad'] }] }, both)).toEqual([0, 1])
    await expect(paid({ criterionGroups: [{ criteria: ['god'] }] })).rejects.toThrow('got "god"')
  })

  it('is thinking and response fused, through the gate', async () => {
    const run = await learnt(FOUR, { fusion: { alpha: 0.5, gate: 'min' } })
    expect(rewardsOf(run)).toEqual([0.75, 0.3, 0.25, 0])
    expect(run.lesson.metrics).toMatchObject({
      thinking: 2.5 / 4,
      response: 1.8 / 4,
      rubric: 1.8 / 4,
      reward: 1.3 / 4,
      gateBites: 0.5,
      noRubric: 0,
      thinkingWords: 1,
      thinkingClosed: 1,
      alpha: 0.5,
    })
    expect(run.lesson.metrics.fused).toBeCloseTo((0.75 + 0.65 + 0.25 + 0.5) / 4, 12)
  })

  it.each([
    ['none', [0.75, 0.65, 0.25, 0.5]],
    ['max', [1, 0.65, 0.5, 0.5]],
    ['conditional', [0.75, 0.3, 0.5, 0]],
  ])('through gate %s is %j', async (gate, expected) => {
    const rewards = rewardsOf(await learnt(FOUR, { fusion: { alpha: 0.5, gate } }))
    rewards.forEach((reward, i) => {
      expect(reward).toBeCloseTo(expected[i] as number, 12)
    })
  })

  it('is that of the response alone, or of thinking alone, in the other arms', async () => {
    expect(rewardsOf(await learnt(FOUR, { reward: 'response' }))).toEqual([1, 0.3, 0.5, 0])
    expect(rewardsOf(await learnt(FOUR, { reward: 'thinking' }))).toEqual([0.5, 1, 0, 1])
  })

  it('goes by steps where a process is rewarded: their mean verdict', async () => {
    const run = await learnt(['good bad </think> 10', '</think> 10', 'good good </think> 10'], {
      thinkingBy: 'steps',
      fusion: { alpha: 1 },
    })
    expect(rewardsOf(run)).toEqual([0.5, 0, 1])
  })

  it('is 0 where thinking never ends, and so is the reward of thinking that is not there', async () => {
    const run = await learnt(['good good', '</think> 10'], { fusion: { alpha: 1 } })
    expect(rewardsOf(run)).toEqual([0, 0])
    expect(run.lesson.metrics.thinking).toBe(0.5)
    expect(run.verifier.asked).toHaveLength(1)
  })

  it('falls back on the response without criteria, and counts that', async () => {
    const run = await learnt(FOUR, {}, { rubric: { criteria: [] } })
    expect(rewardsOf(run)).toEqual([1, 0.3, 0.5, 0])
    expect(run.lesson.metrics).toMatchObject({ noRubric: 4, thinking: null, gateBites: 0 })
    expect(run.verifier.asked).toHaveLength(0)
  })

  it('is unknown where nobody could judge thinking, unless that counts as unmet', async () => {
    const verifier = new WordVerifier()
    const asFalse = { fusion: { alpha: 1, nulls: 'as-false' } }
    verifier.fails = () => true
    for (const more of [{}, asFalse])
      await expect(learnt(FOUR, more, { verifier })).rejects.toThrow(
        'judge: expected verdicts on 4 rollouts, got none',
      )
    verifier.fails = i => i > 0
    expect(rewardsOf(await learnt(FOUR, {}, { verifier }))).toEqual([0.75, null, null, null])
    const unmet = await learnt(FOUR, asFalse, { verifier })
    expect(rewardsOf(unmet)).toEqual([0.5, 0, 0, 0])
  })

  it('is the response’s alone also where the judge of thinking, which is paid nothing, fails', async () => {
    const verifier = new WordVerifier()
    verifier.fails = () => true
    expect(rewardsOf(await learnt(FOUR, { reward: 'response' }, { verifier }))).toEqual([1, 0.3, 0.5, 0])
  })

  it('is thinking’s alone whatever the judge of answers, which are paid nothing, says', async () => {
    const steps = { reward: 'thinking', thinkingBy: 'steps' }
    expect(rewardsOf(await learnt(FOUR, steps, { judged: false }))).toEqual([0, 1, 0, 1])
    const verifier = new WordVerifier()
    verifier.fails = () => true
    const asFalse = { reward: 'thinking', fusion: { nulls: 'as-false' } }
    await expect(learnt(FOUR, asFalse, { verifier, judged: true })).rejects.toThrow('got none')
  })
})

describe('controls', () => {
  const thinkingOf = async (control?: string) =>
    (await learnt(FOUR, { reward: 'thinking', ...(control && { control }) })).lesson.rollouts.map(
      ({ reward }) => reward!,
    )

  it('turn thinking round, draw it at random, or pay each response what another one of its group is worth', async () => {
    expect(await thinkingOf('flipped')).toEqual([0.5, 0, 1, 0])
    const random = await thinkingOf('random')
    expect(new Set(random).size).toBe(4)
    expect(await thinkingOf('random')).toEqual(random)
    const shuffled = await thinkingOf('shuffled')
    expect(shuffled.toSorted()).toEqual((await thinkingOf()).toSorted())
    expect(await thinkingOf('shuffled')).toEqual(shuffled)
    const many = Array.from(
      { length: 40 },
      (_, i) => ({ rollout: { key: `${i}` }, grade: { thinking: i } }) as Graded<number, RitGrade>,
    )
    const shuffledBy = (seed: string) =>
      underControl({ control: 'shuffled', seed }, 1, [many])[0].map(({ grade }) => grade.thinking)
    const order = shuffledBy('a')
    expect(order).not.toEqual(many.map(({ grade }) => grade.thinking))
    expect(order).not.toEqual(shuffledBy('b'))
    expect(order.toSorted((a, b) => Number(a) - Number(b))).toEqual(many.map(({ grade }) => grade.thinking))
  })

  it('leave what is told of the answers as it is', async () => {
    const { lesson } = await learnt(FOUR, { control: 'random' })
    expect(lesson.metrics.response).toBeCloseTo(1.8 / 4, 12)
    expect((await lesson.heldOut!).scores).toEqual([1, 0.3, 0.5, 0])
  })
})

describe('advantages', () => {
  const advantagesOf = async (more: Record<string, unknown>) =>
    (await learnt(FOUR, more)).lesson.rollouts.map(({ advantages }) => advantages[0])

  it('are those of the fused reward in the group', async () => {
    const rewards = [0.75, 0.3, 0.25, 0]
    const average = 1.3 / 4
    const spread = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - average) ** 2, 0) / 4)
    const advantages = await advantagesOf({ fusion: { alpha: 0.5 } })
    advantages.forEach((advantage, i) => {
      expect(advantage).toBeCloseTo((rewards[i] - average) / spread, 4)
    })
  })

  it('are normalised part by part where that is asked for: thinking as the gate leaves it, and the response', async () => {
    const z = (values: number[]) => {
      const average = values.reduce((a, b) => a + b) / values.length
      const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - average) ** 2, 0) / values.length)
      return values.map(value => (value - average) / spread)
    }
    const thinking = z([0.5, 0.3, 0, 0])
    const response = z([1, 0.3, 0.5, 0])
    const mixed = z(thinking.map((value, i) => 0.25 * value + 0.75 * response[i]))
    const advantages = await advantagesOf({ normalise: 'part', fusion: { alpha: 0.25, gate: 'min' } })
    advantages.forEach((advantage, i) => {
      expect(advantage).toBeCloseTo(mixed[i], 4)
    })
  })

  it('are the response’s alone without criteria, part by part as well', async () => {
    const [whole, byPart] = await Promise.all(
      ['reward', 'part'].map(async normalise => {
        const settings = { normalise, fusion: { alpha: 1 } }
        const { lesson } = await learnt(FOUR, settings, { rubric: { criteria: [] } })
        return lesson.rollouts.map(({ advantages }) => advantages[0])
      }),
    )
    expect(Math.max(...byPart)).toBeGreaterThan(1)
    byPart.forEach((advantage, i) => {
      expect(advantage).toBeCloseTo(whole[i], 4)
    })
  })
})

describe('the adaptive weight', () => {
  const adaptive = { fusion: { alpha: 0.5, adaptive: { patience: 0 } } }

  it('is the start’s in the first step, and follows what was seen from then on', async () => {
    const { lesson, recipe } = await learnt(FOUR, adaptive)
    expect(lesson.metrics.alpha).toBe(0.5)
    const next = await recipe.learn(2, await recipe.rollOut(2, answering([FOUR.map(tokensOf)], [0])))
    // Here thinking goes against the response: it loses its weight.
    expect(lesson.metrics.correlation).toBeLessThan(0)
    expect(next.metrics.alpha).toBe(0)
  })

  it('goes on after a stop as if there had been none', async () => {
    const one = await learnt(FOUR, adaptive)
    const saved = JSON.parse(JSON.stringify(one.recipe.state!.save()))
    const other = (await learnt(FOUR, adaptive)).recipe
    other.state!.load(saved)
    const rolled = () => other.rollOut(2, answering([FOUR.map(tokensOf)], [0]))
    const [a, b] = [await one.recipe.learn(2, await rolled()), await other.learn(2, await rolled())]
    expect(b.metrics).toEqual(a.metrics)
  })

  it('refuses a checkpoint without a weight', async () => {
    const { recipe } = await learnt(FOUR, adaptive)
    for (const foreign of [{}, { weight: {} }, { weight: { groups: 1 } }])
      expect(() => recipe.state!.load(foreign)).toThrow(/expected weight in it|adaptive weight/)
  })

  it('is no state where the weight stays', async () => {
    expect((await learnt(FOUR)).recipe.state).toBeUndefined()
  })
})

describe('a scaffold', () => {
  it('shows part of the answers’ rubric while exploring, and trains on the plain prompt', async () => {
    const seen: (readonly (readonly ArrayLike<number>[])[] | null | undefined)[] = []
    const config = ritSchema.parse({
      steps: 3,
      rollout: { prompts: 1, samples: 2, maxTokens: 9 },
      scaffold: { decay: { kind: 'constant' } },
    })
    const recipe = rit(config, {
      policy: {} as Policy,
      problem: index => index,
      ritTask: ritTaskOf(new WordVerifier()),
      rubricOf: () => RUBRIC,
      evaluate: async () => [],
    })
    const io = answering([FOUR.slice(0, 2).map(tokensOf)], [0])
    await recipe.rollOut(1, {
      rollOut: request => {
        seen.push(request.sampledFrom)
        return io.rollOut(request)
      },
    })
    expect(seen).toEqual([[[[0, WORDS.indexOf('hint')], [0]]]])
  })
})

describe('settings', () => {
  it('know the paper’s defaults', () => {
    const config = ritSchema.parse({})
    expect(config.fusion).toMatchObject({ alpha: 0.5, gate: 'min', nulls: 'drop', adaptive: null })
    expect(config.rollout.samples).toBe(8)
    expect(config.loss.kl).toEqual({ kind: 'none', coef: 0 })
    expect(config.loss.policy).toMatchObject({ clipLow: 0.2, clipHigh: 0.2 })
  })
})

describe('rubric dropout', () => {
  const MANY: Rubric = {
    criteria: [
      ...['good', 'so', 'hint'].map(id => ({ id, text: `says ${id}`, points: 1 })),
      { id: 'bad', text: 'says bad', points: -1 },
    ],
  }
  const texts = [
    '<think> good </think> 10',
    '<think> so hint bad </think> 10',
    '<think> good so hint </think> 10',
  ]
  const has = texts.map(text => ['good', 'so', 'hint'].map(word => Number(text.split(' ').includes(word))))
  const bad = texts.map(text => Number(text.split(' ').includes('bad')))
  const settings = (more: object = {}) => ({
    rubricDropout: { rate: 0.5, keepAtLeast: 1, ...more },
    reward: 'thinking',
  })

  it('judges all thinking about a problem by the criteria that are left', async () => {
    const run = await learnt(texts, settings(), { rubric: MANY })
    const rows = run.lesson.rollouts.map(({ row }) => row())
    const left = rows.map(({ verdicts }) => verdicts!.findIndex(({ leftOut }) => leftOut))
    expect(new Set(left).size).toBe(1)
    expect(left[0]).toBeGreaterThanOrEqual(0)
    expect(left[0]).toBeLessThan(3)
    const kept = has.map(own => own.filter((_, i) => i !== left[0]))
    rewardsOf(run).forEach((reward, i) => {
      expect(reward).toBeCloseTo((kept[i][0] + kept[i][1] + 1 - bad[i]) / 3, 12)
    })
    const whole = has.map((own, i) => (own[0] + own[1] + own[2] + 1 - bad[i]) / 4)
    expect(run.lesson.metrics.thinkingWhole).toBeCloseTo((whole[0] + whole[1] + whole[2]) / 3, 12)
    expect(run.lesson.metrics.leftOut).toEqual({ criteria: 1 / 4, points: 1 / 3 })
    for (const { verdicts } of rows) expect(verdicts).toHaveLength(5)
  })

  it('asks about these alone where that is said, for the same rewards', async () => {
    const verifier = new WordVerifier()
    const run = await learnt(texts, settings({ ask: 'kept' }), { rubric: MANY, verifier })
    expect(rewardsOf(run)).toEqual(rewardsOf(await learnt(texts, settings(), { rubric: MANY })))
    expect(verifier.asked.map(({ rubric }) => rubric.criteria.length)).toEqual([3, 3, 3])
    expect(run.lesson.metrics).not.toHaveProperty('thinkingWhole')
  })

  it('leaves what the answer is judged by whole', async () => {
    const run = await learnt(texts, { ...settings(), reward: 'fused' }, { rubric: MANY })
    for (const { row } of run.lesson.rollouts)
      expect(row().verdicts!.find(({ criterionId }) => criterionId === 'answer.right')).not.toHaveProperty(
        'leftOut',
      )
  })
})

describe('thinking judged together', () => {
  it('is scored once a problem, by what dropout leaves of the rubric; no score is none', async () => {
    const asked: { thinking: readonly string[]; ids: string[] }[] = []
    const verifier = new WordVerifier()
    const ritTask: RitTask<number> = {
      ...ritTaskOf(verifier),
      groups: {
        alone: true,
        async score(_, responses, { rubric: { criteria } }) {
          const thinking = responses.map(tokens => partThinking(textOf(tokens)).thinking)
          asked.push({ thinking, ids: criteria.map(({ id }) => id) })
          const scores = thinking.map(text => (text === 'bad' ? null : text.length / 10))
          return { scores, explanations: scores.map(() => null), problem: 'unsure', shown: 3, cut: 0 }
        },
      },
    }
    const texts = [
      '<think> good </think> 10',
      '<think> </think> 10',
      '<think> bad </think> 10',
      '<think> so </think> 3',
    ]
    const config = ritSchema.parse({
      thinkingBy: 'group',
      reward: 'thinking',
      rollout: { prompts: 1, samples: 4, maxTokens: 9 },
      dropZero: false,
    })
    const recipe = rit(config, {
      policy: {} as Policy,
      problem: index => index,
      ritTask,
      rubricOf: () => RUBRIC,
      evaluate: async () => [],
    })
    const lesson = await recipe.learn(1, await recipe.rollOut(1, answering([texts.map(tokensOf)], [0])))
    expect(asked).toEqual([{ thinking: ['good', '', 'bad', 'so'], ids: ['good', 'bad'] }])
    expect(lesson.rollouts.map(({ reward }) => reward)).toEqual([0.4, 0, null, 0.2])
    expect(verifier.asked).toEqual([])
    const [first, , third] = lesson.rollouts.map(({ row }) => row())
    expect(first.verdicts![0]).toMatchObject({ criterionId: 'thinking.relative to the group', credit: 0.4 })
    expect(third.verdicts![0]).toMatchObject({ met: null, explanation: 'unsure' })
  })
})
