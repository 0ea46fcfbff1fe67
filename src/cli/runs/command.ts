/** @file `gradus report`, `compare`, `export`, `runs`: what run folders tell, as a page, side by side, as a table, and of their own state. */

import { type Command, Option } from 'commander'
import { EXIT, type Io, printJson } from '../io.ts'
import type { CompareOptions } from './compare.ts'
import type { ExportOptions, TrackerOptions } from './export.ts'
import type { ModelExportOptions } from './model-export.ts'

/** Adds `gradus report` to the program. `done` receives the exit code. */
export const addReportCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('report')
    .summary("write a run's report")
    .description('Writes the HTML report of a run, finished or not, and prints its path.')
    .argument('<run>', 'run folder')
    .option('--json', 'print {report} as JSON')
    .action(async (run: string, { json }: { json?: boolean }) => {
      const { writeReport } = await import('../../runs/report/report.ts')
      const report = writeReport(run)
      if (json) printJson(io, { report })
      else io.out.write(`${report}\n`)
      done(EXIT.ok)
    })
}

const COMPARE_HELP = `
Of two runs: evaluations problem by problem, every metric, settings that differ. Of more, or of a folder that holds them: runs
that differ in nothing but their seed are one group, with means, 95% intervals over runs, and differences to the first group.
--html writes a page with their curves over one another, and bands over seeds.

Examples:
  $ gradus compare runs/a runs/b
  $ gradus compare runs/rit-sweep --html compare.html
  $ gradus compare runs/a-seed1 runs/a-seed2 runs/b-seed1 runs/b-seed2`

/** Adds `gradus compare` to the program. `done` receives the exit code. */
export const addCompareCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('compare')
    .summary('compare runs')
    .description('Compares runs: evaluations with intervals, metrics, and settings that differ.')
    .argument('<runs...>', 'run folders, or folders that hold them')
    .option('--html <file>', 'write a page with the curves of all')
    .option('--json', 'print the comparison as JSON')
    .addHelpText('after', COMPARE_HELP)
    .action(async (runs: string[], options: CompareOptions) => {
      const { compareCommand } = await import('./compare.ts')
      done(compareCommand(runs, options, io))
    })
}

const EXPORT_HELP = `
A model: --gguf writes the file and beside it a Modelfile for Ollama; llama.cpp opens the file as it is. --folder writes what
transformers and vLLM open. Of a run the latest checkpoint; an adapter is added to the model that it was trained on.

To a tracker: every step's metrics and every evaluation's scores under the run's name. The same again sends what is new and
nothing twice; metrics without a value are left out. Secrets come from the environment: MLFLOW_TRACKING_TOKEN, or
MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD; TRACKIO_WRITE_TOKEN.

As a table: one row a step, or with --rows evals one an evaluation and test set, after the run's name, recipe and seed; one column for each
metric by its dotted name (criteria.C1, scores.accuracy.value). Empty where a row has no value. Text that a spreadsheet would
take for a formula has a ' before it.

Examples:
  $ gradus export runs/a --gguf q8_0 --out mine/model.gguf
  $ gradus export runs/a/50 --folder mine
  $ gradus export runs/a --csv > a.csv
  $ gradus export runs/rit-sweep --csv --rows evals --out evals.csv
  $ gradus export runs/rit-sweep --tensorboard logs
  $ gradus export runs/a --mlflow http://localhost:5000 --experiment logic`

/** Adds `gradus export` to the program. `done` receives the exit code. */
export const addExportCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  program
    .command('export')
    .summary('a trained model for llama.cpp and Ollama, or rows of runs for spreadsheets and trackers')
    .description(
      'Writes a trained model as a GGUF file or a merged folder; or the rows of runs as comma-separated values, to standard output, a file or a tracker.',
    )
    .argument(
      '<runs...>',
      'run folders, or folders that hold them; of a model also RUN/STEP, or its own folder',
    )
    .option(
      '--gguf <type>',
      'the model as a GGUF file for llama.cpp and Ollama, adapters merged: f16, q8_0 or f32',
    )
    .option('--folder <dir>', 'the model as a Hugging Face folder, adapters merged')
    .option('--csv', 'as comma-separated values, which is the default')
    .option('--json', 'as JSON, a row a line; of a tracker what was delivered, a run a line')
    .addOption(
      new Option('--rows <which>', 'metrics (a row a step) or evals')
        .choices(['metrics', 'evals'])
        .default('metrics'),
    )
    .option('-o, --out <file>', 'the file to write')
    .option('--tensorboard <folder>', "as TensorBoard's event files, a folder for each run")
    .option('--mlflow [address]', 'to an MLflow server; without an address MLFLOW_TRACKING_URI')
    .option('--experiment <name>', 'of MLflow; MLFLOW_EXPERIMENT_NAME, else gradus')
    .option('--trackio [address]', 'to a trackio server; without an address TRACKIO_SERVER_URL')
    .option('--project <name>', 'of trackio; gradus unless given')
    .addHelpText('after', EXPORT_HELP)
    .action(async (runs: string[], options: ExportOptions & TrackerOptions & ModelExportOptions) => {
      if (options.gguf !== undefined || options.folder !== undefined) {
        const { modelExport } = await import('./model-export.ts')
        return done(await modelExport(runs, options, io))
      }
      const { trackersOf, trackerExport } = await import('./export.ts')
      const trackers = trackersOf(options)
      if (trackers.length > 0) return done(await trackerExport(runs, trackers, options, io))
      const { exportCommand } = await import('./export.ts')
      done(exportCommand(runs, options, io))
    })
}

/** Adds `gradus runs` to the program. `done` receives the exit code. */
export const addRunsCommand = (program: Command, io: Io, done: (code: number) => void): void => {
  const runs = program
    .command('runs')
    .summary('list runs, and check that they are whole')
    .description('Lists runs, and checks that they are whole.')
  runs
    .command('list', { isDefault: true })
    .summary('list runs: how far each is, and how it did')
    .description('Lists the runs below some folders, the newest first.')
    .argument('[folders...]', 'folders that hold runs', ['runs'])
    .option('--json', 'print the list as JSON')
    .action(async (folders: string[], options: { json?: boolean }) => {
      const { listCommand } = await import('./list.ts')
      done(listCommand(folders, options, io))
    })
  runs
    .command('check')
    .summary('check that a run is whole')
    .description(
      'Checks every checkpoint of a run against its manifest, its row files, configuration and pointer; writes nothing. Exit code 1 when something is damaged.',
    )
    .argument('<run>', 'run folder')
    .option('--json', 'print what was found as JSON')
    .action(async (run: string, options: { json?: boolean }) => {
      const { examineRun } = await import('../../runs/check-run.ts')
      const { formatExamination } = await import('./list.ts')
      const found = examineRun(run)
      if (options.json) printJson(io, found)
      else io.out.write(formatExamination(found))
      done(found.whole ? EXIT.ok : EXIT.failed)
    })
}
