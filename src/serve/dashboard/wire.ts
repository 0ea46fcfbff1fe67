/** @file What the dashboard's server tells its page: plain data, types alone, so that both sides are checked against one shape. */

import type { PageChoice, PageView, TableView } from '../../runs/report/view.ts'
import type { EvalRow, RolloutRow, RunListing } from '../../runs/rows.ts'
import type { Estimate } from '../../util/intervals.ts'

export type RunStatus = 'running' | 'paused' | 'finished' | 'stopped' | 'unreadable'

/** A line of the table of runs: what `gradus runs` lists of one, and what goes on. */
export interface RunSummary extends Omit<RunListing, 'dir' | 'status'> {
  /** Names the run in addresses. */
  id: string
  /** The folder's name, and the folders between it and where runs were looked for. */
  name: string
  folder: string
  status: RunStatus
  model: string | null
  /** Seconds that a step took of late; null before the first. */
  stepSeconds: number | null
  /** The curve in small, and which metric of metrics.jsonl it is. */
  metric: string | null
  spark: (number | null)[]
  last: number | null
  /** Monitors whose sign is there now. */
  warnings: string[]
  /** ISO time; null of a run without rows. */
  writtenAt: string | null
  /** Settings that differ among runs of this recipe, as text. */
  settings: Record<string, string>
}

/** What stands over all pages of a run. */
export interface RunView extends Pick<PageView, 'title' | 'facts'> {
  run: RunSummary
  /** Thresholds of the monitors, by monitor and key; null where one is off. */
  monitors: Record<string, Record<string, number> | null>
  /** What monitors did and a request can undo. */
  undoable: ('rollback' | 'raise-kl')[]
}

/** An evaluation without its single problems. */
export type LightEval = Omit<EvalRow, 'items'>

/** A piece of a list of kept rollouts. */
export interface RolloutsPage {
  total: number
  /** Share of the file that the index has read. */
  progress: number
  matching: number | null
  table: TableView
  /** Where the next piece begins; null at the end. */
  next: string | null
  /** How far a search has come: looked at, of so many. */
  searched: { seen: number; of: number } | null
  /** What can be asked for. */
  choices: PageChoice[]
}

/** What travels in an event of the stream. */
export interface LiveRun {
  run: RunSummary
  rollouts: number
  evals: number
  events: number
}

export type ControlAction =
  | { action: 'pause' }
  | { action: 'go-on' }
  | { action: 'save' }
  | { action: 'stop' }
  | { action: 'undo'; of: RunView['undoable'][number] }
  | { action: 'threshold'; monitor: string; thresholds: Record<string, number> | null }

/** An answer of a pair, without what graders said of it. */
export type PairAnswer = Pick<RolloutRow, 'response' | 'turns'>

export interface PairsView {
  /** To choose from; null where every pair that tells anything is answered. */
  pair: { id: string; prompt: string; a: PairAnswer; b: PairAnswer } | null
  /** Pairs that there are, and choices that stand; those for one of the two. */
  pairs: number
  labelled: number
  decided: number
  /** Share of the decided pairs that the rubric's points order as people do. */
  agreement: Estimate | null
  people: { who: string; labels: number }[]
  /** The latest choice of who asks, to be undone. */
  last: string | null
  /** Where choices are written. */
  file: string
}
