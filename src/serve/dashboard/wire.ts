/** @file What the dashboard's server tells its page: plain data, types alone, so that both sides are checked against one shape. */

import type { CriterionDescription } from '../../runs/criterion-words.ts'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import type { PairedDifference } from '../../runs/report/paired.ts'
import type { ChartSection, RunPage, TableView } from '../../runs/report/view.ts'
import type { EvalRow, RolloutRow } from '../../runs/rows.ts'
import type { Estimate } from '../../util/intervals.ts'

export type RunStatus = 'running' | 'paused' | 'finished' | 'stopped' | 'unreadable'

/** A line of the table of runs. */
export interface RunSummary {
  /** Names the run in addresses. */
  id: string
  /** The folder's name, and the folders between it and where runs were looked for. */
  name: string
  folder: string
  recipe: string | null
  preset: string | null
  model: string | null
  seed: string | null
  status: RunStatus
  /** Why it cannot be read, or what of it cannot. */
  problem: string | null
  step: number
  steps: number | null
  /** Seconds that a step took of late; null before the first. */
  stepSeconds: number | null
  /** The curve in small, and which figure of metrics.jsonl it is. */
  figure: string | null
  spark: (number | null)[]
  last: number | null
  /** The primary score of the latest evaluation. */
  score: { value: number; words: string; set: string } | null
  /** Monitors whose sign is there now. */
  warnings: string[]
  /** ISO times: made, last written. */
  createdAt: string | null
  writtenAt: string | null
  /** Settings that differ among runs of this recipe, as text. */
  settings: Record<string, string>
}

/** What a run's own pages show but for curves. */
export interface RunView {
  run: RunSummary
  page: RunPage
  /** Sets that there are evaluations on. */
  sets: string[]
  /** Thresholds of the monitors, by monitor and key; null where one is off. */
  monitors: Record<string, Record<string, number> | null>
  /** What monitors did and a request can undo. */
  undoable: ('rollback' | 'raise-kl')[]
}

/** An evaluation without its single problems. */
export type LightEval = Omit<EvalRow, 'items'>

export interface CurvesView {
  /** First and last step that there is, and those that are shown. */
  first: number
  last: number
  from: number
  to: number
  /** Steps that a point stands for. */
  stride: number
  sections: ChartSection[]
}

/** A kept rollout in a list. */
export interface RolloutLine {
  nth: number
  step: number
  role: string
  problemId: string
  sample: number | null
  reward: number | null
  advantage: number | null
  correct: boolean | null
  monitor: string | null
  finish: string | null
  /** The beginning of its response, or the words around what was searched for. */
  excerpt: string
  flags: string[]
}

export interface RolloutsPage {
  total: number
  /** Share of the file that the index has read. */
  progress: number
  matching: number | null
  rows: RolloutLine[]
  /** Where the next page begins; null at the end. */
  next: string | null
  /** How far a search has come: looked at, of so many. */
  searched: { seen: number; of: number } | null
  facets: Facets
}

/** What can be asked for. */
export interface Facets {
  roles: string[]
  criteria: string[]
  flags: string[]
  monitors: string[]
  steps: [number, number] | null
  rewards: [number, number] | null
}

export interface RolloutView {
  nth: number
  total: number
  row: RolloutRow
  /** What the run tells of its criteria, by id. */
  criteria: Record<string, CriterionDescription>
  /** Rollouts of the same step, role and problem that were kept, this one included. */
  group: RolloutLine[]
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

export interface WonItem {
  id: string
  before: number
  after: number
  /** A response of either evaluation was kept. */
  readable: boolean
}

/** The responses to a problem at two evaluations, as cards show them; null where none was kept. */
export interface ItemView {
  id: string
  before: RolloutRow | null
  after: RolloutRow | null
  /** What the run tells of its criteria, by id. */
  criteria: Record<string, CriterionDescription>
}

export interface EvaluationView {
  set: string
  /** Steps of all evaluations, and their scores. */
  steps: number[]
  scores: TableView
  /** Steps of the two evaluations. */
  before: number
  after: number
  score: string
  /** Scores in words, by name. */
  words: Record<string, string>
  paired: PairedDifference | null
  won: number
  lost: number
  same: number
  /** Those that changed, most first; then those that did not and can be read. */
  items: WonItem[]
}

export interface CriterionMetrics {
  id: string
  words: CriterionDescription
  /** Mean over the training rollouts, first and last tenth of the steps. */
  first: number | null
  last: number | null
  /** Shares of the points earned, and to be had, in the last tenth. */
  rewardShare: number | null
  pointShare: number | null
  /** Of the rollouts that were kept: how many have a verdict, how often it is met, how it goes with the reward. */
  kept: number
  rate: number | null
  withReward: number | null
  /**
   * Share of groups in which it tells rollouts apart: of all groups of the last tenth of the steps, or, of runs that do not
   * record it, of so many groups of which several rollouts were kept.
   */
  discrimination: { value: number; keptGroups: number | null } | null
  /** Share of responses on which two graders said the same of it, at the latest evaluation where two did. */
  agreement: { value: number; step: number; set: string } | null
}

export interface RubricView {
  criteria: CriterionMetrics[]
  /** `floor`: what chance alone gives, where it is known. */
  validity: { key: string; first: number | null; last: number; floor: number | null }[]
  fates: {
    step: number
    question: string
    title: string
    stage: number
    sign: string
    weight: number
    variance: number | null
    since: number | null
    fate: 'born' | 'kept' | 'inactive' | 'pruned'
    description: string | null
  }[]
  questions: number
}

export interface JudgesView {
  figures: { title: string; unit: ChartSpec['unit']; mean: number; last: number; total: number | null }[]
  charts: ChartSpec[]
  evaluations: { step: number; set: string; calls: number | null; nullRate: number | null }[]
}

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

export interface ExperimentLine {
  id: string
  name: string
  title: string
  summary: string | null
  /** Claims by status. */
  statuses: { status: string; count: number }[]
}

/** Curves of an experiment's arms. */
export interface ArmCurvesView {
  charts: ChartSpec[]
  /** The runs beside the results, or the folder of the work; null: there are no runs. */
  from: 'results' | 'work' | null
  /** Read in a work folder, and those that were left out because they are too many. */
  runs: number
  left: { runs: number; arms: number } | null
}
