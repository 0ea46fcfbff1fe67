/** @file The likeliest answer beside samples, at the start and the end of a training. */

import type { EvalRow } from '../../runs/rows.ts'
import { greedyName } from '../../runs/scores.ts'
import type { Evaluate } from './evaluation.ts'

/** What settles whether and how answers are drawn at random. */
export interface SampledEvaluation {
  greedy: boolean
  samples: number
  temperature: number
}

/** One answer without chance, and nothing that is asked of several or in other ways; keys that a recipe lacks change nothing. */
const GREEDY = {
  ...{ samples: 1, samplesBetween: 1, temperature: 0, topK: 0, topP: 1, bestOf: [] },
  ...{ scaffolded: false, hinted: false, rubrics: 0, reuse: false },
}

/** Whether a second pass is made: samples may be greedy themselves. */
const isBesideGreedy = ({ greedy, samples, temperature }: SampledEvaluation): boolean =>
  greedy && !(temperature === 0 && samples === 1)

/** For the plan's line. */
export const describeGreedy = (evaluation: SampledEvaluation): string =>
  isBesideGreedy(evaluation) ? ' and once greedily' : ''

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
