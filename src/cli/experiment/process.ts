/** @file A training as a process of its own: `gradus train` with the settings of one job. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { tipOf } from '../../experiments/plan/blocks.ts'
import type { Training } from '../../experiments/plan/jobs.ts'
import type { Registration } from '../../experiments/plan/registration.ts'
import type { Execute, Launch } from '../../experiments/run/runner.ts'
import { RunError } from '../../runs/errors.ts'
import { onInterrupts } from '../interrupts.ts'
import { EXIT, type Io } from '../io.ts'
import { optionWords } from '../option-values.ts'

/** The built command, also when this file is run from its source. */
const MAIN = [new URL('../main.js', import.meta.url), new URL('../../../dist/cli/main.js', import.meta.url)]
  .map(url => fileURLToPath(url))
  .find(existsSync)!

/** `--set` values of a training: one for every key of every layer, in order. */
export const settingsOf = ({ settings }: Training): string[] =>
  settings.flatMap(layer => Object.entries(layer).map(([key, value]) => `${key}=${JSON.stringify(value)}`))

/** The command line of a job, without node and script. */
const trainArguments = ({ training, dir, resume }: Launch): string[] => [
  ...['train', training.recipe],
  ...optionWords({ preset: training.preset, set: settingsOf(training) }, ['preset', 'set']),
  ...['--out', dir, '--json'],
  // What its phases had kept may be too little to go on from.
  ...(resume ? ['--resume-or-start'] : []),
]

const running = new Set<ChildProcess>()

/** Ends every child at once; what they had not saved is lost, and made again on the next call. */
export const killChildren = (): void => {
  for (const child of running) child.kill('SIGKILL')
}

const KEPT_ERROR = 2000

interface Outcome {
  out: string
  err: string
  code: number | null
  signal: NodeJS.Signals | null
}

/** Children have a process group of their own: Ctrl+C reaches them once, through `stop`, and they save and end. */
const runProcess = (args: readonly string[], stop: AbortSignal): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    let [out, err] = ['', '']
    child.stdout.on('data', chunk => {
      out += chunk
    })
    child.stderr.on('data', chunk => {
      err = `${err}${chunk}`.slice(-KEPT_ERROR)
    })
    const end = () => child.kill('SIGINT')
    stop.addEventListener('abort', end)
    // A signal that was there before says nothing to those who listen later.
    if (stop.aborted) end()
    const settled = () => {
      stop.removeEventListener('abort', end)
      running.delete(child)
    }
    child.on('error', error => {
      settled()
      reject(error)
    })
    child.on('close', (code, signal) => {
      settled()
      resolve({ out, err, code, signal })
    })
  })

/** Runs the command and returns the last line of its output as JSON. @throws RunError with the end of its stderr */
const runJson = async (args: readonly string[], what: string, stop: AbortSignal): Promise<unknown> => {
  const { out, err, code, signal } = await runProcess(args, stop)
  if (out.trim() !== '' && (code === 0 || stop.aborted)) return JSON.parse(out.trim().split('\n').at(-1)!)
  if (code === EXIT.belowThreshold)
    throw new RunError(`${what}: a monitor stopped it before its last step`, {
      hint: 'runs of an experiment are compared at equal steps: leave the action stop out of its settings, and allow more rollbacks',
    })
  const why = err.trim() === '' ? `it ended with ${signal ?? `exit code ${code}`}` : err.trim()
  throw new RunError(`${what}: ${why}`)
}

/** Trains in a process of its own. @throws RunError with the end of its stderr when it fails */
export const trainInProcess: Execute = async (launch, stop) => {
  const result = await runJson(trainArguments(launch), launch.dir, stop)
  return { finished: (result as { finished?: boolean }).finished === true }
}

/**
 * Measures a finished job by its registration's probes, in a process of its own. That reads the file again, and refuses it
 * when its hash is another one by then.
 */
export const probeInProcess = (
  registration: Registration,
  job: string,
  work: string,
  stop: AbortSignal,
): Promise<unknown> => {
  const options = { work, probe: job, registered: tipOf(registration), json: true }
  const words = optionWords(options, ['work', 'probe', 'registered', 'json'])
  return runJson(['experiment', registration.file, ...words], `probes of ${job}`, stop)
}

/** First Ctrl+C: every run ends after its step, with a checkpoint. Second: at once. `release` stops listening. */
export const stopper = (io: Io, say: (text: string) => void): { signal: AbortSignal; release(): void } => {
  const controller = new AbortController()
  const first = () => {
    say(
      'stopping: every run ends after its step, with a checkpoint to go on from; Ctrl+C again quits at once',
    )
    controller.abort()
  }
  const release = onInterrupts(io, first, () => {
    killChildren()
    process.exit(EXIT.interrupted)
  })
  return { signal: controller.signal, release }
}
