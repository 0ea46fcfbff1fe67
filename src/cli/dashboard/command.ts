/** @file `gradus dashboard`: options and help; the work is in the modules that it loads when it runs. */

import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { ResultReaders } from '../../serve/dashboard/index.ts'
import { UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { firstInterrupt } from '../interrupts.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { assertNotOpen, keyOf, port, serverLog } from '../serve/options.ts'

interface DashboardCommandOptions {
  host: string
  port: number
  tokenEnv?: string
  control?: boolean
  json?: boolean
  withParent?: boolean
}

/** Where runs and results of experiments lie when nothing is said. */
const USUAL_FOLDERS = ['runs', 'results']

const HELP = `
RUNS are folders of runs, folders that hold some, and results of experiments; runs/ and results/ when nothing is named.
Runs that are being written are shown as they go on. Nothing is sent anywhere. Nothing is written into a
run but what somebody with the printed token asks of it (control.jsonl) or chooses (preferences.jsonl).

Examples:
  $ gradus dashboard
  $ gradus dashboard runs/rit-quick-seed1
  $ GRADUS_TOKEN=... gradus dashboard --host 0.0.0.0 --token-env GRADUS_TOKEN`

/** Adds `gradus dashboard` to the program. `done` receives the exit code. */
export const addDashboardCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('dashboard')
    .summary('look at runs while they train')
    .description('Serves a page of runs, their rollouts and experiments, until it is told to stop.')
    .argument('[runs...]', 'folders')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <n>', 'port; 0 takes a free one', port, 8710)
    .option('--token-env <name>', 'environment variable with the token that readers must send')
    .option(
      '--no-control',
      'a page to look at alone: nobody can pause, save or stop a run, or choose between pairs',
    )
    .option('--json', 'print the address as JSON')
    .addOption(new Option('--with-parent', 'ends with the process that started it').hideHelp())
    .addHelpText('after', HELP)
    .action(async (runs: string[], options: DashboardCommandOptions) =>
      done(await dashboard(runs, options, io)),
    )
}

/** @throws UsageError where there is nothing to show */
const foldersOf = (named: readonly string[]): readonly string[] => {
  if (named.length > 0) return named
  const usual = USUAL_FOLDERS.filter(name => existsSync(name))
  if (usual.length === 0)
    throw new UsageError('expected a folder runs/ or results/ here, found none', {
      hint: 'name the folders of runs, or train first: gradus train rubric-as-reward',
    })
  return usual
}

const dashboard = async (
  named: readonly string[],
  options: DashboardCommandOptions,
  io: Io,
): Promise<number> => {
  const { host, port } = options
  const token = keyOf('--token-env', options.tokenEnv)
  assertNotOpen(host, token, '--token-env')
  const folders = foldersOf(named)
  const { newControlToken, startDashboard } = await import('../../serve/dashboard/index.ts')
  const { keepGoing } = await import('../../serve/http/guards.ts')
  const log = { ...serverLog(io), refused: () => {} }
  const controlToken = options.control === false ? null : newControlToken()
  const slimCharts = async (folder: string) =>
    (await import('../../experiments/results/slim-runs.ts')).slimCharts(folder)
  const readExperiment: ResultReaders['readExperiment'] = async (folder, head) =>
    (await import('../../experiments/results/read-page.ts')).readExperimentPage(folder, head)
  const readers = { slimCharts, readExperiment }
  const server = await startDashboard(folders, { host, port, token, controlToken, ...readers, log })
  const stopGoing = keepGoing(server.onUnhandled)
  const { runs, experiments } = server.found
  if (options.json) printJson(io, { url: server.url, controlToken, runs, experiments })
  else {
    const what = `${plural(runs, 'run')} and ${plural(experiments, 'experiment')}`
    io.err.write(`${what} at ${server.url} (Ctrl+C stops)\n`)
    if (controlToken !== null)
      io.err.write(
        `to pause, save and stop runs and to choose between pairs from the page: ${server.url}/#token=${controlToken}\n`,
      )
  }
  await (options.withParent ? parentEnds(io) : firstInterrupt(io))
  await server.close()
  stopGoing()
  return EXIT.ok
}

/** Ctrl+C in a terminal reaches both: the training finishes its step, and is looked at until then. */
const parentEnds = (io: Io): Promise<void> =>
  new Promise(resolve => {
    io.onInterrupt(() => {})
    process.stdin
      .on('end', resolve)
      .on('error', () => resolve())
      .resume()
  })
