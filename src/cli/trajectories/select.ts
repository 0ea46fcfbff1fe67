/** @file `gradus trajectories select`: rejection rules on recorded attempts, and what is left as rows to learn from. */

import { existsSync, realpathSync } from 'node:fs'
import {
  LIST_REJECTIONS,
  listDemonstration,
  ROLE_REJECTIONS,
  roleDemonstrations,
  TWO_ROLES,
  VERDICT_LISTS,
} from '../../tasks/questions/index.ts'
import {
  demonstrationOf,
  type REJECTIONS,
  type RecordingRow,
  readRecording,
  selectTrajectories,
} from '../../tasks/research/index.ts'
import { UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { groupedBy } from '../../util/grouped.ts'
import { writeOutput } from '../../util/output-file.ts'
import { readRecorded, recordingKind } from '../../util/recording-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { refuseGiven } from '../option-values.ts'

export interface SelectOptions {
  out: string
  maxRounds: number
  maxErrors: number
  perQuestion?: number
  rename?: readonly (readonly [name: string, right: string])[]
  rules?: string
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

/** So many rows of each name: the first ones, or those that come first in an order. */
const fewOf = <Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  most = Number.POSITIVE_INFINITY,
  order: (a: Row, b: Row) => number = () => 0,
): Row[] => {
  const groups = [...groupedBy(rows, nameOf).values()]
  const kept = new Set(groups.flatMap(own => own.toSorted(order).slice(0, most)))
  return rows.filter(row => kept.has(row))
}

/** What is told of a selection. */
interface Selected {
  /** Counts, for programs. */
  summary: object
  /** The same for people. */
  line: string
  reasons: Readonly<Record<string, number>>
  /** Reasons in words. */
  words: Readonly<Record<string, string>>
}

const finish = (
  kept: readonly unknown[],
  { out, json }: SelectOptions,
  io: Io,
  { summary, line, reasons, words }: Selected,
): number => {
  if (kept.length > 0) writeOutput(out, kept.map(row => `${JSON.stringify(row)}\n`).join(''))
  if (json) printJson(io, { ...summary, reasons })
  else {
    io.out.write(`${line}\n`)
    for (const [reason, text] of Object.entries(words))
      if (reasons[reason] > 0) io.out.write(`  ${String(reasons[reason]).padStart(5)}  ${text}\n`)
  }
  if (kept.length > 0) return EXIT.ok
  io.err.write(`gradus: nothing is left to learn from; ${out} was not written\n`)
  return EXIT.failed
}

/** @throws DataError for a file that is no recording; UsageError for one that would be written over; exit code 1 when nothing is left */
export const selectCommand = async (path: string, options: SelectOptions, io: Io): Promise<number> => {
  const kind = recordingKind(path)
  const select =
    kind === TWO_ROLES.kind ? selectRoles : kind === VERDICT_LISTS.kind ? selectVerdicts : selectResearch
  if (select !== selectVerdicts)
    refuseGiven(options, ['rules'], 'expected lists of verdicts, as `trajectories roles --verify` records')
  if (select !== selectResearch)
    refuseGiven(options, ['rename'], 'expected research, got attempts in roles that have no tools')
  if (existsSync(options.out) && realpathSync(options.out) === realpathSync(path))
    throw new UsageError(`--out: ${options.out} is the recording itself`, { hint: 'name another file' })
  return select(path, options, io)
}

/** Right answers, and rubrics in form; at most so many of a question and a role, the first ones. */
const selectRoles = (path: string, options: SelectOptions, io: Io): number => {
  const { rows } = readRecorded(TWO_ROLES, path, { torn: true })
  const accepted = sorted(rows).flatMap(roleDemonstrations)
  const kept = fewOf(accepted, ({ id, role }) => `${role}/${id}`, options.perQuestion)
  const said = rows.flatMap(({ reasoner, rubricator }) => (rubricator ? [reasoner, rubricator] : [reasoner]))
  const reasons = Object.fromEntries(
    Object.keys(ROLE_REJECTIONS).map(reason => [
      reason,
      said.filter(({ rejected }) => rejected === reason).length,
    ]),
  )
  const of = (role: string) => kept.filter(row => row.role === role).length
  const written = { reasoner: of('reasoner'), rubricator: of('rubricator') }
  return finish(kept, options, io, {
    summary: { attempts: rows.length, accepted: accepted.length, written },
    line: `${plural(rows.length, 'attempt')}, ${accepted.length} of ${said.length} responses accepted; written: ${written.reasoner} of the reasoner, ${written.rubricator} of the rubricator`,
    ...{ reasons, words: ROLE_REJECTIONS },
  })
}

/** Lists of verdicts that most passes agree with and no rule denies; at most so many of a question. */
const selectVerdicts = async (path: string, options: SelectOptions, io: Io): Promise<number> => {
  const { rules: file, perQuestion } = options
  const { header, rows } = readRecorded(VERDICT_LISTS, path, { torn: true })
  const rules =
    file === undefined
      ? undefined
      : (await import('../../recipes/rlcer/verifiers.ts')).wordRules(file, '--rules')
  const accepted: { question: string; row: object }[] = []
  const reasons = { unreadable: 0, divided: 0, denied: 0 }
  const pairs = groupedBy(sorted(rows), ({ id }) => id)
  for (const passes of pairs.values()) {
    const found = await listDemonstration(passes, { rules, prompt: header.prompt })
    if (typeof found === 'string') reasons[found]++
    else accepted.push({ question: passes[0].question, row: found })
  }
  const kept = fewOf(accepted, ({ question }) => question, perQuestion).map(({ row }) => row)
  return finish(kept, options, io, {
    summary: { pairs: pairs.size, accepted: accepted.length, written: kept.length },
    line: `${plural(pairs.size, 'response')} with a rubric, ${accepted.length} accepted, ${kept.length} written`,
    ...{ reasons, words: LIST_REJECTIONS },
  })
}

const selectResearch = (path: string, options: SelectOptions, io: Io): number => {
  const { maxRounds, maxErrors, perQuestion, rename = [] } = options
  const { header, rows } = readRecording(path, { torn: true })
  const { accepted, rejected, counts } = selectTrajectories(sorted(rows), {
    ...{ maxRounds, maxErrorsInARow: maxErrors },
    tools: header.tools.map(({ name }) => name),
    toolNames: Object.fromEntries(rename),
  })
  const byRounds = (a: RecordingRow, b: RecordingRow) => a.rounds.length - b.rounds.length
  const kept = fewOf(accepted, ({ id }) => id, perQuestion, byRounds)
  const share = rows.length === 0 ? 0 : Math.round((100 * accepted.length) / rows.length)
  return finish(
    kept.map(row => demonstrationOf(row, header)),
    options,
    io,
    {
      summary: {
        ...{ attempts: rows.length, accepted: accepted.length },
        ...{ rejected: rejected.length, written: kept.length },
      },
      line: `${plural(rows.length, 'attempt')}, ${accepted.length} accepted (${share}%), ${kept.length} written`,
      ...{ reasons: counts, words: REASONS },
    },
  )
}
