/** @file What is said of sources in plans, messages and events: rows, weights, and what of a file is not used. */

import type { LeftOutRow } from '../../tasks/logic/loaders.ts'
import { formatInteger, percent, plural } from '../../util/format.ts'
import { testCounts } from './mixture.ts'
import type { OpenSource } from './sources.ts'

/** Rows that a message names; a plan's JSON has all of them. */
const NAMED = 20

const namedRows = (rows: readonly LeftOutRow[]): string => {
  const named = rows.slice(0, NAMED).map(({ id, reason }) => `${id} (${reason})`)
  return [...named, ...(rows.length > NAMED ? [`${rows.length - NAMED} more`] : [])].join('; ')
}

/** What of a source's rows is not used, or not in full. @param use `training` or `test` */
export const describeLeftOut = ({ name, leftOut, doubted }: OpenSource, use: string): string[] => [
  ...(leftOut.length > 0
    ? [`${use} source ${name}: ${plural(leftOut.length, 'row')} left out: ${namedRows(leftOut)}`]
    : []),
  ...(doubted.length > 0
    ? [
        `${use} source ${name}: ${plural(doubted.length, 'row')} whose formulas do not give the label; the answer counts, proofs are not judged: ${namedRows(doubted)}`,
      ]
    : []),
]

/** Where files hold less than a test set of the size asked for takes. */
export const describeSmallerTest = (sources: readonly OpenSource[], most: number): string[] => {
  const counts = testCounts(sources, most)
  const total = counts.reduce((a, b) => a + b, 0)
  if (total === most) return []
  const parts = sources.map(({ name }, s) => `${counts[s]} of ${name}`).join(', ')
  return [`test set: ${total} of ${most} problems (${parts}), the most that the files hold at these weights`]
}

const describePlace = ({ settings, rows, leftOut }: OpenSource): string => {
  if (settings.kind === 'generated') return 'generated'
  if (rows === null) return `${settings.path} (not there yet: put the rows into this file)`
  const part = settings.part === undefined ? '' : `, part ${settings.part}`
  return `${settings.path}${part}, ${plural(rows.length, 'row')}${leftOut.length > 0 ? `, ${formatInteger(leftOut.length)} left out` : ''}`
}

/** A plan's lines about some sources. */
export const describeSources = (title: string, sources: readonly OpenSource[]): string[] => {
  const sum = sources.reduce((total, { weight }) => total + weight, 0)
  return sources.flatMap(source => [
    `${title.padEnd(12)} ${percent(source.weight / sum)} ${source.name}: ${describePlace(source)}`,
    ...describeLeftOut(source, title).map(line => `${''.padEnd(12)} ${line}`),
  ])
}

/** The same for machines. */
export const sourceSizes = (sources: readonly OpenSource[]) =>
  sources.map(({ name, weight, settings, rows, leftOut }) => ({
    name,
    weight,
    kind: settings.kind,
    ...('path' in settings && { path: settings.path }),
    rows: rows?.length ?? null,
    leftOut,
  }))
