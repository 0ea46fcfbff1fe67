/** @file `gradus rubric lint`: findings of every rubric of a file, and of the verdicts of a run. */

import type { FormatName, RubricItem } from '../../rubric/formats/index.ts'
import { type LintOptions, lintRubric } from '../../rubric/lint.ts'
import { readRubricsToLint } from '../../rubric/lint-file.ts'
import { countBySeverity, type Finding } from '../../rubric/lint-finding.ts'
import { lintVerdicts } from '../../rubric/lint-verdicts.ts'
import {
  joinRuns,
  parseOutcome,
  parseVerdictRow,
  type VerdictRow,
  verdictsOnOthers,
  withOutcomes,
} from '../../rubric/verdict-rows.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { EXIT, type Io, printJson } from '../io.ts'

export interface LintCommandOptions extends Pick<LintOptions, 'similarity' | 'off' | 'thinking'> {
  format?: FormatName
  verdicts?: string[]
  outcomes?: string
  maxWarnings?: number
  strict?: boolean
  json?: boolean
}

/** A finding with the rubric of the file that it is about. */
interface ItemFinding extends Finding {
  rubric: string
}

/**
 * Prints what is wrong with the rubrics of a file.
 * @throws DataError for files that cannot be used, or verdicts that belong to none of the rubrics.
 */
export const lintCommand = (file: string, options: LintCommandOptions, io: Io): number => {
  if (options.outcomes !== undefined && !options.verdicts)
    throw new UsageError('--outcomes: there are no verdicts to join them with', {
      hint: 'give --verdicts too',
    })
  const { items, leftOut = 0 } = readRubricsToLint(file, options)
  if (leftOut > 0)
    io.err.write(`${plural(leftOut, 'row')} left aside: a prompt alone, whose rubric is in another file\n`)
  const rows = options.verdicts ? readVerdicts(options.verdicts, options.outcomes) : []
  const byRubric = rowsByRubric(items, rows)
  const findings = items.flatMap(({ id, rubric }): ItemFinding[] => {
    const judged = byRubric.get(id)
    const found = [...lintRubric(rubric, options), ...(judged ? lintVerdicts(rubric, judged, options) : [])]
    return found.map(finding => ({ rubric: id, ...finding }))
  })
  const criteria = items.reduce((sum, { rubric }) => sum + rubric.criteria.length, 0)
  const counts = countBySeverity(findings)
  const leftAside = othersOf(items, byRubric)
  if (leftAside.verdicts > 0)
    io.err.write(
      `${plural(leftAside.verdicts, 'verdict')} left aside: on criteria that the rubric does not have (${leftAside.criteria.join(', ')})\n`,
    )
  if (options.json) printJson(io, { rubrics: items.length, criteria, counts, leftAside, findings })
  else io.out.write(`${report(items, criteria, findings)}\n`)
  return exitCode(counts, options)
}

const exitCode = (counts: Record<string, number>, { strict, maxWarnings }: LintCommandOptions): number => {
  if (counts.error > 0) return EXIT.failed
  const allowed = strict ? 0 : (maxWarnings ?? Number.POSITIVE_INFINITY)
  return counts.warning > allowed ? EXIT.belowThreshold : EXIT.ok
}

const readVerdicts = (files: readonly string[], outcomes: string | undefined): VerdictRow[] => {
  const rows = joinRuns(files.map(readRun))
  if (outcomes === undefined) return rows
  const known = someJsonlLines(outcomes, 'outcome').map(({ place, text }) =>
    parseOutcome(parseRow(text, place), place),
  )
  return withOutcomes(rows, known)
}

/** Rows of a run. Those that `gradus grade` could not grade say so and hold no verdicts: they are left out. */
const readRun = (file: string): VerdictRow[] =>
  someJsonlLines(file).flatMap(({ place, text }) => {
    const value = parseRow(text, place)
    const failed = value !== null && typeof value === 'object' && 'error' in value && !('verdicts' in value)
    return failed ? [] : [parseVerdictRow(value, place)]
  })

const rowsByRubric = (
  items: readonly RubricItem[],
  rows: readonly VerdictRow[],
): Map<string, VerdictRow[]> => {
  const byRubric = new Map<string, VerdictRow[]>()
  const known = new Set(items.map(({ id }) => id))
  for (const [index, row] of rows.entries()) {
    const id = items.length === 1 ? items[0].id : row.rubric
    if (id === undefined || !known.has(id))
      throw new DataError(
        `verdicts of response ${row.id ?? index + 1}: expected "rubric" to name one of ${items.length} rubrics, got ${id ?? 'none'}; such as ${JSON.stringify(items[0].id)}`,
      )
    byRubric.set(id, [...(byRubric.get(id) ?? []), row])
  }
  return byRubric
}

/** Most criteria that are named: rows may have thousands. */
const MOST_NAMED = 8

/** Verdicts on criteria that the rubrics do not have, and those criteria. */
const othersOf = (
  items: readonly RubricItem[],
  byRubric: ReadonlyMap<string, VerdictRow[]>,
): { verdicts: number; criteria: string[] } => {
  const counts = items.map(({ id, rubric }) => verdictsOnOthers(rubric, byRubric.get(id) ?? []))
  const ids = [...new Set(counts.flatMap(others => [...others.keys()]))]
  const more = ids.length - MOST_NAMED
  return {
    verdicts: counts.flatMap(others => [...others.values()]).reduce((sum, count) => sum + count, 0),
    criteria: more > 0 ? [...ids.slice(0, MOST_NAMED), `${more} more`] : ids,
  }
}

const report = (items: readonly RubricItem[], criteria: number, findings: readonly ItemFinding[]): string => {
  const blocks = items.flatMap(({ id }) => {
    const own = findings.filter(({ rubric }) => rubric === id)
    if (own.length === 0) return []
    const lines = own.map(
      ({ severity, rule, message, fix }) => `${severity.padEnd(7)} ${rule}: ${message}\n        -> ${fix}`,
    )
    return [[...(items.length > 1 ? [`${id}`] : []), ...lines].join('\n')]
  })
  const { error, warning, info } = countBySeverity(findings)
  const what = `${plural(items.length, 'rubric')}, ${criteria} criteria`
  const total = `${what}: ${plural(error, 'error')}, ${plural(warning, 'warning')}, ${info} info`
  return [...blocks, total].join('\n\n')
}
