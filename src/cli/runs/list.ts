/** @file `gradus runs`: a line for each run, the newest first. */

import type { Examined, RunExamination } from '../../runs/check-run.ts'
import { findRuns } from '../../runs/find.ts'
import { listRun, unreadableRun } from '../../runs/listing.ts'
import { alignedTable } from '../../runs/report/page-text.ts'
import type { RunListing } from '../../runs/rows.ts'
import { number, percent, plural } from '../../util/format.ts'
import { EXIT, type Io, printJson } from '../io.ts'

const line = ({ name, problems, notes }: Examined): string[] => {
  const remarks = notes.length > 0 ? ` (${notes.join('; ')})` : ''
  return [
    `  ${problems.length === 0 ? 'whole  ' : 'DAMAGED'}  ${name}${remarks}`,
    ...problems.map(problem => `           ${problem}`),
  ]
}

const linesOf = ({ dir, examined, leftovers, lockedBy, resumesFrom, phases }: RunExamination): string[] => [
  dir,
  ...examined.flatMap(line),
  ...leftovers.map(path => `  leftover ${path}: of a killed save; the next start removes it`),
  ...(lockedBy === null ? [] : [`  being written by ${lockedBy}`]),
  `  --resume goes on from ${resumesFrom ?? 'nothing: no checkpoint will do'}`,
  ...phases.flatMap(phase => ['', ...linesOf(phase)]),
]

/** An examination as text, a line for each thing. */
export const formatExamination = (found: RunExamination): string =>
  `${linesOf(found).join('\n')}\n\n${found.whole ? 'whole' : 'damaged'}\n`

const scoreText = ({ score }: RunListing): string =>
  score === null ? '–' : `${percent(score.value)} ${score.label}`

const lines = (runs: readonly RunListing[]): string =>
  alignedTable([
    ['run', 'recipe', 'seed', 'status', 'steps', 'last reward', 'last evaluation', 'begun'],
    ...runs.map(run => [
      run.dir,
      [run.recipe, run.preset].filter(part => part !== null).join(' ') || '–',
      String(run.seed ?? '–'),
      run.status,
      run.steps === null ? String(run.step) : `${run.step}/${run.steps}`,
      number(run.reward),
      scoreText(run),
      run.createdAt.slice(0, 16).replace('T', ' ') || '–',
    ]),
  ])

/**
 * Prints the runs below some folders; a run that cannot be read is a line that says so, printed on stderr, and leaves exit code 1.
 * @throws RunError for a folder without a run
 */
export const listCommand = (folders: readonly string[], { json }: { json?: boolean }, io: Io): number => {
  let code: number = EXIT.ok
  const found = findRuns(folders).map(dir => {
    try {
      return listRun(dir)
    } catch (error) {
      // Whatever it is: one folder may not hide the others.
      const { message } = error as Error
      io.err.write(`${dir}: ${message}\n`)
      code = EXIT.failed
      return unreadableRun(dir, message)
    }
  })
  const runs = found.sort((a, b) => b.createdAt.localeCompare(a.createdAt))
  if (json) printJson(io, runs)
  else io.out.write(`${lines(runs)}\n\n${plural(runs.length, 'run')}\n`)
  return code
}
