/** @file The breakdown of answers as lines: by label, by source, and what shallow cues would have answered. */

import type { Breakdown } from '../../recipes/common/task-kind.ts'
import { NONE, percent, percentNumber } from '../../util/format.ts'
import { sourceScoreLines } from '../train/by-source.ts'

const share = (value: number | null | undefined): string =>
  value == null ? NONE : percent(value).padStart(6)

const balanceLines = ({ balance }: Breakdown): string[] => {
  if (!balance) return []
  const { macroRecall, minClassRecall, predicted, trueBias } = balance
  const said = Object.entries(predicted).filter(([, value]) => value > 0)
  return [
    `  recall over labels   mean ${percent(macroRecall)}, lowest ${percent(minClassRecall)}`,
    `  answers given        ${said.map(([label, value]) => `${label} ${percent(value)}`).join(', ')}`,
    ...(trueBias === null ? [] : [`  True-bias            ${percentNumber(trueBias)} points`]),
  ]
}

/** @param primary the score that sources are told by, beside right answers */
export const breakdownLines = (breakdown: Breakdown, primary: string): string[] => {
  const { byLabel = {}, baselines, scoreNames = {} } = breakdown
  const scores = Object.fromEntries(Object.keys(scoreNames).map(name => [name, { value: null }]))
  return [
    ...Object.entries(byLabel).map(
      ([label, { n, scores }]) => `  ${`answers to ${label}`.padEnd(20)} ${share(scores.accuracy)} of ${n}`,
    ),
    ...balanceLines(breakdown),
    ...sourceScoreLines({ scores, primary, ...breakdown }),
    ...(baselines ? ['  shallow baselines, answers right:'] : []),
    ...Object.entries(baselines ?? {}).map(
      ([name, { scores }]) => `    ${share(scores.accuracy?.value)}  ${name}`,
    ),
  ]
}
