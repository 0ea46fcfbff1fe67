/** @file Evaluation of rubricem: attempts without memory, and, at start and end, with lessons of a first attempt, of a similar question, of nothing. */

import { type Json, questionHash, type Retrieval, type RubricBank } from '../../memory/index.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Rollout } from '../../rl/rollout.ts'
import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalItem, EvalRow, MetricGroup } from '../../runs/rows.ts'
import { StepRollouts } from '../../train/rollout.ts'
import { mean } from '../../util/statistics.ts'
import { scoresOf } from '../common/item-scores.ts'
import { testProblems } from '../common/test-problems.ts'
import { samplingOf } from '../common/training.ts'
import { type RubricemConfig, topOf } from './config.ts'
import type { RubricemKit } from './kit.ts'
import type { Lessons } from './research-task.ts'
import { shownLessons } from './rows.ts'

/** What is evaluated: by where lessons come from (spec 5.7, inference reuse). */
export const REUSE_SETS = { plain: 'unseen', within: 'within', cross: 'cross', placebo: 'placebo' } as const

export type EvaluationParts<Question, Takeaways extends Json> = Pick<
  RubricemKit<Question, Takeaways>,
  'task' | 'test' | 'siblingOf' | 'placeboOf' | 'opinion'
> & {
  policy: Policy
  /** Where similar questions come from, if the task names none itself. */
  bank?: RubricBank<Takeaways> | null
}

type Own<Question, Takeaways extends Json> = EvaluationParts<Question, Takeaways> & {
  config: RubricemConfig
  step: number
}

export const evaluation =
  <Question, Takeaways extends Json>(config: RubricemConfig, parts: EvaluationParts<Question, Takeaways>) =>
  async (step: number, last: boolean): Promise<EvalRow[]> => {
    const own = { ...parts, config, step }
    const questions = parts.test.slice(0, testProblems(config, step, last))
    const plain = await attempt(own, questions, null)
    const rows = [await rowOf(own, REUSE_SETS.plain, questions, plain)]
    if (!config.evaluation.reuse || (step > 0 && !last)) return rows
    return [...rows, ...(await reuseRows(own, questions, plain))]
  }

/** Attempts at every question, by sample; the same streams for every set, so that sets are compared pair by pair. */
const attempt = async <Question, Takeaways extends Json>(
  { policy, task, config }: Own<Question, Takeaways>,
  questions: readonly Question[],
  references: readonly (Retrieval<Takeaways> | null)[] | null,
): Promise<Rollout[][]> => {
  const { samples, temperature } = config.evaluation
  const io = new StepRollouts(policy, { seed: 'evaluation', step: 0 })
  const groups = await io.rollOut<Question, null>({
    ...{ problems: questions, samples, ratio: 'sampled' as const },
    prompt: question => task.prompt(question, null),
    sampledFrom: references?.map((found, p) => {
      const shown = task.prompt(questions[p], found)
      return Array.from({ length: samples }, () => shown)
    }),
    sampling: { ...samplingOf(config, task.stopTokens), temperature, stopStrings: task.stopStrings },
    environment: { world: task.world, limits: task.limits },
    grade: async items => items.map(() => null),
  })
  return groups.map(group => group.map(({ rollout }) => rollout))
}

/** What the policy says of its own attempts, one reflection each; null where it is not in the format. */
const lookBack = async <Question, Takeaways extends Json>(
  { policy, task, config }: Own<Question, Takeaways>,
  questions: readonly Question[],
  attempts: readonly (readonly Rollout[])[],
): Promise<(Lessons<Takeaways> | null)[]> => {
  const { temperature, maxTokens } = config.reflection
  const drawn = await policy.sample({
    ...{ temperature, maxTokens, samplesPerPrompt: 1, seed: 'evaluation/reflections' },
    prompts: questions.map((question, p) => task.reflectorPrompt(question, attempts[p][0])),
    stopTokens: [...task.reflectorStopTokens],
  })
  return drawn.map(({ tokens, finishReason }, p) => {
    const lessons = finishReason === 'length' ? null : task.readReflection(tokens)
    return lessons && task.kept(questions[p], lessons, `evaluation/${p}`)
  })
}

const retrievalOf = <Takeaways extends Json>(
  question: string,
  lessons: Lessons<Takeaways> | null,
  how: 'within' | 'cross',
): Retrieval<Takeaways> => ({
  question,
  items: lessons
    ? [{ item: { ...lessons, qHash: questionHash(question), question, u: 0, step: 0 }, how, score: 1 }]
    : [],
  fellBack: lessons === null,
})

const reuseRows = async <Question, Takeaways extends Json>(
  own: Own<Question, Takeaways>,
  questions: readonly Question[],
  plain: readonly (readonly Rollout[])[],
): Promise<EvalRow[]> => {
  const { task, siblingOf, placeboOf, bank, config } = own
  const rows: EvalRow[] = []
  const evaluateWith = async (set: string, references: readonly Retrieval<Takeaways>[]) => {
    const attempts = await attempt(own, questions, references)
    rows.push(await rowOf(own, set, questions, attempts, references))
  }
  const showing = (shown: readonly (Lessons<Takeaways> | null)[], how: 'within' | 'cross') =>
    questions.map((question, p) => retrievalOf(task.question(question), shown[p], how))
  const lessons = await lookBack(own, questions, plain)
  await evaluateWith(REUSE_SETS.within, showing(lessons, 'within'))
  if (siblingOf) {
    const siblings = questions.map(siblingOf)
    const attempts = await attempt(own, siblings, null)
    await evaluateWith(REUSE_SETS.cross, showing(await lookBack(own, siblings, attempts), 'cross'))
  } else if (bank && bank.size > 0) {
    const asked = questions.map(question => task.question(question))
    await evaluateWith(REUSE_SETS.cross, await bank.retrieve(asked, { mode: 'cross', top: topOf(config) }))
  }
  if (placeboOf) {
    const nothing = lessons.map((each, p) => each && placeboOf(each, String(p)))
    await evaluateWith(REUSE_SETS.placebo, showing(nothing, 'within'))
  }
  return rows
}

/** Scores in words, where the name is not the word. */
const SCORE_NAMES = {
  right: 'right answers',
  f1: 'words shared with the right answer',
  opinion: "answers by the judge's rubrics",
  answered: 'answered',
  effort: 'calls, of those allowed',
  wellFormed: 'keeps to the scaffold',
  referred: 'was shown a lesson',
}

/** What is known of the attempts at a question: for certain, and, where that leaves the answer open, by the judge. */
const scoresAt = async <Question, Takeaways extends Json>(
  { task, opinion }: Own<Question, Takeaways>,
  question: Question,
  attempts: readonly Rollout[],
): Promise<MetricGroup> => {
  const truths = attempts.map(own => task.truth?.(question, own) ?? {})
  const names = Object.keys(truths[0] ?? {})
  const known = Object.fromEntries(names.map(name => [name, mean(truths.map(own => own[name]))]))
  if ('right' in known || !opinion) return known
  const said = (await opinion(question, attempts)).filter(each => each !== null)
  return { opinion: said.length > 0 ? mean(said) : null, ...known }
}

/** @param references what the attempts were shown; absent: attempts without memory */
const rowOf = async <Question, Takeaways extends Json>(
  own: Own<Question, Takeaways>,
  set: string,
  questions: readonly Question[],
  attempts: readonly (readonly Rollout[])[],
  references?: readonly Retrieval<Takeaways>[],
): Promise<EvalRow> => {
  const { task, config, step } = own
  const { samples, temperature } = config.evaluation
  const scores = await Promise.all(
    questions.map(async (question, p) => ({
      ...(await scoresAt(own, question, attempts[p])),
      // Without it nobody could tell lessons that do not help from such as could not be read.
      ...(references && { referred: Number(references[p].items.length > 0) }),
    })),
  )
  const items = questions.map((question, p): EvalItem => ({ id: task.name(question), scores: scores[p] }))
  const names = [...new Set(scores.flatMap(each => Object.keys(each)))]
  const row: EvalRow = {
    ...{ step, set, n: items.length, samples, temperature },
    scores: scoresOf(items, names),
    primary: ['right', 'opinion'].find(name => names.includes(name)) ?? names[0] ?? 'right',
    scoreNames: SCORE_NAMES,
    responseTokens: mean(attempts.flat().map(({ tokens }) => tokens.length)),
    items,
  }
  const firsts = new Map(questions.map((question, p) => [task.name(question), { question, p }]))
  return withSamples(row, id => {
    const { question, p } = firsts.get(id)!
    const first = attempts[p].at(0)
    if (first === undefined) return null
    const known = task.truth?.(question, first)
    return {
      prompt: task.question(question),
      response: task.text(first),
      reward: known?.[row.primary] ?? null,
      ...(known && { parts: known }),
      tokens: first.tokens.length,
      finishReason: first.end,
      ...(references && { lessons: shownLessons(task, references[p]) }),
    }
  })
}
