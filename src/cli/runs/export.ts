/** @file `gradus export`: rows of runs as a table, or sent to trackers. */

import { runNames } from '../../runs/compare/groups.ts'
import { csvOf, type ExportedRows, flatRows } from '../../runs/export.ts'
import { findRuns } from '../../runs/find.ts'
import { type TrackerSettings, trackerSchema } from '../../runs/trackers/config.ts'
import { exportRun } from '../../runs/trackers/export.ts'
import { GradusError, UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { writeOutput } from '../../util/output-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'

export interface TrackerOptions {
  csv?: boolean
  out?: string
  json?: boolean
  tensorboard?: string
  /** True: the address is in the environment. */
  mlflow?: string | true
  experiment?: string
  trackio?: string | true
  project?: string
}

const address = (given: string | true): string | null => (given === true ? null : given)

/**
 * The trackers that a command line names; none: a table is wanted.
 * @throws UsageError for options that do not go together
 */
export const trackersOf = (options: TrackerOptions): TrackerSettings[] => {
  const { csv, json, out, tensorboard, mlflow, experiment, trackio, project } = options
  const refuse = (option: string, beside: string): never => {
    throw new UsageError(`${option}: expected it beside ${beside} alone`)
  }
  if (experiment !== undefined && mlflow === undefined) refuse('--experiment', '--mlflow')
  if (project !== undefined && trackio === undefined) refuse('--project', '--trackio')
  const trackers = [
    ...(tensorboard === undefined ? [] : [{ kind: 'tensorboard', folder: tensorboard }]),
    ...(mlflow === undefined ? [] : [{ kind: 'mlflow', uri: address(mlflow), experiment }]),
    ...(trackio === undefined ? [] : [{ kind: 'trackio', uri: address(trackio), project }]),
  ].map(settings => trackerSchema.parse(settings))
  if (csv && json) throw new UsageError('expected either --csv or --json, got both')
  if (trackers.length > 0 && (csv || out !== undefined)) refuse(csv ? '--csv' : '--out', 'a table')
  return trackers
}

/**
 * Delivers each run to each tracker. A run that cannot be delivered is named on stderr, and leaves exit code 1.
 * @throws RunError where there is no run
 */
export const trackerExport = async (
  folders: readonly string[],
  trackers: readonly TrackerSettings[],
  { json }: TrackerOptions,
  io: Io,
): Promise<number> => {
  let code: number = EXIT.ok
  const dirs = findRuns(folders)
  const names = runNames(dirs)
  for (const dir of dirs)
    for (const tracker of trackers) {
      try {
        const exported = await exportRun(dir, tracker, { name: names.get(dir) })
        if (json) printJson(io, exported)
        else {
          const { rows, sent, where, replaced } = exported
          const again = replaced ? '; as a new run, because its rows are others than before' : ''
          io.out.write(`${dir}: ${sent} of ${plural(rows, 'row')} sent to ${where}${again}\n`)
        }
      } catch (error) {
        if (!(error instanceof GradusError)) throw error
        io.err.write(`${dir}: ${error.message}\n`)
        code = EXIT.failed
      }
    }
  return code
}

export interface ExportOptions {
  rows: ExportedRows
  out?: string
  json?: boolean
}

/** @throws RunError where there is no run; DataError for a broken file */
export const exportCommand = (
  folders: readonly string[],
  { rows, out, json }: ExportOptions,
  io: Io,
): number => {
  const dirs = findRuns(folders)
  const flat = flatRows(dirs, rows)
  const text = json ? flat.map(row => `${JSON.stringify(row)}\n`).join('') : csvOf(flat)
  if (out === undefined) io.out.write(text)
  else {
    writeOutput(out, text)
    io.err.write(`${plural(flat.length, 'row')} of ${plural(dirs.length, 'run')} written to ${out}\n`)
  }
  return EXIT.ok
}
