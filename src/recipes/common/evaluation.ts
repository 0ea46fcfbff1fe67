/** @file Evaluation on rubrics: always the true ones, on problems that training never sees. */

import type { Policy, Sample } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalRow, EvalSample, MetricGroup } from '../../runs/rows.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import { mean } from '../../util/statistics.ts'
import { drawResponses, evaluationRow, gradeDrawn, scoreResponses } from '../checklist/evaluate.ts'
import { agreement } from './criterion-figures.ts'
import { type RubricTask, untoldWords } from './rubric-task.ts'
import { type Evaluated, testProblems } from './test-problems.ts'
import { refuseUndecided } from './undecided.ts'
import { verdictFields } from './verdict-rows.ts'

export type Evaluate = (step: number, last: boolean) => Promise<EvalRow[]>

export interface EvaluationConfig extends Evaluated {
  rollout: { maxTokens: number }
  evaluation: Evaluated['evaluation'] & {
    samples: number
    /** Also with the whole rubric shown, at the start and the end. */
    scaffolded?: boolean
    temperature: number
    topK: number
    topP: number
  }
}

/** Who grades an evaluation, and under which name. */
interface EvaluationGrader<Problem> {
  set: string
  task: Pick<ScoredTask<Problem>, 'id' | 'grade'>
  figures?(): MetricGroup
}

/**
 * On the plain prompt, and where asked for with the whole rubric shown; the start and the end on more problems. A held-out
 * judge that grades evaluations is given the same responses.
 */
export const evaluation =
  <Problem>(config: EvaluationConfig, policy: Policy, task: RubricTask<Problem>): Evaluate =>
  async (step, last) => {
    const { samples, scaffolded = false, temperature, topK, topP } = config.evaluation
    const { truth, figures, heldOut, trainingJudge } = task
    const [[testName, test], ...otherTests] = Object.entries(truth.tests)
    const between = step > 0 && !last
    const count = testProblems(config, step, last)
    const problems = test.slice(0, count)
    const { maxTokens } = config.rollout
    const settings = {
      samples,
      sampling: { maxTokens, temperature, topK, topP, stopTokens: truth.stopTokens, seed: 'evaluation' },
    }
    const draw = async (promptOf: Drawn<Problem>['promptOf']): Promise<Drawn<Problem>> => ({
      promptOf,
      drawn: await drawResponses(policy, problems, settings, promptOf),
    })
    const gradedBy = async (grader: EvaluationGrader<Problem>, { promptOf, drawn }: Drawn<Problem>) => {
      const calls = () => callsOf(grader.figures?.())
      calls()
      const graded = await gradeDrawn(grader.task, problems, drawn)
      const row = evaluationRow(grader.task, { set: grader.set, step, problems }, settings, drawn, graded)
      const kept = withSamples(row, firstResponses(truth, problems, { promptOf, drawn }, graded))
      return { row: { ...kept, ...calls() }, graded }
    }
    const onOther = async (set: string, others: readonly Problem[]) => {
      const drawn = await drawResponses(policy, others, settings, problem => truth.prompt(problem))
      return scoreResponses(truth, { set, step, problems: others }, settings, drawn)
    }
    const plain = await draw(problem => truth.prompt(problem))
    const main = await gradedBy({ set: testName, task: truth, figures }, plain)
    if (step === 0) refuseUndecided(main.graded)
    const rows = [
      trainingJudge ? await withJudge(trainingJudge, main, problems, samples, plain.drawn) : main.row,
    ]
    if (heldOut && heldOut.testName !== null) {
      const second = await gradedBy({ ...heldOut, set: heldOut.testName }, plain)
      rows.push({ ...second.row, agreement: agreement(second.graded, main.graded) })
    }
    if (between) return rows
    for (const [name, others] of otherTests) rows.push(await onOther(name, others.slice(0, count)))
    if (!scaffolded) return rows
    const full = await draw(problem => truth.prompt(problem, truth.rubric(problem).criteria))
    return [...rows, (await gradedBy({ set: 'full scaffold', task: truth, figures }, full)).row]
  }

/** Responses, and what they are responses to. */
interface Drawn<Problem> {
  promptOf(problem: Problem): TokenIds
  drawn: readonly Sample[]
}

/** The first response to a problem with its verdicts, by the problem's name. */
const firstResponses = <Problem>(
  task: ScoredTask<Problem>,
  problems: readonly Problem[],
  { promptOf, drawn }: Drawn<Problem>,
  graded: readonly ScoredResponse[],
): ((id: string) => EvalSample | null) => {
  const firsts = new Map<string, number>()
  for (const [i, { prompt }] of drawn.entries()) {
    const name = task.id(problems[prompt])
    if (!firsts.has(name)) firsts.set(name, i)
  }
  return id => {
    const place = firsts.get(id)
    if (place === undefined) return null
    const { prompt, tokens, finishReason } = drawn[place]
    const { score, verdicts } = graded[place]
    const problem = problems[prompt]
    return {
      prompt: task.show(promptOf(problem)),
      response: task.show(tokens),
      reward: score,
      tokens: tokens.length,
      finishReason,
      ...verdictFields(verdicts, untoldWords(task, problem)),
    }
  }
}

/**
 * A row that also says what training's own judge makes of the same responses, in all and by problem (`judge.train`), and how
 * often it says of a criterion what the row's grader says.
 */
const withJudge = async <Problem>(
  judge: NonNullable<RubricTask<Problem>['trainingJudge']>,
  { row, graded: truth }: { row: EvalRow; graded: readonly ScoredResponse[] },
  problems: readonly Problem[],
  samples: number,
  drawn: readonly Sample[],
): Promise<EvalRow> => {
  const graded = await judge.grade(
    drawn.map(({ prompt, tokens }) => ({ problem: problems[prompt], tokens, key: 'evaluation' })),
  )
  const known = problems.flatMap((problem, p): [string, number][] => {
    const own = graded.slice(p * samples, (p + 1) * samples).flatMap(({ score }) => score ?? [])
    return own.length > 0 ? [[judge.id(problem), mean(own)]] : []
  })
  const byId = new Map(known)
  const value = known.length > 0 ? mean(known.map(([, score]) => score)) : null
  return {
    ...row,
    agreement: agreement(truth, graded),
    scores: { ...row.scores, 'judge.train': { value } },
    scoreNames: { ...row.scoreNames, 'judge.train': "training's judge" },
    items: row.items?.map(item => ({
      ...item,
      scores: { ...item.scores, 'judge.train': byId.get(item.id) ?? null },
    })),
  }
}

/** The calls of the one judge that the figures are about. */
const callsOf = (figures: MetricGroup | undefined): Pick<EvalRow, 'judgeCalls'> => {
  const calls = figures?.judgeCallCount ?? figures?.heldOutJudgeCallCount
  return typeof calls === 'number' ? { judgeCalls: calls } : {}
}
