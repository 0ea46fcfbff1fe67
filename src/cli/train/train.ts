/** @file `gradus train`: resolves the settings, runs the recipe with progress, and sums up. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { assertStarts, type PolicySettings } from '../../policy/open.ts'
import type { RunEvents, RunPlan, RunResult } from '../../recipes/common/recipe.ts'
import { RunError } from '../../runs/errors.ts'
import { findFork } from '../../runs/forks.ts'
import { Progress } from '../../runs/progress.ts'
import { readEvents } from '../../runs/readers.ts'
import type { MetricsRow, MetricValue } from '../../runs/rows.ts'
import { checkRunFolder } from '../../runs/run-folder.ts'
import type { TrackerSettings } from '../../runs/trackers/config.ts'
import { checkTrackers } from '../../runs/trackers/trackers.ts'
import { ConfigError, UsageError } from '../../util/errors.ts'
import { commandLineOf } from '../../util/invocation.ts'
import { StatusLine } from '../../util/status-line.ts'
import { onInterrupts } from '../interrupts.ts'
import { EXIT, Interrupted, type Io, printJson } from '../io.ts'
import { optionWords } from '../option-values.ts'
import { type BesideDashboard, dashboardBeside, wantsDashboard } from './beside.ts'
import { beginFork, type Fork, settingsOfRun } from './fork.ts'
import { type BaseSettings, resolveSettings, type Settings, type SettingsRequest } from './settings.ts'
import { evalLine, formatSummary, summarise, summaryJson } from './summary.ts'

export interface TrainOptions extends Omit<SettingsRequest, 'target'> {
  out?: string
  /** RUN or RUN/STEP to start from. */
  from?: string
  resume?: boolean
  resumeOrStart?: boolean
  acceptRows?: boolean
  dryRun?: boolean
  json?: boolean
  quiet?: boolean
  /** Absent: where somebody sits before a terminal. */
  dashboard?: boolean
}

/**
 * Runs or plans the training; what a run would refuse before it trains, its plan refuses. Returns the exit code.
 * @throws UsageError, ConfigError, RunError and what training throws.
 */
export const trainCommand = async (
  target: string | undefined,
  options: TrainOptions,
  io: Io,
): Promise<number> => {
  const resume = howToBegin(options)
  const { preset, set, from, dryRun } = options
  const asked = await resolveSettings({ target: target ?? baseOf(options), preset, set })
  const dir = runFolder(asked, options)
  const fork = beginFork(asked, dir, { from, resume, plan: dryRun ?? false })
  try {
    return dryRun
      ? await printPlan(fork.settings, dir, options, io)
      : await carryOut(target, fork, dir, options, io)
  } finally {
    fork.release()
  }
}

/** The settings of a run, where no recipe and no file is named. @throws UsageError where no run is, either */
const baseOf = ({ from, out, resume, resumeOrStart }: TrainOptions): BaseSettings => {
  if (from !== undefined) return settingsOfRun(findFork(from).run)
  if (out !== undefined && (resume || resumeOrStart)) return settingsOfRun(out)
  throw new UsageError('expected a recipe or a YAML file, got neither', {
    hint: 'only --from RUN, and --out RUN --resume, know their settings from the run',
  })
}

const carryOut = async (
  target: string | undefined,
  { settings, forkedFrom }: Fork,
  dir: string,
  options: TrainOptions,
  io: Io,
): Promise<number> => {
  const quiet = options.quiet || options.json
  const display = new Display(io, quiet ?? false)
  const interrupt = stopper(io, display)
  display.say(`${settings.entry.name}: run folder ${dir}`)
  const startMs = performance.now()
  let dashboard: BesideDashboard | null = null
  const onPhase: RunEvents['onPhase'] = phase => {
    display.events.onPhase?.(phase)
    // Not before there is a run: a training that is refused serves nothing.
    if (dashboard === null && wantsDashboard(options, io))
      dashboard = dashboardBeside(dir, text => display.say(text))
  }
  const { download } = display
  const { signal } = interrupt
  try {
    if (howToBegin(options) === false)
      await refuseTooLarge(planOf(settings, dir, options, { download, signal }))
    const { step, finished, stoppedBy, checkpoint } = await settings.entry.run(settings.config, {
      dir,
      resume: howToBegin(options),
      acceptRows: options.acceptRows,
      preset: settings.preset,
      forkedFrom,
      events: { ...display.events, download, signal, onPhase, shouldStop: () => signal.aborted },
    })
    display.close()
    const seconds = (performance.now() - startMs) / 1000
    const resume = finished ? null : resumeCommand(target, options, dir)
    const end = { dir, step, finished, stoppedBy: stoppedBy ?? null, checkpoint, resume, seconds }
    // A run that went back ends elsewhere than where its last step was.
    const place = stoppedBy === undefined ? display.place : null
    tellEnd(end, place ?? `after step ${step}`, options, io)
    if (stoppedBy !== undefined) return EXIT.belowThreshold
    return finished ? EXIT.ok : EXIT.interrupted
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    display.say('stopped before the first step; what was fetched is kept, and the same command goes on')
    return EXIT.interrupted
  } finally {
    // Set by the callback, which the compiler does not see.
    ;(dashboard as BesideDashboard | null)?.close()
    display.close()
    interrupt.release()
  }
}

/** What the monitors said, for whoever did not look on. */
const warningsOf = (dir: string) =>
  readEvents(dir).flatMap(({ monitor, turn, step, message }) =>
    monitor !== undefined && turn === 'on' ? [{ monitor, step, message }] : [],
  )

/** @throws GradusError where the device that is named is not there, and what a run would throw before it loads a model */
const planOf = async (
  { entry, config }: Settings,
  dir: string,
  options: TrainOptions,
  events: Pick<RunEvents, 'download' | 'signal'>,
): Promise<RunPlan> => {
  await assertStarts((config as { policy?: PolicySettings }).policy)
  await entry.prefetch?.(config, 'plan', howToBegin(options) === false ? undefined : dir, events)
  return entry.plan(config)
}

/**
 * What cannot be planned is the run's to tell.
 * @throws ConfigError for a training whose weights and optimiser are more than this machine's memory; Interrupted
 */
const refuseTooLarge = async (planned: Promise<RunPlan>): Promise<void> => {
  const plan = await planned.catch(error => {
    if (error instanceof Interrupted) throw error
    return null
  })
  const refused = plan?.json.here?.refused
  if (refused)
    throw new ConfigError(`this machine cannot train it: ${refused}`, {
      hint: 'take a smaller model, train an adapter (model.lora), or have it on a server (policy.kind: tinker); --dry-run shows all numbers',
    })
}

const printPlan = async (settings: Settings, dir: string, options: TrainOptions, io: Io): Promise<number> => {
  const { entry, config, preset } = settings
  checkTrackers((config as { trackers?: readonly TrackerSettings[] }).trackers)
  const download = options.json ? null : new StatusLine(io.err)
  const plan = await planOf(settings, dir, options, { download })
  checkRunFolder(dir, howToBegin(options))
  if (options.json) printJson(io, { recipe: entry.name, preset: preset ?? null, ...plan.json, config })
  else {
    const title = [entry.name, preset && `preset ${preset}`].filter(Boolean).join(', ')
    io.out.write(`${title}: the plan; nothing was run\n${plan.lines.map(line => `  ${line}\n`).join('')}`)
  }
  return EXIT.ok
}

const howToBegin = ({ resume, resumeOrStart, from }: TrainOptions): boolean | 'or-start' => {
  if (resume && from !== undefined)
    throw new UsageError('--from, --resume: expected one of the two, got both', {
      hint: 'a fork is begun once; going on, it knows where it came from',
    })
  if (resume && resumeOrStart)
    throw new UsageError('--resume, --resume-or-start: expected one of the two, got both')
  return resumeOrStart ? 'or-start' : (resume ?? false)
}

/** `--out`, else the configuration's, else a free name under runs/; with `--resume` the newest run of that name. */
const runFolder = ({ config, name }: Settings, { out, resume, resumeOrStart }: TrainOptions): string => {
  const asked = out ?? config.out
  if (typeof asked === 'string') return asked
  const base = join('runs', `${name}-seed${config.seed}`)
  const nth = (n: number) => (n === 1 ? base : `${base}-${n}`)
  let n = 1
  while (existsSync(nth(n))) n++
  if (!resume && !resumeOrStart) return nth(n)
  if (n === 1 && resumeOrStart) return base
  if (n === 1)
    throw new RunError(`${base}: there is nothing to resume: no such run`, {
      hint: 'start it without --resume, or name its folder with --out',
    })
  return nth(n - 1)
}

/** The command line that goes on with this run. */
const resumeCommand = (target: string | undefined, options: TrainOptions, dir: string): string =>
  commandLineOf([
    'train',
    ...(target === undefined ? [] : [target]),
    ...optionWords({ ...options, out: dir, resume: true }, ['preset', 'set', 'out', 'resume']),
  ])

/** First Ctrl+C: stop after this step, with a checkpoint. Second: at once. */
const stopper = (io: Io, display: Display) => {
  const ending = new AbortController()
  const release = onInterrupts(io, () => {
    ending.abort(new Interrupted())
    display.say('stopping after this step, with a checkpoint to go on from; Ctrl+C again quits at once')
  })
  return { signal: ending.signal, release }
}

/** Key metrics of a step, those that it has. */
const keyMetrics = ({
  reward,
  correctAndProved,
  accuracy,
  loss,
  teacherKl,
  entropy,
  learningRate,
}: MetricsRow) => ({
  reward,
  proved: correctAndProved as MetricValue | undefined,
  answers: accuracy as MetricValue | undefined,
  loss: reward === undefined ? loss : undefined,
  teacherKl: teacherKl as MetricValue | undefined,
  entropy,
  lr: reward === undefined ? learningRate : undefined,
})

/** Progress on stderr, one bar a phase. */
class Display {
  readonly #io: Io
  readonly #quiet: boolean
  #progress: Progress | null = null
  #phase: { name: string; step: number; steps: number } | null = null

  constructor(io: Io, quiet: boolean) {
    this.#io = io
    this.#quiet = quiet
  }

  /** Downloads before the first phase. */
  get download(): RunEvents['download'] {
    return this.#quiet ? null : new StatusLine(this.#io.err)
  }

  readonly events: RunEvents = {
    onPhase: ({ name, steps, done }) => {
      this.close()
      this.#phase = { name, step: done, steps }
      this.say(`${name}: ${done > 0 ? `going on after step ${done} of ${steps}` : `${steps} steps`}`)
      this.#progress = new Progress({
        total: steps,
        done,
        label: name,
        quiet: this.#quiet,
        stream: this.#io.err,
      })
    },
    onStep: row => {
      if (this.#phase) this.#phase.step = row.step
      this.#progress?.update(row.step, keyMetrics(row), row.time?.total)
    },
    onEvaluating: step => this.say(`step ${step}: evaluating`),
    onEval: rows => {
      for (const row of rows) this.say(evalLine(row))
    },
    onMessage: text => this.say(text),
    onWarning: text => this.warn(text),
  }

  /** `after step 256 of 800 (supervised)`: a recipe's steps are counted by phase. Null before the first phase. */
  get place(): string | null {
    if (this.#phase === null) return null
    const { name, step, steps } = this.#phase
    return `after step ${step} of ${steps} (${name})`
  }

  /** A line of its own; kept from machines that asked for quiet. */
  say(text: string): void {
    if (this.#progress) this.#progress.log(text)
    else if (!this.#quiet) this.#io.err.write(`${text}\n`)
  }

  /** A line for every reader, also those that asked for quiet. */
  warn(text: string): void {
    if (this.#quiet) this.#io.err.write(`${text}\n`)
    else this.say(text)
  }

  close(): void {
    this.#progress?.close()
    this.#progress = null
  }
}

/** What a training came to. */
interface End extends Pick<RunResult, 'dir' | 'step' | 'finished' | 'checkpoint'> {
  /** The monitor that stopped it; null: none. */
  stoppedBy: string | null
  resume: string | null
  seconds: number
}

const tellEnd = (end: End, place: string, { json }: TrainOptions, io: Io): void => {
  const { dir, checkpoint, resume } = end
  const report = existsSync(join(dir, 'report.html')) ? join(dir, 'report.html') : null
  const summary = summarise(dir)
  const warnings = warningsOf(dir)
  if (json) {
    printJson(io, { ...end, report, warnings, ...summaryJson(summary) })
    return
  }
  const text = formatSummary(summary)
  if (text !== '') io.out.write(`\n${text}\n\n`)
  const warned = warnings.map(({ monitor, step }) => `${monitor} (step ${step})`)
  if (warned.length > 0) io.out.write(`warnings    ${warned.join(', ')}; see the report\n`)
  if (report) io.out.write(`report      ${report}\n`)
  if (checkpoint) io.out.write(`checkpoint  ${checkpoint}\n`)
  if (end.stoppedBy !== null)
    io.out.write(`stopped by the monitor ${end.stoppedBy}; its reason is among the run's events\n`)
  if (resume) io.out.write(`stopped ${place}; go on with:\n  ${resume}\n`)
}
