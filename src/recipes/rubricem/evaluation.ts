/** @file Evaluation of rubricem: attempts without memory, and, at start and end, with lessons of a first attempt, of a similar question, of nothing. */

import { questionHash, type Retrieval, type RubricBank } from '../../memory/index.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Rollout } from '../../rl/rollout.ts'
import type { EvalRow, MetricGroup } from '../../runs/rows.ts'
import { scored } from '../../tasks/scored-response.ts'
import type { ReflectedLessons } from '../../tasks/stages.ts'
import { mainTest, type TaskWith, type Verdicts } from '../../tasks/task.ts'
import { meanKnown } from '../../util/statistics.ts'
import { episodes } from '../common/answers.ts'
import { meanTokens, namesIn, type SetItem, setRow } from '../common/evaluated-set.ts'
import { testProblems } from '../common/evaluation-config.ts'
import { samplingOf } from '../common/training.ts'
import { type RubricemConfig, topOf } from './config.ts'
import { shownLessons } from './metrics.ts'
import { keptLessons } from './reflections.ts'

/** What is evaluated: by where lessons come from (inference reuse). */
export const REUSE_SETS = { plain: 'unseen', within: 'within', cross: 'cross', placebo: 'placebo' } as const

export interface RubricemEvaluationParts<Problem> {
  task: TaskWith<Problem, 'world' | 'stages'>
  policy: Policy
  /** Where similar problems come from, if the task names none itself. */
  bank?: RubricBank | null
}

interface Own<Problem> extends RubricemEvaluationParts<Problem> {
  config: RubricemConfig
  step: number
}

/** @param alone on the main set alone */
export const rubricemEvaluation =
  <Problem>(config: RubricemConfig, parts: RubricemEvaluationParts<Problem>, alone = false) =>
  async (step: number, last: boolean): Promise<EvalRow[]> => {
    const own = { ...parts, config, step }
    const count = testProblems(config, step, last)
    const problems = mainTest(parts.task)[1].slice(0, count)
    const plain = await attempt(own, problems, null)
    const rows = [await rowOf(own, REUSE_SETS.plain, problems, plain)]
    for (const [name, all] of alone ? [] : Object.entries(parts.task.tests).slice(1)) {
      const more = all.slice(0, count)
      const set = `${REUSE_SETS.plain} ${name}`
      rows.push(await rowOf(own, set, more, await attempt(own, more, null)))
    }
    if (!config.evaluation.reuse || (step > 0 && !last)) return rows
    return [...rows, ...(await reuseRows(own, problems, plain))]
  }

/** Attempts at every problem, with the lessons that they are shown. */
const attempt = <Problem>(
  { policy, task, config }: Own<Problem>,
  problems: readonly Problem[],
  references: readonly Retrieval[] | null,
): Promise<Rollout[][]> => {
  const { samples, temperature } = config.evaluation
  const sampling = { ...samplingOf(config, task.stopTokens), temperature }
  const shown = references && ((problem: Problem, p: number) => task.stages.reminded(problem, references[p]))
  return episodes(policy, task, problems, { samples, sampling }, shown)
}

/** What the policy says of its own attempts, one reflection each; null where it is not in the format. */
const lookBack = async <Problem>(
  { policy, task, config }: Own<Problem>,
  problems: readonly Problem[],
  attempts: readonly (readonly Rollout[])[],
): Promise<(ReflectedLessons | null)[]> => {
  const { temperature, maxTokens } = config.reflection
  const { reflector } = task.stages
  const drawn = await policy.sample({
    ...{ temperature, maxTokens, samplesPerPrompt: 1, seed: 'evaluation/reflections' },
    prompts: problems.map((problem, p) => reflector.prompt(problem, attempts[p][0])),
    stopTokens: reflector.stopTokens,
  })
  return drawn.map(({ tokens, finishReason }, p) => {
    const lessons = finishReason === 'length' ? null : reflector.read(problems[p], tokens)
    return lessons && keptLessons(task, config.reflection, lessons, `evaluation/${p}`)
  })
}

const reuseRows = async <Problem>(
  own: Own<Problem>,
  problems: readonly Problem[],
  plain: readonly (readonly Rollout[])[],
): Promise<EvalRow[]> => {
  const { task, bank, config } = own
  const { sibling, placebo } = task.stages
  const asked = problems.map(problem => task.question(problem))
  const rows: EvalRow[] = []
  const evaluateWith = async (set: string, references: readonly Retrieval[]) => {
    const attempts = await attempt(own, problems, references)
    rows.push(await rowOf(own, set, problems, attempts, references))
  }
  const showing = (shown: readonly (ReflectedLessons | null)[], how: 'within' | 'cross') =>
    asked.map((question, p): Retrieval => {
      const lessons = shown[p]
      const item = lessons && { ...lessons, qHash: questionHash(question), question, u: 0, step: 0 }
      return { question, items: item ? [{ item, how, score: 1 }] : [], fellBack: lessons === null }
    })
  const lessons = await lookBack(own, problems, plain)
  await evaluateWith(REUSE_SETS.within, showing(lessons, 'within'))
  if (sibling) {
    const siblings = problems.map(problem => sibling(problem))
    const attempts = await attempt(own, siblings, null)
    await evaluateWith(REUSE_SETS.cross, showing(await lookBack(own, siblings, attempts), 'cross'))
  } else if (bank && bank.size > 0)
    await evaluateWith(REUSE_SETS.cross, await bank.retrieve(asked, { mode: 'cross', top: topOf(config) }))
  if (placebo) {
    const nothing = lessons.map((each, p) => each && placebo(each, `evaluation/${p}`))
    await evaluateWith(REUSE_SETS.placebo, showing(nothing, 'within'))
  }
  return rows
}

/** Scores in words, where the name is not the word. */
export const SCORE_NAMES = {
  right: 'right answers',
  f1: 'words shared with the right answer',
  opinion: "answers by the judge's rubrics",
  answered: 'answered',
  effort: 'calls, of those allowed',
  wellFormed: 'keeps to the scaffold',
  referred: 'was shown a lesson',
}

export const BENCHMARK_SCORES = {
  score: "points of the benchmark's rubric",
  correct: 'correct, says the judge',
  attempted: 'attempted, says the judge',
}

/** Of questions that ask for a set. */
export const SET_SCORES = {
  setF1: 'members of the right set, F1',
  setPrecision: 'what is listed that is right',
  setRecall: 'of the right set what is listed',
}

/** What is known of an attempt at a problem: its answer, for certain or by the judge, and what else is certain; nothing where its world failed. */
export const attemptScores = <Problem>(
  { stages }: Pick<TaskWith<Problem, 'stages'>, 'stages'>,
  { problem, rollout }: { problem: Problem; rollout: Rollout },
  { verdicts, score, scores }: Pick<Verdicts, 'verdicts' | 'scores'> & { score: number | null },
): MetricGroup => {
  const name = verdicts.every(({ source }) => source === 'rule') ? 'right' : 'opinion'
  const known = { ...(scores ?? { [name]: score }), ...stages.truth(problem, rollout) }
  return rollout.end === 'failed' ? Object.fromEntries(Object.keys(known).map(key => [key, null])) : known
}

/** @param references what the attempts were shown; absent: attempts without memory */
const rowOf = async <Problem>(
  own: Own<Problem>,
  set: string,
  problems: readonly Problem[],
  attempts: readonly (readonly Rollout[])[],
  references?: readonly Retrieval[],
): Promise<EvalRow> => {
  const { task, config, step } = own
  const { samples, temperature } = config.evaluation
  const scores_P = await Promise.all(
    problems.map(async (problem, p) => {
      const said = await scored(task).grade(
        attempts[p].map(rollout => ({ problem, tokens: rollout.tokens, rollout })),
      )
      return said.map((graded, i) => attemptScores(task, { problem, rollout: attempts[p][i] }, graded))
    }),
  )
  const items = problems.map((problem, p): SetItem => {
    const [{ tokens, end }] = attempts[p]
    const [parts] = scores_P[p]
    return {
      id: task.id(problem),
      scores: {
        // Of each score what is known of it.
        ...Object.fromEntries(
          Object.keys(parts ?? {}).map(name => [name, meanKnown(scores_P[p].map(each => each[name]))]),
        ),
        // Without it nobody could tell lessons that do not help from such as could not be read.
        ...(references && { referred: Number(references[p].items.length > 0) }),
      },
      first: () => ({
        prompt: task.question(problem),
        response: task.show(tokens),
        ...{ reward: parts[primary] ?? null, parts },
        ...{ tokens: tokens.length, finishReason: end },
        ...(references && { lessons: shownLessons(task, references[p]) }),
      }),
    }
  })
  const names = namesIn(items)
  const further = [BENCHMARK_SCORES, SET_SCORES].filter(own => names.some(name => name in own))
  const scoreNames = Object.assign({}, ...further, SCORE_NAMES)
  const primary = ['right', 'score', 'opinion'].find(name => names.includes(name)) ?? names[0] ?? 'right'
  return setRow({ step, set, samples, temperature }, items, {
    ...{ primary, scoreNames, responseTokens: meanTokens(attempts) },
  })
}
