/** @file Running the command line inside tests: captured output, throw-away folders, models small enough to train in a second. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { stringify } from 'yaml'
import type { Io } from './io.ts'
import { buildProgram, runCli } from './program.ts'

/** Limit of tests that train: seconds on a free machine, far more on a busy one. */
export const SLOW_MS = 300_000

export interface CliResult {
  code: number
  out: string
  err: string
}

export interface CliHooks {
  /** Called with everything written to stderr so far, and a function that acts as Ctrl+C, once: the second one ends the process. */
  onProgress?: (err: string, interrupt: () => void) => void
}

/** Every command with its options, to be looked at: whoever parses a command line with it runs it. */
export const commandTree = (): Command => {
  const silent = { write: () => {} }
  const io = { out: silent, err: silent, onInterrupt: () => () => {} }
  return buildProgram(io, () => {}, { recipes: '', tasks: '' })
}

/** Runs a command line in this process. */
export const cli = async (args: readonly string[], hooks: CliHooks = {}): Promise<CliResult> => {
  let out = ''
  let err = ''
  let interrupt = () => {}
  const io: Io = {
    out: {
      write: text => {
        out += text
      },
    },
    err: {
      write: text => {
        err += text
        hooks.onProgress?.(err, interrupt)
      },
    },
    onInterrupt: handler => {
      interrupt = () => {
        interrupt = () => {}
        handler()
      }
      return () => {}
    },
  }
  const code = await runCli(args, io)
  return { code, out, err }
}

/** A temporary folder with helpers; `remove` it after the tests. */
export class Sandbox {
  readonly dir = mkdtempSync(join(tmpdir(), 'gradus-cli-'))

  path(...parts: string[]): string {
    return join(this.dir, ...parts)
  }

  /** Writes settings as a YAML file (or text as it is) and returns its path. */
  write(name: string, content: string | object): string {
    const path = this.path(name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, typeof content === 'string' ? content : stringify(content))
    return path
  }

  read(...parts: string[]): string {
    return readFileSync(this.path(...parts), 'utf8')
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }
}

const SHAPE = { hiddenSize: 32, layers: 1, heads: 2 }

/** Settings of a cold start of a second. */
export const tinyColdStart = (steps: number, more: object = {}) => ({
  recipe: 'logic-cold-start',
  steps,
  batch: 4,
  model: { shape: SHAPE },
  task: { curriculum: { kind: 'short-proofs', maxHops: 1 }, tests: { hops: [1] } },
  evaluation: { problems: 4, maxTokens: 24 },
  checkpoint: { every: 0 },
  policy: { threads: 1 },
  ...more,
})

/** Settings of a reinforcement of a few seconds, on a model that a tiny cold start made. */
export const tinyReinforcement = (folder: string, steps: number, more: object = {}) => ({
  recipe: 'rubric-as-reward',
  steps,
  model: { folder },
  task: { hops: 1 },
  condition: 'hybrid',
  credit: 'per-step',
  rollout: { prompts: 2, samples: 4, maxTokens: 32 },
  evaluation: { problems: 4, samples: 1, sets: ['train-distribution'] },
  checkpoint: { every: 0 },
  policy: { threads: 1 },
  ...more,
})

/** Trains a tiny model into `<sandbox>/start` and returns its checkpoint folder. */
export const tinyModel = async (sandbox: Sandbox, steps = 2): Promise<string> => {
  const file = sandbox.write('start.yaml', tinyColdStart(steps))
  const { code, err } = await cli(['train', file, '--out', sandbox.path('start'), '--quiet'])
  if (code !== 0) throw new Error(err)
  return sandbox.path('start', 'checkpoints', `step-${String(steps).padStart(6, '0')}`)
}
