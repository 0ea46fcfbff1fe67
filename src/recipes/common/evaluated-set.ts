/** @file The row of evals.jsonl that answers to the problems of a set come to. */

import { withSamples } from '../../runs/eval-samples.ts'
import type { EvalItem, EvalRow, EvalSample, Score } from '../../runs/rows.ts'
import type { ScoredTask } from '../../tasks/scored-response.ts'
import { bootstrapInterval, mean } from '../../util/statistics.ts'
import type { Answer, Answers } from './answers.ts'
import { nullRate, satisfaction } from './criterion-metrics.ts'

/** Which set, after which step, and how it was asked. */
type SetHead = Pick<EvalRow, 'step' | 'set' | 'samples' | 'temperature'>

/** A problem of a set, with what its answers come to. */
export interface SetItem extends Omit<EvalItem, 'sample'> {
  /** Its first answer, for reading; the first problems of a set are asked for it. */
  first?(): EvalSample | null
}

/** What a row says beside the scores of its items. */
interface OwnColumns extends Omit<EvalRow, keyof SetHead | 'n' | 'scores' | 'items'> {
  /** Scores of items that the row has; absent: all of them. */
  names?: readonly string[]
  /** Scores of no single problem. */
  scores?: EvalRow['scores']
}

const scored = (values: readonly number[]): Score => {
  if (values.length === 0) return { value: null }
  const { low, high } = bootstrapInterval(values, { resamples: 2000, seed: 'evaluation' })
  return { value: mean(values), interval: [low, high] }
}

/** Means over items with intervals, by name. */
export const scoresOf = (
  items: readonly Pick<EvalItem, 'scores'>[],
  names: readonly string[] = namesIn(items),
): EvalRow['scores'] =>
  Object.fromEntries(names.map(name => [name, scored(items.flatMap(({ scores }) => scores[name] ?? []))]))

/** Names of the scores that some item has. */
export const namesIn = (items: readonly Pick<EvalItem, 'scores'>[]): string[] => [
  ...new Set(items.flatMap(({ scores }) => Object.keys(scores))),
]

/** A row of evals.jsonl: scores are means over the problems that have them. */
export const setRow = (
  { step, set, samples, temperature }: SetHead,
  items: readonly SetItem[],
  { names, scores, primary, ...columns }: OwnColumns,
): EvalRow =>
  withSamples(
    {
      ...{ step, set, n: items.length, samples, temperature },
      scores: { ...scoresOf(items, names), ...scores },
      ...{ primary, ...columns },
      items: items.map(({ first: _, ...item }) => item),
    },
    i => items[i].first?.() ?? null,
  )

/** Mean length of some answers. */
export const meanTokens = (answers_P: readonly (readonly { tokens: Int32Array }[])[]): number =>
  mean(answers_P.flat().map(({ tokens }) => tokens.length))

/** Share of some answers of which something is true, as a score. */
export const answerShare = <Item>(
  answers_P: readonly (readonly Item[])[],
  holds: (item: Item) => boolean,
): Score => ({
  value: mean(answers_P.flat().map(item => Number(holds(item)))),
})

/** The row of answers scored by a rubric. @param first of a problem's answers for reading */
export const scoredRow = <Problem>(
  { id }: Pick<ScoredTask<Problem>, 'id'>,
  head: SetHead,
  answers_P: Answers<Problem>,
  first?: (answer: Answer<Problem>, p: number) => EvalSample,
): EvalRow => {
  const items = answers_P.flatMap((answers, p): SetItem[] => {
    const said = answers.map(own => own.said)
    const scores = said.flatMap(({ score }) => score ?? [])
    if (scores.length === 0) return []
    const item = {
      id: id(answers[0].problem),
      scores: { rubric: mean(scores) },
      criteria: satisfaction(said),
    }
    return [{ ...item, ...(first && { first: () => first(answers[0], p) }) }]
  })
  const said = answers_P.flat().map(own => own.said)
  return setRow(head, items, {
    names: ['rubric'],
    scores: { wellFormed: answerShare([said], ({ wellFormed }) => wellFormed) },
    primary: 'rubric',
    scoreNames: { rubric: 'rubric score', wellFormed: 'well formed' },
    responseTokens: meanTokens(answers_P),
    judgeNullRate: nullRate(said.flatMap(({ verdicts }) => verdicts)) ?? 0,
    criteria: satisfaction(said),
  })
}
