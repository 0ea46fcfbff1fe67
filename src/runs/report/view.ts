/** @file What pages of runs show, as plain data: made of a run's files by Node, shown by the components in parts/, in files and in the dashboard. */

import type { CriterionDescription } from '../criterion-words.ts'
import type { EventRow, Interval, RolloutRow, RubricStatus, Scores, ShownLesson } from '../rows.ts'
import type { ChartSpec } from './chart-spec.ts'
import type { DotRow } from './dots.ts'
import type { ReportedSign } from './signs.ts'

export type TableCell =
  | string
  | {
      text: string
      /** Where it leads. */
      href?: string
      /** In small below it. */
      notes?: string[]
      /** What who points at it is told. */
      title?: string
      /** Name of a colour of the page, shown before it. */
      color?: string
      /** It is a status, in its colour. */
      isStatus?: true
      /** The share as a bar beside it. */
      bar?: { value: number; kind: ScoreLine['kind']; interval?: Interval }
    }

export interface TableView {
  head: readonly string[]
  rows: readonly { kind?: string; cells: readonly TableCell[] }[]
  /** Cells are words, which stand to the left. */
  text?: boolean
}

/** A line of scores: of an evaluation, or of a baseline. */
export interface ScoreLine {
  name: string
  note?: string
  kind: 'before' | 'after' | 'baseline'
  /** Problems. */
  n?: number
  scores: Scores
}

/** A figure of the headline in words. */
export interface HeadlineCard {
  title: string
  /** What it was; null where nobody knows. */
  before: string | null
  after: string
  /** What was gained, and whether that is beyond chance. */
  gain: { text: string; direction: 'up' | 'down' | '' } | null
  notes: string[]
}

export interface ProfileRow {
  id: string
  /** What the run calls it; null where it has no name of its own. */
  name: string | null
  before: number | null
  after: number
  /** Their difference in points, and its interval; null where there is none. */
  difference: string | null
  interval: string | null
  isTaxed: boolean
}

export interface ProfileView {
  about: string
  rows: ProfileRow[]
  /** What the intervals are; null before the end of a run. */
  note: string | null
}

export interface RewardView {
  formula: string | null
  criteria: { name: string; about: string; worth: string }[]
  /** Of criteria that are no run's, but a row's. */
  others: string | null
}

/** A lesson, and the latest attempt of those kept that was shown it. */
export interface LessonUse extends ShownLesson {
  step: number
  /** What was asked. */
  asked: string
  reward: number | null
}

export interface ShownLessons {
  uses: LessonUse[]
  about: string
}

/** A rubric from its birth to the last that is known of it. */
export interface RubricLifetime extends Pick<RubricStatus, 'stage' | 'sign' | 'title' | 'weight' | 'fate'> {
  question: string
  description: string
  since: number
  last: number
  /** Steps at which rollouts were scored on it. */
  times: number
  /** Means over those; null where nothing was ever known. */
  score: number | null
  variance: number | null
}

/** What is known of a set of problems. */
export interface SetView {
  set: string
  about: string
  /** The headline scores, and what there is beside them; what has a title is folded away under it. */
  tables: { title: string | null; tables: TableView[] }[]
}

export interface ChartSection {
  title: string
  about?: string
  /** `wide` charts stand two in a row, `narrow` ones three. */
  size: 'wide' | 'narrow'
  charts: ChartSpec[]
}

/** Rollouts, or answers of evaluations, that are shown together. */
export interface ChosenRollouts {
  title: string
  about: string
  rows: RolloutRow[]
}

/** What is shown of them, and why. */
export interface RolloutGroups {
  about: string
  groups: ChosenRollouts[]
}

/** A monitor's sign, with how many rollouts were kept to show it, and those that are shown with it. */
export type ShownSign = ReportedSign & { rollouts: number; rows: RolloutRow[] }

export interface RunPage {
  title: string
  /** Names and what they are; null where nothing is known. */
  facts: [name: string, value: string | number | null][]
  cards: HeadlineCard[]
  /** Events that are no monitor's: those that are worth knowing, and the rest. */
  events: { isSerious: boolean; shown: EventRow[]; more: EventRow[] }
  signs: ShownSign[]
  /** Where the line of signs ends. */
  lastStep: number
  reward: RewardView | null
  profile: ProfileView | null
  sets: SetView[]
  /** Held-out problems before and after. */
  answers: RolloutGroups | null
  lessons: ShownLessons | null
  rubrics: { about: string; charts: ChartSpec[]; lifetimes: RubricLifetime[] } | null
  rollouts: RolloutGroups | null
  /** What the run tells of its criteria, by id. */
  criteria: Record<string, CriterionDescription>
  config: unknown
  environment: Record<string, string | number>
  version: string | undefined
}

/** A comparison of groups of runs. */
export interface CompareView {
  /** How many runs and groups there are. */
  about: string
  groups: TableView
  scores: TableView
  curvesAbout: string
  charts: ChartSpec[]
  settings: TableView
  runs: TableView
}

/** A figure with its interval on a line, beside what was registered: a smallest effect that is to be reached, or a margin. */
export interface TrackView {
  /** Ends of the line. */
  ends: [number, number]
  value: number
  interval: [number, number]
  least: number | null
  zone: [number, number] | null
}

/** Two arms of a claim, or an arm and a number; or a share of runs. */
export interface ComparisonView {
  name: string
  /** Null where nothing can be compared yet. */
  track: TrackView | null
  status: string
  effect: string
  interval: string | null
  means: string
  p: string
  detectable: string
  n: number
  /** What has to be said beside it, and what of it in full. */
  note: string | null
  details: string
}

export interface ClaimView {
  id: string
  statement: string
  status: string
  reason: string | null
  /** What it was by the rule at its registration, where that is another one; and why. */
  registered: { status: string; reason: string } | null
  /** After Holm's correction. */
  adjustedP: string
  plan: string
  comparisons: ComparisonView[]
  /** Every run of each arm; null before the first is done. */
  dots: ArmDotsView | null
  notes: string[]
}

export interface ArmDotsView {
  rows: DotRow[]
  /** Cold starts: one colour each. */
  starts: string[]
  isShare: boolean
  /** Runs are 0 or 1: no, or yes. */
  isYesNo: boolean
}

/** An experiment: its claims and what they rest on. */
export interface ExperimentPage {
  title: string
  /** How far it is; empty where that is not known. */
  state: string
  isDone: boolean
  facts: [name: string, value: string | number | null][]
  lead: string[]
  statuses: { status: string; count: number }[]
  claims: ClaimView[]
  /** Claims that are not counted, and why. */
  apart: { claims: ClaimView[]; why: string[] }
  /** Tables of blocks of seeds, of controls, of arms: those that there are. */
  tables: { title: string; about: string; table: TableView }[]
  cut: string[]
  /** Names and values; null where it is not known. */
  origin: Record<string, string> | null
  /** summary.md as it stands. */
  document: string | null
}
