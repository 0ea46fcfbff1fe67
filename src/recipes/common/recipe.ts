/** @file What the command line knows of a recipe: its name, configuration, presets, and how to run it. */

import type { z } from 'zod'
import type { StepEvents } from '../../train/steps.ts'
import type { PinnedFile } from '../../util/row-stream.ts'
import type { StatusLine } from '../../util/status-line.ts'
import type { Feasibility } from './feasible.ts'
import type { RunMode } from './refuse.ts'
import type { StepWork } from './step-work.ts'

/** Hooks of a running training; all optional. */
export interface RunEvents extends StepEvents {
  /** Something that a person should know whatever they asked to be spared: damage that was found. `onMessage` where absent. */
  onWarning?(text: string): void
  /** Where the fetch of a model by its name is shown; default stderr, null: nowhere. */
  download?: Pick<StatusLine, 'log' | 'renew' | 'close'> | null
  /** Ends such a fetch, before anything was trained; its reason, a `GradusError`, is then thrown. */
  signal?: AbortSignal
  /** Called once, when the work is known: optimiser steps in this phase, and the phase's name. */
  onPhase?(phase: { name: string; steps: number; done: number }): void
}

/** A file on this machine that a run reads, by the path that its settings have, and what was in it. */
export interface ReadFile {
  path: string
  sha256: string
}

export interface RunOptions {
  /** Where the run lives. */
  dir: string
  /** Go on from the latest checkpoint in `dir`; `or-start`: where there is none, begin, also in the folder of a run that was killed before its first. Default false. */
  resume?: boolean | 'or-start'
  /** Go on although rows from before the checkpoint are damaged. */
  acceptRows?: boolean
  /** Name of the preset that the configuration started from, for the record. */
  preset?: string
  /** Of a fork the run and step that it starts from, for the record; the checkpoint itself lies in `dir` (`runs/forks.ts`). */
  forkedFrom?: { run: string; step: number }
  /** Files and models on the hub that were fetched for it, for the record. */
  data?: readonly PinnedFile[]
  /** Files of rows and rubrics on this machine, as they are now. */
  files?: readonly ReadFile[]
  events?: RunEvents
}

export interface RunResult {
  dir: string
  /** Last finished step, and whether all planned steps are done. */
  step: number
  finished: boolean
  /** The monitor that ended it before, where one did. */
  stoppedBy?: string
  /** Folder of the newest checkpoint, null when there is none. */
  checkpoint: string | null
}

/** What a run would do and need, without doing it. */
export interface RunPlan {
  lines: readonly string[]
  json: Record<string, unknown> & { here?: Feasibility }
  /** One step in numbers; absent for what is no training of a language model. */
  work?: StepWork
}

/** Changes to the defaults, by preset name; the first is the default preset. */
export type Presets = Readonly<Record<string, { summary: string; config: Record<string, unknown> }>>

export interface RecipeEntry<Config = unknown> {
  name: string
  /** One line for the help text. */
  summary: string
  schema: z.ZodType<Config>
  presets: Presets
  /**
   * Brings what of the data cannot be read at once (Parquet, files on the hub), and models by their names, which a plan and a run
   * then find. `run` does it by itself.
   * @param dir of a run that goes on, whose files are read as they were
   */
  prefetch?(
    config: Config,
    purpose: RunMode,
    dir?: string,
    events?: Pick<RunEvents, 'download' | 'signal'>,
  ): Promise<readonly PinnedFile[]>
  plan(config: Config): RunPlan
  run(config: Config, options: RunOptions): Promise<RunResult>
}

/** What a small model needs in a preset whose words are few. */
export const miniature = (maxTokens: number) => ({
  rollout: { prompts: 16, samples: 8, maxTokens, temperature: 1 },
  minibatches: 2,
  optimizer: { learningRate: { kind: 'linear', peak: 1e-3, warmup: 5, floor: 0.1 }, beta2: 0.95 },
})
