import { describe, expect, it } from 'vitest'
import { parseSentence } from '../../grade/logic/english.ts'
import type { LogicLabel } from '../../grade/logic/problem.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { encodeSteps } from '../../tasks/logic/format.ts'
import { miniatureFormat } from '../../tasks/logic/prompts.ts'
import { type LogicResponse, logicTask } from '../../tasks/logic/task.ts'
import { LOGIC_TOKENS, LONG_LOGIC_VOCABULARY, tokenId } from '../../tasks/logic/vocabulary.ts'
import { answering } from '../../train/answering-io.fixture.ts'
import { keptRows } from '../../train/update-rows.ts'
import { rubricAsRewardSchema } from './config.ts'
import { controlledTask } from './controls.ts'
import { rubricAsRewardPresets } from './entry.ts'
import { rubricAsReward } from './recipe.ts'

const PREMISES = [
  'Yumpuses are zumpuses.',
  'Every zumpus is not bright.',
  'Each zumpus is a numpus.',
  'Stella is a yumpus.',
]
const PROOF = [
  'Stella is a yumpus.',
  'Yumpuses are zumpuses.',
  'Stella is a zumpus.',
  'Every zumpus is not bright.',
  'Stella is not bright.',
]

const problemOf = (premises: string[], conclusion: string, label: LogicLabel): LogicTaskExample => ({
  id: `test: ${conclusion}`,
  premises,
  premisesFol: premises.map(parseSentence),
  conclusion,
  conclusionFol: parseSentence(conclusion),
  label,
  proof: PROOF,
  source: 'test',
  context: premises.join(' '),
  question: `Is the following statement true or false? ${conclusion}`,
})
const stella = problemOf(PREMISES, 'Stella is bright.', 'False')

type Settings = Parameters<typeof rubricAsRewardSchema.parse>[0]

/** @param spoil changes what the grader says */
const recipeOf = async (
  settings: Settings = {},
  spoil: (said: LogicResponse[]) => void = () => {},
  stream: (index: number) => LogicTaskExample = index => ({ ...stella, id: `problem ${index}` }),
) => {
  const solver = await LogicSolver.start({ backend: 'ground' })
  const config = rubricAsRewardSchema.parse(settings)
  const task = controlledTask({ ...logicTask(miniatureFormat(), solver), stream }, config)
  const spoilt: typeof task = {
    ...task,
    async grade(items) {
      const said = await task.grade(items)
      spoil(said)
      return said
    },
  }
  return { task, ...rubricAsReward(config, { task: spoilt, evaluate: async () => [] }) }
}
type OwnRecipe = Awaited<ReturnType<typeof recipeOf>>
type Responses = readonly (readonly number[])[]

/** What a step with these groups of responses teaches, and tells of it. */
const learnt = async (
  recipe: OwnRecipe,
  responses_P_G: readonly Responses[],
  problems = [stella, stella],
  step = 1,
) => {
  const groups = await recipe.rollOut(step, answering(responses_P_G, problems, 'stop', step))
  const lesson = await recipe.learn(step, groups)
  const all = lesson.rollouts.map(({ advantages }) => advantages).values()
  const advantages = groups.map(group => group.map(() => all.next().value!))
  const rows = lesson.rollouts.map(({ row }) => row())
  return { groups, lesson, advantages, metrics: lesson.metrics, rows, kept: keptRows(step, lesson.rollouts) }
}

const whole = encodeSteps(PROOF, 'False')
const wrongAnswer = encodeSteps(PROOF, 'True')
/** Step 2 is not among the premises and nothing contradicts it; the rest stands. */
const badStep = encodeSteps([PROOF[0], 'Every yumpus is angry.', PROOF[2], PROOF[4]], 'False')
/** The conclusion asserted at once: entailed, but over the heads of the steps between. */
const leap = encodeSteps([PROOF[0], PROOF[4]], 'False')

/** Tokens of one step, its number first: from the number's token to the next number's, or the closing tag. */
const stepTokens = (tokens: readonly number[], step: number): number[] => {
  const from = tokens.indexOf(LOGIC_TOKENS.steps[step])
  const next = tokens.indexOf(LOGIC_TOKENS.steps[step + 1])
  const to = next < 0 ? tokens.indexOf(LOGIC_TOKENS.reasoningClose) : next
  return Array.from({ length: to - from }, (_, i) => from + i)
}

describe('rubric dropout', () => {
  const settings = { condition: 'hybrid', rubricDropout: { rate: 0.4, keepAtLeast: 2 } }
  const leftOut = ({ verdicts }: { verdicts?: { criterionId: string; leftOut?: true }[] }) =>
    verdicts!.flatMap(({ criterionId, leftOut: is }) => (is ? [criterionId] : [])).join()

  it('leaves the same criteria out of all rewards of a problem, others in the next step, and says so', async () => {
    const recipe = await recipeOf(settings)
    const steps = [1, 2, 3, 4, 5, 6]
    const seen = new Set<string>()
    for (const step of steps) {
      const { rows, metrics } = await learnt(recipe, [[whole, wrongAnswer, badStep]], [stella], step)
      expect(new Set(rows.map(leftOut)).size).toBe(1)
      expect(leftOut(rows[0]).split(',')).toHaveLength(2)
      for (const { verdicts } of rows) expect(verdicts).toHaveLength(5)
      expect(metrics.leftOut).toMatchObject({ criteria: 0.4 })
      seen.add(leftOut(rows[0]))
      const plain = await learnt(
        await recipeOf({ condition: 'hybrid' }),
        [[whole, wrongAnswer, badStep]],
        [stella],
      )
      expect(metrics.rewardWhole).toBeCloseTo(plain.metrics.reward as number, 12)
      const share = metrics.rewardShare as Record<string, number>
      for (const id of leftOut(rows[0]).split(',')) expect(share).not.toHaveProperty(id)
    }
    expect(seen.size).toBeGreaterThan(2)
  })
})

describe('credit of whole rollouts', () => {
  it("puts a rollout's advantage on each of its tokens", async () => {
    const recipe = await recipeOf({ condition: 'outcome', advantage: { epsilon: 0 } })
    const { advantages, metrics } = await learnt(recipe, [[whole, wrongAnswer]])
    // Rewards 3 and .75: one standard deviation either side.
    expect([...advantages[0][0]]).toEqual(whole.map(() => 1))
    expect([...advantages[0][1]]).toEqual(wrongAnswer.map(() => -1))
    expect(metrics.reward).toBeCloseTo((3 + 0.75) / 2, 9)
    expect(metrics.accuracy).toBe(0.5)
    expect(metrics.zeroVarianceGroups).toBe(0)
  })

  it('proof pays neither a wrong answer, nor a step too far, nor a leap', async () => {
    const recipe = await recipeOf({ condition: 'proof' })
    const { advantages, metrics } = await learnt(recipe, [[whole, wrongAnswer, badStep, leap]])
    const signs = advantages[0].map(row => Math.sign(row[0]))
    expect(signs).toEqual([1, -1, -1, -1])
    expect(metrics).toMatchObject({ correctAndProved: 0.25, correctAndValid: 0.5, accuracy: 0.75 })
  })

  it('reports the raw criteria, not the weighted ones', async () => {
    const recipe = await recipeOf({ condition: 'rubric' })
    const { metrics } = await learnt(recipe, [[whole, badStep]])
    expect(metrics.criteria).toMatchObject({ C1: 1, C2: (1 + 3.5 / 4) / 2, C3: 1 })
    expect(metrics.reasoningSteps).toBe(4.5)
    expect(metrics.answered).toBe(1)
  })

  it('counts groups whose rollouts are all worth the same', async () => {
    const recipe = await recipeOf({ condition: 'proof' })
    const { advantages, metrics } = await learnt(recipe, [
      [whole, whole],
      [whole, leap],
    ])
    expect(metrics.zeroVarianceGroups).toBe(0.5)
    expect(advantages[0].every(row => row.every(value => value === 0))).toBe(true)
  })
})

describe('credit of single steps', () => {
  const settings = { condition: 'outcome', credit: 'per-step', advantage: { epsilon: 0 } } as const

  it("each step's tokens carry its own verdict, the others the rollout's advantage", async () => {
    // Equal answers: the rollout's own advantage is 0, so what is left is the steps'.
    const recipe = await recipeOf(settings)
    const stray = encodeSteps([PROOF[0], PROOF[1], 'Stella is not a numpus.', PROOF[2]], 'False')
    const { groups, advantages } = await learnt(recipe, [[whole, stray]])
    expect(groups[0][1].grade.grade.steps.map(step => step.credit)).toEqual([1, 1, 0, 1])
    // Nine steps in the group, eight of them worth 1 and one worth 0.
    const [centre, spread] = [8 / 9, Math.sqrt(8) / 9]
    const good = (1 - centre) / spread
    const bad = -centre / spread
    const check = (g: number, tokens: readonly number[], step: number, advantage: number) => {
      const places = stepTokens(tokens, step)
      expect(places.length).toBeGreaterThanOrEqual(4)
      for (const t of places) expect(advantages[0][g][t]).toBeCloseTo(advantage, 5)
    }
    for (const step of PROOF.keys()) check(0, whole, step, good)
    for (const [step, advantage] of [good, good, bad, good].entries()) check(1, stray, step, advantage)
    for (const [g, tokens] of [whole, stray].entries()) {
      const close = tokens.indexOf(LOGIC_TOKENS.reasoningClose)
      for (const t of [0, close, close + 1, close + 2, tokens.length - 1]) expect(advantages[0][g][t]).toBe(0)
    }
  })

  it('a step that is merely consistent earns its half: less than a valid one, more than a contradicted one', async () => {
    const recipe = await recipeOf({ ...settings, stepWeight: 1 })
    const three = encodeSteps([PROOF[0], 'Every yumpus is angry.', 'Stella is not a numpus.'], 'False')
    const { groups, advantages } = await learnt(recipe, [[three, three]])
    expect(groups[0][0].grade.grade.steps.map(({ credit }) => credit)).toEqual([1, 0.5, 0])
    const [valid, consistent, contradicted] = [0, 1, 2].map(
      step => advantages[0][0][stepTokens(three, step)[0]],
    )
    // Credits 1, .5 and 0 have mean .5 and standard deviation sqrt(1/6).
    expect(valid).toBeCloseTo(0.5 * Math.sqrt(6), 5)
    expect(consistent).toBeCloseTo(0, 5)
    expect(contradicted).toBeCloseTo(-0.5 * Math.sqrt(6), 5)
  })

  it("adds the step's share to the rollout's advantage by stepWeight", async () => {
    const responses = [whole, encodeSteps([...PROOF.slice(0, 2), 'Stella is not a numpus.'], 'True')]
    const tokenAdvantages = async (stepWeight: number) => {
      const recipe = await recipeOf({ ...settings, stepWeight })
      return (await learnt(recipe, [responses])).advantages[0][0]
    }
    const [none, one, three] = [await tokenAdvantages(0), await tokenAdvantages(1), await tokenAdvantages(3)]
    const [inside] = stepTokens(whole, 0)
    expect([...none]).toEqual(whole.map(() => 1))
    const close = whole.indexOf(LOGIC_TOKENS.reasoningClose)
    expect(one[0]).toBe(1)
    expect([...one.slice(close)]).toEqual(whole.slice(close).map(() => 1))
    expect(one[inside]).toBeGreaterThan(1)
    expect(three[inside] - 1).toBeCloseTo(3 * (one[inside] - 1), 5)
  })

  it('pays neither a repeated step nor a leap', async () => {
    const recipe = await recipeOf(settings)
    const padded = encodeSteps([PROOF[0], PROOF[0], PROOF[4]], 'False')
    const { advantages } = await learnt(recipe, [[padded]])
    const at = (step: number) => advantages[0][0][stepTokens(padded, step)[0]]
    expect(at(0)).toBeGreaterThan(0)
    expect(at(1)).toBeLessThan(0)
    expect(at(2)).toBeCloseTo(at(1), 5)
  })
})

describe('rollouts without any advantage', () => {
  it.each([
    [{}, 2],
    [{ dropZero: false }, 4],
    [rubricAsRewardPresets.paper.config, 4],
  ])('%j: %i of 4 go into the update', async (settings, count) => {
    const recipe = await recipeOf({
      ...(settings as Record<string, unknown>),
      task: {},
      condition: 'outcome',
    })
    const { lesson } = await learnt(recipe, [
      [whole, whole],
      [whole, wrongAnswer],
    ])
    expect(lesson.phases.map(({ datums }) => datums.length)).toEqual([count])
  })
})

describe('rejection sampling', () => {
  it('takes the rollouts that are correct and proved, with advantage 1, and leaves out the others', async () => {
    const recipe = await recipeOf({ condition: 'proof', method: 'rejection' })
    const { advantages } = await learnt(recipe, [[whole, wrongAnswer, badStep, leap]])
    expect(advantages[0].map(row => [...new Set(row)])).toEqual([[1], [0], [0], [0]])
  })

  it('may learn the same response once, and so many of a problem', async () => {
    const other = encodeSteps(['Each zumpus is a numpus.', ...PROOF], 'False')
    const of = async (accepted: object | undefined) => {
      const settings = { condition: 'proof', method: 'rejection', ...(accepted && { accepted }) }
      const { advantages } = await learnt(await recipeOf(settings), [[badStep, whole, whole, other]])
      return advantages[0].map(row => row[0])
    }
    expect(await of(undefined)).toEqual([0, 1, 1, 1])
    expect(await of({})).toEqual([0, 1, 0, 1])
    expect(await of({ atMost: 1 })).toEqual([0, 1, 0, 0])
    expect(await of({ distinct: false, atMost: 2 })).toEqual([0, 1, 1, 0])
  })

  it('takes one text for one response, however it is cut into tokens', async () => {
    const vocabulary = LONG_LOGIC_VOCABULARY.length
    const phrased = encodeSteps(PROOF, 'False', 'phrased', vocabulary)
    expect(phrased).not.toEqual(whole)
    const settings = { condition: 'proof', method: 'rejection', accepted: {} }
    const { advantages } = await learnt(await recipeOf(settings), [[whole, phrased, badStep]])
    expect(advantages[0].map(row => row[0])).toEqual([1, 0, 0])
  })
})

describe('a control', () => {
  it('turns the reward round, not what is said of answers and proofs', async () => {
    const recipe = await recipeOf({ condition: 'outcome', control: 'flipped' })
    const { advantages, metrics, lesson, rows } = await learnt(recipe, [[whole, wrongAnswer, leap]])
    expect(advantages[0].map(row => Math.sign(row[0]))).toEqual([-1, 1, -1])
    expect(metrics).toMatchObject({ accuracy: 2 / 3, correctAndValid: 2 / 3, correctAndProved: 1 / 3 })
    expect((await lesson.heldOut!).scores).toEqual([1, 0, 0])
    expect(rows.map(({ correct, parts }) => [correct, parts!.C1])).toEqual([
      [true, 0],
      [false, 1],
      [true, 0],
    ])
    expect(rows[1].reward).toBeCloseTo(0.75 * 3, 12)
  })

  it('with another problem’s rubric: gold, answer and correctness belong together', async () => {
    const other = problemOf(PREMISES, 'Stella is not bright.', 'True')
    const recipe = await recipeOf(
      { condition: 'outcome', control: 'shuffled' },
      () => {},
      index => (index === 0 ? stella : other),
    )
    const [drawn] = [recipe.task.stream(0)]
    const { advantages, metrics, rows } = await learnt(recipe, [[whole, wrongAnswer]], [drawn])
    expect(advantages[0].map(row => Math.sign(row[0]))).toEqual([-1, 1])
    expect(metrics).toMatchObject({ accuracy: 0.5, correctAndProved: 0.5 })
    expect(rows.map(({ gold, answer, correct }) => [gold, answer, correct])).toEqual([
      ['False', 'False', true],
      ['False', 'True', false],
    ])
  })

  it.each([
    [{ condition: 'rubric' }, true],
    [{ condition: 'rubric', control: 'random' }, true],
    [{ condition: 'proof', control: 'random' }, true],
    [{ condition: 'proof' }, false],
    [{ condition: 'proof', method: 'rejection' }, false],
  ] as const)('%j: proofs are held out: %s', async (settings, heldOut) => {
    const { lesson } = await learnt(await recipeOf(settings), [[whole]])
    expect(lesson.heldOut !== undefined).toBe(heldOut)
  })
})

describe('bad rollouts are data', () => {
  const { reasoningOpen, reasoningClose, answerOpen, answerClose, answers, steps, eos } = LOGIC_TOKENS
  const is = tokenId(' is')!
  const bad = {
    empty: [],
    'no answer': encodeSteps(PROOF, 'False').slice(0, -4),
    'no reasoning': [answerOpen, answers.False, answerClose, eos],
    'nothing between the tags': [reasoningOpen, reasoningClose, answerOpen, answers.False, answerClose, eos],
    'an unreadable step': [reasoningOpen, steps[0], is, is, reasoningClose, answerOpen, answers.True],
    'a number without a step': [reasoningOpen, steps[0], steps[1], reasoningClose],
    'tokens outside the vocabulary': [9999, 4],
  }

  it.each(Object.entries(bad))('%s', async (_, tokens) => {
    for (const credit of ['scalar', 'per-step'] as const) {
      const recipe = await recipeOf({ condition: 'rubric', credit })
      const { advantages, metrics, kept } = await learnt(recipe, [[tokens, whole]])
      expect(advantages[0].map(row => row.length)).toEqual([tokens.length, whole.length])
      for (const row of advantages[0]) expect(row.every(Number.isFinite)).toBe(true)
      if (tokens.length > 0) expect(advantages[0][0][0]).toBeLessThan(0)
      expect(metrics.correctAndProved).toBe(0.5)
      expect(kept).toHaveLength(2)
    }
  })

  it('an unreadable step is worth nothing and says so', async () => {
    const recipe = await recipeOf()
    const { groups } = await learnt(recipe, [[bad['an unreadable step']]])
    const { grade } = groups[0][0].grade
    expect(grade.steps).toMatchObject([{ status: 'unparsed', credit: 0 }])
    expect(grade.criteria.C2).toBe(0)
    expect(grade.answer).toBe('True')
  })

  it('no answer is wrong, not missing', async () => {
    const recipe = await recipeOf()
    const { metrics } = await learnt(recipe, [[bad['no answer'], whole]])
    expect(metrics).toMatchObject({ accuracy: 0.5, answered: 0.5 })
  })

  it('a problem whose premises contradict each other has no part in rewards and means', async () => {
    const faulty = problemOf([...PREMISES, 'Stella is not a zumpus.'], 'Stella is bright.', 'False')
    const recipe = await recipeOf({ condition: 'rubric' })
    const both = [
      [whole, leap],
      [whole, badStep],
    ]
    const { groups, advantages, metrics, rows } = await learnt(recipe, both, [faulty, stella])
    expect(groups[0].map(({ grade }) => grade.grade.excluded)).toEqual(Array(2).fill('inconsistent-premises'))
    // Nothing is known of it, which is not a zero.
    expect(rows.slice(0, 2).map(({ reward, parts }) => [reward, parts!.C2])).toEqual(
      Array(2).fill([null, null]),
    )
    expect(advantages[0].every(row => row.every(value => value === 0))).toBe(true)
    expect(metrics.correctAndProved).toBe(0.5)
    const alone = await learnt(recipe, [[whole, leap]], [faulty])
    expect(alone.metrics.accuracy).toBeNull()
  })
})

/** As if nothing could be said of a rollout, nor of some criteria of it. */
const leaveOut = (
  said: LogicResponse[],
  place: number,
  excluded: LogicResponse['excluded'],
  unknown: readonly string[],
) => {
  const own = said[place]
  own.grade.excluded = excluded
  said[place] = {
    ...own,
    ...{ excluded, score: null },
    verdicts: own.verdicts.map(verdict =>
      unknown.includes(verdict.criterionId) ? { ...verdict, met: null, credit: undefined } : verdict,
    ),
  }
}

/** As if the solver had crashed on these rollouts. */
const failOn =
  (...places: number[]) =>
  (said: LogicResponse[]) => {
    for (const place of places) {
      const { grade } = said[place]
      leaveOut(said, place, 'solver-failed', ['C2'])
      grade.correctAndProved = false
      for (const step of grade.steps) Object.assign(step, { status: 'failed', credit: null })
    }
  }

describe('a solver that failed is not a zero', () => {
  it.each(['rubric', 'proof', 'rubric_norm'] as const)(
    '%s: the others are as if it were not there',
    async condition => {
      for (const credit of ['scalar', 'per-step'] as const) {
        const failing = await recipeOf({ condition, credit }, failOn(2))
        const { advantages, metrics } = await learnt(failing, [[whole, wrongAnswer, whole]])
        const recipe = await recipeOf({ condition, credit })
        const { advantages: without } = await learnt(recipe, [[whole, wrongAnswer]])
        expect(advantages[0].slice(0, 2)).toEqual(without[0])
        expect(advantages[0][2].every(value => value === 0)).toBe(true)
        expect(metrics).toMatchObject({ correctAndProved: 0.5, accuracy: 0.5 })
        expect((metrics.exploits as Record<string, number>).solverFailed).toBeCloseTo(1 / 3, 12)
      }
    },
  )

  it('shows what is not known as null: reward, C2, valid and proved, and kept last', async () => {
    const recipe = await recipeOf({ condition: 'rubric' }, failOn(1))
    const { rows, kept } = await learnt(recipe, [[whole, leap, badStep]], [stella], 4)
    expect(rows[1]).toMatchObject({ reward: null, parts: { C2: null } })
    expect(rows[1].verdicts!.find(({ criterionId }) => criterionId === 'C2')!.met).toBeNull()
    for (const field of ['valid', 'proved']) expect(rows[1]).not.toHaveProperty(field)
    expect(rows[0]).toMatchObject({ valid: true, proved: true })
    expect(kept.map(({ sample, reward }) => [sample, reward === null])).toEqual([
      [0, false],
      [2, false],
      [1, true],
    ])
  })

  it('on every rollout it ends the run', async () => {
    const recipe = await recipeOf({}, failOn(0, 1))
    await expect(learnt(recipe, [[whole, leap]])).rejects.toThrow(
      'the solver failed on every one of 2 rollouts',
    )
  })
})

it('a response that is too long to be read is no zero either, and is counted', async () => {
  const recipe = await recipeOf({ condition: 'rubric' }, said =>
    leaveOut(said, 1, 'too-long', ['C2', 'C3', 'C4', 'C5']),
  )
  const { metrics, rows } = await learnt(recipe, [[whole, leap]])
  expect(rows[1].reward).toBeNull()
  expect(metrics.exploits).toMatchObject({ tooLong: 0.5, solverFailed: 0 })
})

describe('a NaN reward is a crash', () => {
  it.each(['rubric', 'rubric_norm'] as const)('%s', async condition => {
    const recipe = await recipeOf({ condition }, ([, { verdicts }]) => {
      Object.assign(verdicts[1], { credit: Number.NaN })
    })
    await expect(learnt(recipe, [[whole, leap]])).rejects.toThrow(
      /verdict C2: expected a credit in \[0, 1\], got NaN/,
    )
  })
})

describe('record', () => {
  it('has no advantage for a response without tokens', async () => {
    const recipe = await recipeOf()
    const { rows } = await learnt(recipe, [[whole, []]])
    expect(rows.map(row => [row.tokens === 0, 'advantage' in row])).toEqual([
      [false, true],
      [true, false],
    ])
  })

  it('keeps the best, the worst and one more, with each step and what the grader said of it', async () => {
    const recipe = await recipeOf({ condition: 'proof' })
    const repeated = encodeSteps([PROOF[0], PROOF[0], PROOF[4]], 'False')
    const { kept: rows } = await learnt(recipe, [[whole, repeated, badStep]], [stella], 4)
    expect(rows.map(({ sample, reward }) => [sample, reward])).toEqual([
      [0, 3],
      [2, 0],
      [1, 0],
    ])
    expect(rows[0]).toMatchObject({
      step: 4,
      problemId: stella.id,
      gold: 'False',
      answer: 'False',
      correct: true,
      valid: true,
      finishReason: 'stop',
      tokens: whole.length,
      parts: { C1: 1, C2: 1, C3: 1 },
    })
    expect(rows[0].prompt).toContain('Question: Stella is bright.')
    expect(rows[0].response).toContain('\n5. stella is not bright')
    expect(rows[0].steps?.map(({ status, flags }) => [status, flags])).toEqual([
      ['entailed', ['premise']],
      ['entailed', ['premise']],
      ['entailed', []],
      ['entailed', ['premise']],
      ['entailed', []],
    ])
    expect(rows[1].steps?.map(({ status }) => status)).toEqual([
      'entailed',
      'consistent',
      'entailed',
      'entailed',
    ])
    expect(rows[2].steps?.map(({ flags }) => flags)).toEqual([['premise'], ['premise', 'repeat'], ['skips']])
    expect(rows[2].advantage).toBeLessThan(0)
  })

  it('names none twice', async () => {
    const recipe = await recipeOf({ condition: 'proof' })
    const samplesAt = async (step: number) =>
      (await learnt(recipe, [[whole, leap, badStep]], [stella], step)).kept.map(({ sample }) => sample)
    expect([await samplesAt(1), await samplesAt(2), await samplesAt(3)]).toEqual([
      [0, 2, 1],
      [0, 2],
      [0, 2],
    ])
  })
})

describe('draw and prompt', () => {
  it('a step draws the next problems of the stream, whatever was drawn before', async () => {
    const recipe = await recipeOf({ rollout: { prompts: 3 } })
    const ids = async (step: number) =>
      (await recipe.rollOut(step, answering([[whole], [whole], [whole]]))).map(([{ problem }]) => problem.id)
    expect(await ids(3)).toEqual(['problem 6', 'problem 7', 'problem 8'])
    expect(await ids(1)).toEqual(['problem 0', 'problem 1', 'problem 2'])
  })

  it('prompts with the premises and the question in word-level tokens', async () => {
    const { groups } = await learnt(await recipeOf(), [[whole]])
    const tokens = [...groups[0][0].rollout.prompt]
    expect(tokens[0]).toBe(LOGIC_TOKENS.bos)
    expect(miniatureFormat().read(tokens).text).toMatch(
      /^ yumpuses are zumpuses\..*\nquestion: stella is bright\.$/s,
    )
  })
})
