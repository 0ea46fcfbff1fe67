/** @file Evaluation on rubrics: always the true ones, on problems that training never sees. */

import type { Policy, Sample } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { EvalRow, EvalSample, MetricGroup } from '../../runs/rows.ts'
import { greedyName } from '../../runs/scores.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import { promptFields } from '../../train/update-rows.ts'
import { meanKnown } from '../../util/statistics.ts'
import { type Answer, type Answers, drawAnswers, drawsOf, gradeSamples } from './answers.ts'
import { agreement } from './criterion-metrics.ts'
import { scoredRow } from './evaluated-set.ts'
import {
  type EvaluationSettings,
  isBesideGreedy,
  type SampledEvaluation,
  testProblems,
} from './evaluation-config.ts'
import { type RubricTask, unloggedCriteria, verdictFields } from './rubric-task.ts'
import { refuseUndecided } from './undecided.ts'

export type Evaluate = (step: number, last: boolean) => Promise<EvalRow[]>

export interface EvaluationConfig {
  steps: number
  rollout: { maxTokens: number }
  /** `scaffolded`: also with the whole rubric shown, at the start and the end. */
  evaluation: Omit<EvaluationSettings, 'every' | 'greedy'> & { scaffolded?: boolean }
}

/** Who grades an evaluation, and under which name. */
interface EvaluationGrader<Problem> {
  set: string
  task: Pick<ScoredTask<Problem>, 'id' | 'grade'>
  metrics?(): MetricGroup
}

/** A row with the answers that it is about. */
interface GradedSet<Problem> {
  row: EvalRow
  answers_P: Answers<Problem>
}

/**
 * On the plain prompt, and where asked for with the whole rubric shown; the start and the end on more problems. A held-out
 * judge that grades evaluations is given the same responses.
 * @param alone the first set, without further judges
 * @example
 * const { arithmetic, scored } = await import('gradus/tasks')
 * const sums = [0, 1].map(i => arithmetic.arithmeticProblem('sums', i))
 * const truth = scored(arithmetic.arithmeticTask({ tests: { sums } }))
 * const tokens = Int32Array.from(arithmetic.ARITHMETIC_PIECES.encode(`\n</think>\nanswer ${arithmetic.answerOf(sums[0])}`))
 * const said = { index: 0, tokens, logprobs: new Float32Array(tokens.length) }
 * const evaluate = evaluation(grpo.schema.parse({}), {
 *   sample: async ({ prompts }) => prompts.map((_, prompt) => ({ ...said, prompt, finishReason: 'stop' })),
 * }, { truth })
 * const [row] = await evaluate(1, false)
 * row.scores[row.primary].value // 0.5
 */
export const evaluation =
  <Problem>(
    config: EvaluationConfig,
    policy: Pick<Policy, 'sample'>,
    task: Omit<RubricTask<Problem>, 'reward' | 'start' | 'close'>,
    alone = false,
  ): Evaluate =>
  async (step, last) => {
    const { samples, scaffolded = false, temperature } = config.evaluation
    const { truth, metrics, heldOut, trainingJudge } = task
    const [[testName, test], ...otherTests] = Object.entries(truth.tests)
    const count = testProblems(config, step, last)
    const problems = test.slice(0, count)
    const headOf = (set: string) => ({ step, set, samples, temperature })
    const draw = (asked: readonly Problem[], promptOf: (problem: Problem) => TokenIds) =>
      drawAnswers(policy, asked, drawsOf(config, truth), promptOf)
    const plain = (problem: Problem) => truth.prompt(problem)
    const gradedBy = async (
      { set, task: grader, metrics: asked }: EvaluationGrader<Problem>,
      drawn: readonly Sample[],
      promptOf = plain,
    ): Promise<GradedSet<Problem>> => {
      // Of the one judge that the metrics are about, since it was last asked.
      const calls = () => {
        const own = asked?.()
        const count = own?.judgeCallCount ?? own?.heldOutJudgeCallCount
        return typeof count === 'number' ? { judgeCalls: count } : {}
      }
      calls()
      const answers_P = await gradeSamples(grader, problems, drawn)
      const first = (answer: Answer<Problem>) => readable(truth, promptOf(answer.problem), answer)
      return { row: { ...scoredRow(grader, headOf(set), answers_P, first), ...calls() }, answers_P }
    }
    const drawn = await draw(problems, plain)
    const main = await gradedBy({ set: testName, task: truth, metrics }, drawn)
    if (step === 0) refuseUndecided(saidIn(main))
    const rows = [trainingJudge && !alone ? await withJudge(trainingJudge, main, problems, drawn) : main.row]
    if (heldOut && heldOut.testName !== null && !alone) {
      const second = await gradedBy({ ...heldOut, set: heldOut.testName }, drawn)
      rows.push({ ...second.row, agreement: agreement(saidIn(second), saidIn(main)) })
    }
    if (step > 0 && !last) return rows
    for (const [set, all] of alone ? [] : otherTests) {
      const others = all.slice(0, count)
      rows.push(scoredRow(truth, headOf(set), await gradeSamples(truth, others, await draw(others, plain))))
    }
    if (!scaffolded) return rows
    const whole = (problem: Problem) => truth.prompt(problem, truth.rubric(problem).criteria)
    const full = await gradedBy(
      { set: 'full scaffold', task: truth, metrics },
      await draw(problems, whole),
      whole,
    )
    return [...rows, full.row]
  }

const saidIn = <Problem>({ answers_P }: Pick<GradedSet<Problem>, 'answers_P'>) =>
  answers_P.flat().map(({ said }) => said)

/** An answer with its verdicts, for reading. */
const readable = <Problem>(
  task: ScoredTask<Problem>,
  prompt: TokenIds,
  { problem, tokens, end, said: { score, verdicts } }: Answer<Problem>,
): EvalSample => ({
  ...promptFields(task.prompt(problem), prompt, each => task.show(each)),
  response: task.show(tokens),
  reward: score,
  tokens: tokens.length,
  finishReason: end,
  ...verdictFields(verdicts, unloggedCriteria(task, problem)),
})

/**
 * A row that also says what training's own judge makes of the same responses, in all and by problem (`judge.train`), and how
 * often it says of a criterion what the row's grader says.
 */
const withJudge = async <Problem>(
  judge: NonNullable<RubricTask<Problem>['trainingJudge']>,
  truth: GradedSet<Problem>,
  problems: readonly Problem[],
  drawn: readonly Sample[],
): Promise<EvalRow> => {
  // An answer's own key: what is drawn for its verdicts, such as which are inverted, is drawn apart from the others'.
  const keyOf = ({ prompt, index }: Sample) => `evaluation/${prompt}/${index}`
  const answers_P = await gradeSamples(judge, problems, drawn, keyOf)
  const scores_P = answers_P.map(answers => meanKnown(answers.map(({ said }) => said.score)))
  const byId = new Map(problems.map((problem, p) => [judge.id(problem), scores_P[p]]))
  const value = meanKnown(scores_P)
  const { row } = truth
  return {
    ...row,
    agreement: agreement(saidIn(truth), saidIn({ answers_P })),
    scores: { ...row.scores, 'judge.train': { value } },
    scoreNames: { ...row.scoreNames, 'judge.train': "training's judge" },
    items: row.items?.map(item => ({
      ...item,
      scores: { ...item.scores, 'judge.train': byId.get(item.id) ?? null },
    })),
  }
}

/** One answer without chance, and nothing that is asked of several or in other ways; keys that a recipe lacks change nothing. */
const GREEDY = {
  ...{ samples: 1, samplesBetween: 1, temperature: 0, topK: 0, topP: 1, bestOf: [] },
  ...{ scaffolded: false, hinted: false, rubrics: 0, reuse: false },
}

/** A row with the primary score of greedy answers to the same problems, also by problem. */
const withGreedy = (row: EvalRow, greedy: EvalRow): EvalRow => {
  const { primary } = greedy
  const name = greedyName(primary)
  const byId = new Map(greedy.items?.map(({ id, scores }) => [id, scores[primary]]))
  return {
    ...row,
    scores: { ...row.scores, [name]: greedy.scores[primary] },
    ...(greedy.judgeCalls !== undefined && { judgeCalls: (row.judgeCalls ?? 0) + greedy.judgeCalls }),
    items: row.items?.map(item => {
      const score = byId.get(item.id)
      return score === undefined ? item : { ...item, scores: { ...item.scores, [name]: score } }
    }),
  }
}

/**
 * Evaluation by samples; at the start and the end its first row also has the primary score of greedy answers, where that is asked for.
 * @param evaluationOf the evaluation by settings; `alone` of the second pass, which no further judge and no other set needs
 */
export const besideGreedy = <Config extends { evaluation: SampledEvaluation }>(
  config: Config,
  evaluationOf: (config: Config, alone: boolean) => Evaluate,
): Evaluate => {
  const sampled = evaluationOf(config, false)
  if (!isBesideGreedy(config.evaluation)) return sampled
  const likeliest = evaluationOf({ ...config, evaluation: { ...config.evaluation, ...GREEDY } }, true)
  return async (step, last) => {
    const [row, ...others] = await sampled(step, last)
    if (step > 0 && !last) return [row, ...others]
    const [greedy] = await likeliest(step, last)
    return [withGreedy(row, greedy), ...others]
  }
}
