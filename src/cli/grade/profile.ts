/** @file `gradus profile`: how far each criterion is met, with intervals and a picture; or two models side by side. */

import { extname } from 'node:path'
import {
  type CriterionComparison,
  type CriterionProfile,
  compareProfiles,
  isClear,
  profileOf,
} from '../../eval/profile.ts'
import { profileHtml, profileSvg } from '../../eval/profile-picture.ts'
import { mean } from '../../util/descriptive.ts'
import { percent, points } from '../../util/format.ts'
import { bootstrapInterval, type Estimate } from '../../util/intervals.ts'
import { writeOutput } from '../../util/output-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { loadProfileSource, type ProfileSource, type ProfileSourceOptions } from './profile-source.ts'

export interface ProfileCommandOptions extends ProfileSourceOptions {
  against?: string
  svg?: string
  json?: boolean
}

/** @throws DataError, RunError for sources that cannot be used. */
export const profileCommand = async (
  path: string,
  options: ProfileCommandOptions,
  io: Io,
): Promise<number> => {
  const source = await loadProfileSource(path, options)
  const other = options.against === undefined ? null : await loadProfileSource(options.against, options)
  const rows: (CriterionProfile | CriterionComparison)[] = other
    ? compareProfiles(source.table, other.table)
    : profileOf(source.table)
  const shared = rows.some(row => 'sharedItems' in row && row.sharedItems > 0)
  if (other && !shared)
    io.err.write(
      'the two have no item in common; items are matched by id, so there are no paired differences\n',
    )
  if (options.svg) writePicture(options.svg, rows, source, other, io)
  if (options.json) printJson(io, asJson(rows, source, other))
  else io.out.write(`${table(rows, source, other).join('\n')}\n`)
  return EXIT.ok
}

const writePicture = (
  path: string,
  rows: readonly CriterionProfile[],
  source: ProfileSource,
  other: ProfileSource | null,
  io: Io,
): void => {
  const draw = /^\.html?$/.test(extname(path)) ? profileHtml : profileSvg
  const picture = draw(rows, {
    title: other ? 'Rubric profile of two models' : 'Rubric profile',
    name: source.name,
    ...(other && { against: other.name }),
    note: other
      ? 'Dots are means over items, lines 95% bootstrap intervals; differences in points, paired by item.'
      : undefined,
  })
  writeOutput(path, picture)
  io.err.write(`${path} written\n`)
}

/** Means over the samples of each item. */
const itemScores = ({ scores }: ProfileSource): number[] => [...scores.values()].map(values => mean(values))

const scoreOf = (source: ProfileSource): Estimate | null => {
  const scores = itemScores(source)
  return scores.length === 0 ? null : bootstrapInterval(scores, { resamples: 2_000 })
}

const asJson = (
  rows: readonly (CriterionProfile | CriterionComparison)[],
  source: ProfileSource,
  other: ProfileSource | null,
) => ({
  source: source.name,
  ...(other && { against: other.name }),
  score: scoreOf(source),
  ...(other && { againstScore: scoreOf(other) }),
  criteria: rows,
})

const shortened = (text: string, width: number): string =>
  (text.length > width ? `${text.slice(0, width - 1)}…` : text).padEnd(width)

const intervalText = (interval: Estimate | null): string =>
  interval === null
    ? 'no verdicts'
    : `${percent(interval.estimate).padStart(6)}  [${percent(interval.low)}, ${percent(interval.high)}]`

const differenceText = (row: CriterionProfile | CriterionComparison): string => {
  if (!('difference' in row)) return ''
  const { difference, against } = row
  const theirs = `   against ${intervalText(against?.satisfaction ?? null)}`
  if (!difference) return theirs
  const { estimate, low, high } = difference
  return `${theirs.padEnd(38)}   ${points(estimate)} [${points(low)}, ${points(high)}]${isClear(difference) ? ' *' : ''}`
}

const table = (
  rows: readonly (CriterionProfile | CriterionComparison)[],
  source: ProfileSource,
  other: ProfileSource | null,
): string[] => {
  const width = rows.reduce((most, { criterion }) => Math.min(40, Math.max(most, criterion.length)), 0)
  const lines = rows.map(row => {
    const penalty = row.points !== null && row.points < 0 ? '  penalty' : ''
    const nulls = row.nulls > 0 ? `, ${row.nulls} null` : ''
    const own = intervalText(row.satisfaction).padEnd(24)
    return `  ${shortened(row.criterion, width)}  ${own}${differenceText(row)}   ${row.items} items${nulls}${penalty}`
  })
  const score = scoreOf(source)
  return [
    source.name,
    ...(other
      ? [`against ${other.name}; differences in points, paired by item, * where 0 lies outside`]
      : []),
    ...(score
      ? [`mean score ${score.estimate.toFixed(4)} [${score.low.toFixed(4)}, ${score.high.toFixed(4)}]`]
      : []),
    ...lines,
    'means over items with 95% bootstrap intervals; a penalty is met where the flaw is present',
  ]
}
