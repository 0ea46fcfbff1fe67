/** @file `gradus trajectories select`: rejection rules on recorded attempts, and what is left as rows to learn from. */

import { existsSync, realpathSync } from 'node:fs'
import { ROLE_REJECTIONS, roleDemonstrations, TWO_ROLES } from '../../tasks/questions/index.ts'
import {
  demonstrationOf,
  REJECTIONS,
  type RecordingRow,
  readRecording,
  selectTrajectories,
} from '../../tasks/research/index.ts'
import { UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { writeOutput } from '../../util/output-file.ts'
import { readRecorded, recordingKind } from '../../util/recording-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'

export interface SelectOptions {
  out: string
  maxRounds: number
  maxErrors: number
  perQuestion?: number
  rename?: readonly (readonly [name: string, right: string])[]
  json?: boolean
}

const REASONS: Readonly<Record<(typeof REJECTIONS)[number], string>> = {
  'no-answer': 'no answer at the end',
  'no-valid-call': 'a turn before the end without a call that can be read',
  'no-plan': 'no plan',
  'no-rubric': 'a plan without a rubric',
  'no-state-evaluation': 'a later turn without a state evaluation',
  'tool-errors': 'errors of tools in a row',
  'too-many-rounds': 'too many rounds',
}

/** In an order that does not depend on which attempt was over first. */
const sorted = <Row extends { id: string; attempt: number }>(rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.attempt - b.attempt))

/** The shortest so many of each question. */
const fewest = (rows: readonly RecordingRow[], most: number): RecordingRow[] => {
  const byQuestion = new Map<string, RecordingRow[]>()
  for (const row of rows) byQuestion.set(row.id, [...(byQuestion.get(row.id) ?? []), row])
  const kept = new Set(
    [...byQuestion.values()].flatMap(own =>
      own.toSorted((a, b) => a.rounds.length - b.rounds.length).slice(0, most),
    ),
  )
  return rows.filter(row => kept.has(row))
}

/** @throws DataError for a file that is no recording; UsageError for one that would be written over; exit code 1 when nothing is left */
export const selectCommand = (path: string, options: SelectOptions, io: Io): number => {
  const select = recordingKind(path) === TWO_ROLES.kind ? selectRoles : selectResearch
  if (existsSync(options.out) && realpathSync(options.out) === realpathSync(path))
    throw new UsageError(`--out: ${options.out} is the recording itself`, { hint: 'name another file' })
  return select(path, options, io)
}

/** Right answers, and rubrics in form; at most so many of a question and a role, the first ones. */
const selectRoles = (path: string, { out, perQuestion, rename, json }: SelectOptions, io: Io): number => {
  if (rename !== undefined)
    throw new UsageError('--rename: expected nothing for attempts in two roles, which have no tools')
  const { rows } = readRecorded(TWO_ROLES, path, { torn: true })
  const accepted = sorted(rows).flatMap(roleDemonstrations)
  const taken = new Map<string, number>()
  const kept = accepted.filter(({ id, role }) => {
    const before = taken.get(`${role}/${id}`) ?? 0
    taken.set(`${role}/${id}`, before + 1)
    return before < (perQuestion ?? Number.POSITIVE_INFINITY)
  })
  const said = rows.flatMap(({ reasoner, rubricator }) => (rubricator ? [reasoner, rubricator] : [reasoner]))
  const reasons = Object.fromEntries(
    Object.keys(ROLE_REJECTIONS).map(reason => [
      reason,
      said.filter(({ rejected }) => rejected === reason).length,
    ]),
  )
  const of = (role: string) => kept.filter(row => row.role === role).length
  const written = { reasoner: of('reasoner'), rubricator: of('rubricator') }
  if (kept.length > 0) writeOutput(out, kept.map(row => `${JSON.stringify(row)}\n`).join(''))
  if (json) printJson(io, { attempts: rows.length, accepted: accepted.length, written, reasons })
  else {
    io.out.write(
      `${plural(rows.length, 'attempt')}, ${accepted.length} of ${said.length} responses accepted; written: ${written.reasoner} of the reasoner, ${written.rubricator} of the rubricator\n`,
    )
    for (const [reason, words] of Object.entries(ROLE_REJECTIONS))
      if (reasons[reason] > 0) io.out.write(`  ${String(reasons[reason]).padStart(5)}  ${words}\n`)
  }
  return ended(kept.length, out, io)
}

const ended = (kept: number, out: string, io: Io): number => {
  if (kept > 0) return EXIT.ok
  io.err.write(`gradus: nothing is left to learn from; ${out} was not written\n`)
  return EXIT.failed
}

const selectResearch = (path: string, options: SelectOptions, io: Io): number => {
  const { out, maxRounds, maxErrors, perQuestion, rename = [], json } = options
  const { header, rows } = readRecording(path, { torn: true })
  const { accepted, rejected, counts } = selectTrajectories(sorted(rows), {
    ...{ maxRounds, maxErrorsInARow: maxErrors },
    tools: header.tools.map(({ name }) => name),
    toolNames: Object.fromEntries(rename),
  })
  const kept = perQuestion === undefined ? accepted : fewest(accepted, perQuestion)
  if (kept.length > 0)
    writeOutput(out, kept.map(row => `${JSON.stringify(demonstrationOf(row, header))}\n`).join(''))
  const summary = { attempts: rows.length, accepted: accepted.length, rejected: rejected.length }
  if (json) printJson(io, { ...summary, written: kept.length, reasons: counts })
  else {
    const share = rows.length === 0 ? 0 : Math.round((100 * accepted.length) / rows.length)
    io.out.write(
      `${plural(rows.length, 'attempt')}, ${accepted.length} accepted (${share}%), ${kept.length} written\n`,
    )
    for (const reason of REJECTIONS)
      if (counts[reason] > 0) io.out.write(`  ${String(counts[reason]).padStart(5)}  ${REASONS[reason]}\n`)
  }
  return ended(kept.length, out, io)
}
