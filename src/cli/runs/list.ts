/** @file `gradus runs`: a line for each run, the newest first. */

import { findRuns } from '../../runs/find.ts'
import { listRun, type RunListing, unreadableRun } from '../../runs/listing.ts'
import { comparisonTable } from '../../runs/report/compare.ts'
import { number, percent, plural } from '../../util/format.ts'
import { EXIT, type Io, printJson } from '../io.ts'

const scoreText = ({ score }: RunListing): string =>
  score === null ? '–' : `${percent(score.value)} ${score.label}`

const lines = (runs: readonly RunListing[]): string =>
  comparisonTable([
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
 * Prints the runs below some folders; a run that cannot be read is a line that says so, told on stderr, and leaves exit code 1.
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
