/** @file Evaluation on rubric scores: mean score, each criterion's satisfaction, format, with intervals over prompts. */

import type { Policy, Sample, SamplingOptions } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { creditOf } from '../../rubric/score.ts'
import type { EvalRow, Interval } from '../../runs/rows.ts'
import type { ScoredResponse, ScoredTask } from '../../tasks/scored-response.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'

export interface ScoreSettings {
  samples: number
  sampling: SamplingOptions
}

const interval = (values: readonly number[]): Interval => {
  const { low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'evaluation' })
  return [low, high]
}

/** Mean credit of each criterion over the responses that have a verdict on it. */
export const satisfaction = (
  responses: readonly Pick<ScoredResponse, 'verdicts' | 'kinds'>[],
): Record<string, number> => {
  const credits = new Map<string, number[]>()
  for (const { verdicts, kinds } of responses)
    for (const verdict of verdicts) {
      const credit = creditOf(verdict)
      if (credit === null) continue
      const name = kinds?.[verdict.criterionId] ?? verdict.criterionId
      const known = credits.get(name)
      if (known) known.push(credit)
      else credits.set(name, [credit])
    }
  return Object.fromEntries([...credits].map(([id, values]) => [id, mean(values)]))
}

/** Share of verdicts that the graders failed to give. */
const nullRate = (responses: readonly ScoredResponse[]): number => {
  const verdicts = responses.flatMap(({ verdicts: own }) => own)
  return verdicts.length > 0 ? mean(verdicts.map(verdict => Number(creditOf(verdict) === null))) : 0
}

interface EvaluatedSet<Problem> {
  set: string
  step: number
  problems: readonly Problem[]
}

/** Samples of every problem, to be scored by one grader or several. */
export const drawResponses = <Problem>(
  policy: Pick<Policy, 'sample'>,
  problems: readonly Problem[],
  { samples, sampling }: ScoreSettings,
  promptOf: (problem: Problem) => TokenIds,
): Promise<Sample[]> =>
  policy.sample({ ...sampling, prompts: problems.map(promptOf), samplesPerPrompt: samples })

/** What a grader says of samples, in their order. */
export const gradeDrawn = <Problem>(
  task: Pick<ScoredTask<Problem>, 'grade'>,
  problems: readonly Problem[],
  drawn: readonly Sample[],
): Promise<ScoredResponse[]> =>
  task.grade(drawn.map(({ prompt, tokens }) => ({ problem: problems[prompt], tokens })))

/** One row of evals.jsonl by one grader. */
export const scoreResponses = async <Problem>(
  task: Pick<ScoredTask<Problem>, 'id' | 'grade'>,
  set: EvaluatedSet<Problem>,
  settings: ScoreSettings,
  drawn: readonly Sample[],
): Promise<EvalRow> => evaluationRow(task, set, settings, drawn, await gradeDrawn(task, set.problems, drawn))

/** One row of evals.jsonl of what a grader said. */
export const evaluationRow = <Problem>(
  task: Pick<ScoredTask<Problem>, 'id'>,
  { set, step, problems }: EvaluatedSet<Problem>,
  { samples, sampling }: ScoreSettings,
  drawn: readonly Sample[],
  responses: readonly ScoredResponse[],
): EvalRow => {
  const items = problems.flatMap((problem, p) => {
    const own = responses.slice(p * samples, (p + 1) * samples)
    const scores = own.flatMap(({ score }) => (score === null ? [] : [score]))
    if (scores.length === 0) return []
    return [{ id: task.id(problem), scores: { rubric: mean(scores) }, criteria: satisfaction(own) }]
  })
  const rubric = items.map(({ scores }) => scores.rubric)
  return {
    step,
    set,
    n: items.length,
    samples,
    temperature: sampling.temperature ?? 1,
    scores: {
      rubric: rubric.length > 0 ? { value: mean(rubric), interval: interval(rubric) } : { value: null },
      wellFormed: { value: mean(responses.map(({ wellFormed }) => Number(wellFormed))) },
    },
    primary: 'rubric',
    scoreNames: { rubric: 'rubric score', wellFormed: 'well formed' },
    responseTokens: mean(drawn.map(({ tokens }) => tokens.length)),
    judgeNullRate: nullRate(responses),
    criteria: satisfaction(responses),
    items,
  }
}
