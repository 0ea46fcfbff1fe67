/** @file Evaluation of thinking and answers: pass@k or max@k, thinking by the true rubric, judges that training never hears. */

import { bestOfN, judgeGap, passAtK } from '../../eval/index.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Rubric, Verdict } from '../../rubric/criterion.ts'
import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalItem, EvalRow, EvalSample, Score } from '../../runs/rows.ts'
import type { ScoredResponse, ThinkingTask } from '../../tasks/scored-response.ts'
import { mainTest, type Task } from '../../tasks/task.ts'
import type { ThoughtItem } from '../../tasks/thinking.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'
import { drawResponses, satisfaction } from '../checklist/evaluate.ts'
import type { Evaluate } from '../common/evaluation.ts'
import { testProblems } from '../common/test-problems.ts'
import { refuseUndecided } from '../common/undecided.ts'
import type { RitConfig } from './config.ts'
import { judgedFields, wordCount } from './figures.ts'
import { JUDGES, judgedBy, type ScriptedJudge, TRAINING_JUDGE } from './judges.ts'
import type { RitTask } from './task.ts'
import { thinkingScore, verifyThinking } from './thinking.ts'

/** What is asked of the last answers of k. */
const MOST_DRAWS = 8

type Scores = Record<string, number | null>

export interface RitEvaluation<Problem> {
  policy: Policy
  kit: RitTask<Problem>
  /** The rubric of training, used for thinking where nobody knows a true one. */
  rubricOf(problem: Problem): Rubric
  /** Rows that the run has written. */
  earlier(): readonly EvalRow[]
}

/** Answers to the problems of a test, with all that was said of them; samples of a problem stand in a row. */
interface Judged<Problem> {
  problems: readonly Problem[]
  samples: number
  items: readonly (ThoughtItem<Problem> & { key: string; tokens: Int32Array })[]
  answers: readonly ScoredResponse[]
  /** On thinking, by the rubric of `oracleOf`. */
  verdicts: readonly (readonly Verdict[])[]
  oracleOf(problem: Problem): Rubric
}

/** The start and the end on more problems, with more samples, and with all judges. */
export const evaluation =
  <Problem>(config: RitConfig, { policy, kit, rubricOf, earlier }: RitEvaluation<Problem>): Evaluate =>
  async (step, last) => {
    const { task } = kit
    const between = step > 0 && !last
    const [set, test] = mainTest(task)
    const problems = test.slice(0, testProblems(config, step, last))
    const judged = await judgedAnswers(config, { policy, kit, rubricOf }, problems, between)
    const { answers, items, samples } = judged
    if (step === 0) {
      refuseUndecided(answers)
      refuseUndecided(judged.verdicts.map(verdicts => ({ verdicts })))
    }
    const rows = problems.flatMap((_, p) => itemOf(task, judged, p, between))
    const row: EvalRow = {
      ...{ step, set, n: rows.length, samples, temperature: config.evaluation.temperature },
      scores: {
        ...summary(rows.map(withoutTrace)),
        thinkingClosed: { value: mean(items.map(({ response }) => Number(response.closed))) },
        wellFormed: { value: mean(answers.map(({ wellFormed }) => Number(wellFormed))) },
      },
      primary: primaryOf(task),
      scoreNames: SCORE_NAMES,
      responseTokens: mean(items.map(({ tokens }) => tokens.length)),
      criteria: satisfaction(answers),
      items: rows,
    }
    const places = new Map(problems.map((problem, p) => [task.id(problem), p]))
    const kept = withSamples(row, id => {
      const p = places.get(id)
      return p === undefined ? null : firstSample(task, judged, p)
    })
    return [last ? withGap(kept, earlier()) : kept]
  }

const judgedAnswers = async <Problem>(
  config: RitConfig,
  { policy, kit, rubricOf }: Omit<RitEvaluation<Problem>, 'earlier'>,
  problems: readonly Problem[],
  between: boolean,
): Promise<Judged<Problem>> => {
  const { task } = kit
  const { samples: most, samplesBetween, temperature, topK, topP } = config.evaluation
  const samples = between ? samplesBetween : most
  const sampling = {
    ...{ maxTokens: config.rollout.maxTokens, temperature, topK, topP },
    ...{ stopTokens: task.stopTokens, seed: 'evaluation' },
  }
  const drawn = await drawResponses(policy, problems, { samples, sampling }, own => task.prompt(own))
  const items = drawn.map(({ prompt, tokens }, i) => ({
    ...{ problem: problems[prompt], tokens, response: task.thinking.read(tokens) },
    key: `evaluation/${prompt}/${i % samples}`,
  }))
  const oracleOf = (problem: Problem): Rubric => task.thinking.oracle ?? rubricOf(problem)
  const [answers, verdicts] = await Promise.all([
    task.grade(items),
    verifyThinking(kit.truth, items, oracleOf),
  ])
  return { problems, samples, items, answers, verdicts, oracleOf }
}

/** Scores of a problem's answers and thinking; none where nothing is known of any answer. */
const itemOf = <Problem>(
  task: ThinkingTask<Problem>,
  { problems, samples, items, answers, verdicts, oracleOf }: Judged<Problem>,
  p: number,
  between: boolean,
): EvalItem[] => {
  const problem = problems[p]
  const own = Array.from({ length: samples }, (_, i) => p * samples + i)
  const known = own.filter(i => answers[i].score !== null)
  if (known.length === 0) return []
  const thinkingOf = (i: number) => numberOr(thinkingScore(oracleOf(problem), items[i].response, verdicts[i]))
  const thoughts = own.flatMap(i => thinkingOf(i) ?? [])
  const judged = JUDGES.map(judge => {
    const rubric = rubricFor(judge, task, problem)
    const scores = known.flatMap(i => judgedBy(judge, rubric, answers[i].verdicts, items[i].key) ?? [])
    return [judge.name, scores.length > 0 ? mean(scores) : null] as const
  })
  const scores: Scores = {
    ...answerScores(
      task,
      known.map(i => answers[i].score!),
    ),
    thinking: thoughts.length > 0 ? mean(thoughts) : null,
    // Of one trace, so that traces of several policies can be set against each other, also of like length.
    thinkingFirst: thinkingOf(own[0]),
    thinkingWords: wordCount(items[own[0]].response.thinking),
    ...(!between && task.thinking.exact && Object.fromEntries(judged)),
  }
  return [{ id: task.id(problem), scores: present(scores) }]
}

/** A problem's first answer, for reading. */
const firstSample = <Problem>(
  task: ThinkingTask<Problem>,
  { problems, samples, items, answers, verdicts, oracleOf }: Judged<Problem>,
  p: number,
): EvalSample => {
  const problem = problems[p]
  const i = p * samples
  const { score, verdicts: own } = answers[i]
  const { text, answer } = items[i].response
  return {
    ...{ prompt: task.show(task.prompt(problem)), response: text, reward: score, answer },
    ...(task.isBinary && { correct: score === 1 }),
    ...judgedFields(
      { rubric: oracleOf(problem), verdicts: verdicts[i] },
      { rubric: task.rubric(problem), verdicts: own },
    ),
  }
}

/** What a judge looks at: training's at what training pays for. */
const rubricFor = <Problem>(
  judge: ScriptedJudge,
  { rubric, thinking: { heldOutRubric } }: ThinkingTask<Problem>,
  problem: Problem,
): Rubric => (judge === TRAINING_JUDGE ? rubric(problem) : (heldOutRubric ?? rubric(problem)))

/** What the score of an answer is called: right or wrong, or by how much. */
const primaryOf = ({ isBinary }: Pick<Task<never>, 'isBinary'>): string => (isBinary ? 'accuracy' : 'rubric')

const SCORE_NAMES = {
  rubric: 'rubric score',
  wellFormed: 'well formed',
  thinking: 'thinking, by the true rubric',
  thinkingClosed: 'thinking ended',
}

/**
 * Scores of a problem's answers: pass@k of right ones, the best of k of open ones (spec 3.6), by unbiased estimators.
 * @param scores one a sample
 */
const answerScores = ({ isBinary }: Pick<Task<never>, 'isBinary'>, scores: readonly number[]): Scores => {
  const k = Math.min(MOST_DRAWS, scores.length)
  const average = mean(scores)
  if (!isBinary)
    return { rubric: average, 'pass@1': average, [`avg@${k}`]: average, [`max@${k}`]: bestOfN(scores, k) }
  const right = scores.filter(score => score === 1).length
  return {
    accuracy: average,
    'pass@1': average,
    [`avg@${k}`]: average,
    [`pass@${k}`]: passAtK(scores.length, right, k),
  }
}

const numberOr = (score: number | null | 'none'): number | null => (typeof score === 'number' ? score : null)

/** What stands in the items alone: it is about single traces. */
const withoutTrace = ({
  scores: { thinkingFirst: _, thinkingWords: __, ...scores },
  ...item
}: EvalItem): EvalItem => ({
  ...item,
  scores,
})

const present = (scores: Scores): Record<string, number> =>
  Object.fromEntries(
    Object.entries(scores).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  )

/** Mean of each score with its interval over problems. */
const summary = (items: readonly EvalItem[]): Record<string, Score> => {
  const names = [...new Set(items.flatMap(({ scores }) => Object.keys(scores)))]
  return Object.fromEntries(
    names.map(name => {
      const values = items.flatMap(({ scores }) => scores[name] ?? [])
      const { low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'evaluation' })
      return [name, { value: mean(values), interval: [low, high] }]
    }),
  )
}

/** At the end: what training's judge gained beyond judges that it never heard (spec 8.12). */
const withGap = (row: EvalRow, earlier: readonly EvalRow[]): EvalRow => {
  const start = earlier.find(({ step, set }) => step === 0 && set === row.set)
  const change = (name: string): readonly [number, number] | null => {
    const [before, after] = [start?.scores[name]?.value, row.scores[name]?.value]
    return typeof before === 'number' && typeof after === 'number' ? [before, after] : null
  }
  const [train, ...heldOut] = JUDGES.map(({ name }) => change(name))
  const others = heldOut.filter(pair => pair !== null)
  if (!train || others.length === 0) return row
  const { gap, reversals } = judgeGap(train, others)
  return {
    ...row,
    scores: { ...row.scores, 'judge.gap': { value: gap }, 'judge.reversals': { value: reversals } },
  }
}
