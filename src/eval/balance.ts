/** @file Balance over labels: an accuracy can hide a model that says True to everything. */

import { DataError } from '../util/errors.ts'

/** One answered item; `predicted` is null where no label could be read, which counts as wrong. */
export interface LabelledAnswer {
  gold: string
  predicted: string | null
}

export interface LabelBalance {
  items: number
  accuracy: number
  /** By gold label: items, correct ones, and their share (recall); null for a label without items. */
  byLabel: Record<string, { items: number; correct: number; accuracy: number | null }>
  /** Mean recall over the labels that occur. */
  macroRecall: number
  /** Lowest recall over the labels that occur. */
  minClassRecall: number
  /** Share of items given each label; `none` is unreadable or none of the labels. */
  predicted: Record<string, number>
  /** Share predicted minus share gold, by label: above 0 the label is favoured. */
  bias: Record<string, number>
  /** `bias` of True: the True-bias; null where True is no label. */
  trueBias: number | null
}

/**
 * Per-label accuracy, recalls, predicted distribution and biases (Rubric as Reward).
 * @throws DataError for no answers, or a gold label that is not among `labels`.
 */
export const labelBalance = (
  answers: readonly LabelledAnswer[],
  labels: readonly string[] = ['True', 'False', 'Unknown'],
): LabelBalance => {
  if (answers.length === 0)
    throw new DataError(
      'labelBalance: expected at least one answer, got none; check that the evaluation produced rows',
    )
  const stray = answers.find(({ gold }) => !labels.includes(gold))
  if (stray)
    throw new DataError(
      `labelBalance: gold label: expected one of ${labels.join(', ')}, got ${JSON.stringify(stray.gold)}; correct the data or pass its labels`,
    )
  const share = (count: number) => count / answers.length
  const byLabel = Object.fromEntries(labels.map(label => [label, recallOf(answers, label)]))
  const said = labels.map(label => answers.filter(({ predicted }) => predicted === label).length)
  const predicted = Object.fromEntries(labels.map((label, i) => [label, share(said[i])]))
  const bias = Object.fromEntries(
    labels.map(label => [label, predicted[label] - share(byLabel[label].items)]),
  )
  const recalls = Object.values(byLabel).flatMap(({ accuracy }) => (accuracy === null ? [] : [accuracy]))
  return {
    items: answers.length,
    accuracy: share(answers.filter(({ gold, predicted: label }) => gold === label).length),
    byLabel,
    macroRecall: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length,
    minClassRecall: Math.min(...recalls),
    predicted: { ...predicted, none: share(answers.length - said.reduce((sum, count) => sum + count, 0)) },
    bias,
    trueBias: bias.True ?? null,
  }
}

const recallOf = (answers: readonly LabelledAnswer[], label: string) => {
  const items = answers.filter(({ gold }) => gold === label)
  const correct = items.filter(({ predicted }) => predicted === label).length
  return { items: items.length, correct, accuracy: items.length > 0 ? correct / items.length : null }
}
