/** @file What a monitor is: a pure function from the run so far to how strong its sign is. */

import type { TokenIds } from '../../rl/datum.ts'
import type { EvalRow, MetricsRow, RolloutRow } from '../../runs/rows.ts'
import type { MonitorName, MonitorSettings } from './config.ts'

/** All that a monitor looks at; a resumed run has it in its files. */
export interface History {
  rows: readonly MetricsRow[]
  /** Evaluations of the run's own policy. */
  evals: readonly EvalRow[]
  /** The test set that the headline is about. */
  primarySet?: string
}

/** What a monitor sees. */
export interface Sign {
  /** Strength over threshold: from 1 on it is a sign. */
  level: number
  /** What was seen, with metrics, as a sentence's beginning: `responses grew from 58 to 101 tokens`. */
  seen: string
  /** How things stand when the sign is over; what was seen where absent. */
  over?: string
  figures: Record<string, number>
  /** What it is about, where the monitor watches several: a criterion, an exploit. */
  subject?: string
}

/** One rollout of the latest step, as far as the policy wrote it. */
export interface WatchedRollout {
  row: RolloutRow
  tokens: TokenIds
  /** Of sampling, a token each. */
  logprobs: Float32Array
  /** Which group it belongs to. */
  group: number
  /** Its mean advantage. */
  advantage: number
}

export interface Monitor<Name extends MonitorName = MonitorName> {
  name: Name
  /** For people. */
  title: string
  why: string
  advice: string
  /** Looks in a row that make a warning; absent: the settings' `confirm`. */
  confirm?: number
  /** Null: there is nothing to be said, of this recipe or yet. */
  look(
    history: History,
    thresholds: NonNullable<MonitorSettings[Name]>,
    settings: MonitorSettings,
  ): Sign | null
  /** The rollouts to keep belong beside each other; absent: from as many groups as there are. */
  together?: true
  /** How well each of a step's rollouts shows the sign, parallel to them; those at 0 or below are not kept. */
  evidence(rollouts: readonly WatchedRollout[], sign: Sign): number[]
}

/** Infers the name, so that thresholds have their type. */
export const defineMonitor = <Name extends MonitorName>(monitor: Monitor<Name>): Monitor<Name> => monitor
