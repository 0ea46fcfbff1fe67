/**
 * @file What pages show, as plain data: of a run, of its rubric, judges and evaluations, of a comparison, of an experiment. Node makes
 * it of files; the components in parts/ show it, in a file of its own or in the dashboard, which asks for it.
 */

import type { CriterionDescription } from '../criterion-words.ts'
import type { EventRow, Interval, RolloutRow, Scores } from '../rows.ts'
import type { ChartSpec } from './chart-spec.ts'

/** A word with a look of its own: `chip warning`. */
export interface Chip {
  text: string
  class: string
}

/** Something on a line: a point, or from one place to another; places are shares of the line. */
export interface LineMark {
  class: string
  at: number
  to?: number
  /** What who points at it is told, and where it leads. */
  title?: string
  href?: string
  /** Name of a colour of the page, where its class does not say it. */
  color?: string
}

export type TableCell =
  | string
  | {
      text: string
      /** The look of the text, and of the row that it begins. */
      class?: string
      row?: string
      /** Where it leads. */
      href?: string
      /** In small below it. */
      notes?: string[]
      chips?: readonly Chip[]
      /** What who points at it is told. */
      title?: string
      /** Name of a colour of the page, shown before it. */
      color?: string
      /** The share as a bar beside it; `floor`: what chance alone gives. */
      bar?: { value: number; kind?: ScoreLine['kind']; interval?: Interval; floor?: number | null }
      /** What is drawn on a line over it. */
      marks?: readonly LineMark[]
    }

/** A column of which its name does not say all. */
export interface TableColumn {
  name: string
  /** Class of its cells: `num` to the right, `item` words; `head` is what names a row, where that is not the first. */
  kind?: string
  /** What who points at its name is told. */
  title?: string
}

export type TableRow = readonly TableCell[]

export interface TableView {
  head: readonly (string | TableColumn)[]
  rows: readonly TableRow[]
  /** Cells are words, which stand to the left. */
  text?: boolean
  class?: string
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

/** A metric of the headline in words. */
export interface HeadlineCard {
  title: string
  /** What it was; null where nobody knows. */
  before: string | null
  after: string
  /** What was gained, and whether that is beyond chance. */
  gain: { text: string; direction: 'up' | 'down' | '' } | null
  notes: string[]
}

/** A spoke of a radar. */
export interface RadarRow {
  id: string
  /** What the run calls it; null where it has no name of its own. */
  name: string | null
  before: number | null
  after: number
}

/** A name, what is drawn on its line, and its metrics. */
export interface TrackLine {
  name: string
  /** What who points at the name is told. */
  about?: string
  marks: readonly LineMark[]
  /** What is drawn, in words. */
  label?: string
  value?: string
  notes?: readonly (string | null | undefined)[]
  /** In small under it. */
  below?: string
}

/** A name, which may be empty, and what it is; null where nothing is known. */
export type PageFact = readonly [name: string, value: string | number | Chip | null]

/** A setting and its value, or a word and what it means. */
export interface PagePair {
  name: string
  /** Null where there is none. */
  text: string | null
  note?: string
}

export interface PageLink {
  text: string
  href: string
  /** Pressed outside of fields it leads there too. */
  key?: string
}

/** Something to be chosen, which the address then has. */
export interface PageChoice {
  /** What it is in the address. */
  name: string
  label: string
  value: string
  options: readonly (string | readonly [value: string, words: string])[]
  /** What the address loses with it. */
  resets?: readonly string[]
}

export interface Panel {
  kind: 'panel'
  /** Its place in addresses. */
  id?: string
  class?: string
  title?: string
  /** Where the title leads. */
  href?: string
  /** Beside the title. */
  chip?: Chip
  note?: string | null
  blocks: BlockList
}

/** What stands one below the other; what is false is not there. */
export type BlockList = readonly (Block | false | null)[]

/** What stands on a page: a text that explains, a table, or what has a kind. */
export type Block = string | TableView | KindBlock

export type KindBlock =
  | { kind: 'text'; text: string; class: string }
  | { kind: 'heading'; text: string; about?: string }
  | { kind: 'facts'; facts: readonly PageFact[] }
  | { kind: 'links'; links: readonly PageLink[] }
  | { kind: 'list'; lines: readonly string[] }
  | { kind: 'pairs'; pairs: readonly PagePair[] }
  | { kind: 'contents'; titles: readonly string[] }
  | { kind: 'cards'; cards: readonly HeadlineCard[] }
  | { kind: 'events'; events: readonly EventRow[] }
  /** Two stand in a row; `narrow` ones three. */
  | { kind: 'charts'; charts: readonly ChartSpec[]; size?: 'wide' | 'narrow' }
  | { kind: 'radar'; rows: readonly RadarRow[] }
  /** Under the lines what their ends are. */
  | { kind: 'lines'; lines: readonly TrackLine[]; ends?: readonly [string, string] }
  /** What colours stand for: names of colours of the page, with their words. */
  | { kind: 'key'; colors: readonly (readonly [color: string, words: string])[] }
  /** Rollouts, or answers of evaluations, which have scores. */
  | { kind: 'rollouts'; rows: readonly RolloutRow[]; criteria: Criteria; of?: 'score'; isBeside?: boolean }
  /** Text as it stands. */
  | { kind: 'document'; text: string }
  | { kind: 'stack'; class?: string; blocks: BlockList }
  | { kind: 'fold'; title: string; isOpen?: boolean; class?: string; blocks: BlockList }
  | Panel
  /** Of pages that go on: something to choose, and what comes from an address of its own. */
  | { kind: 'choices'; choices: readonly PageChoice[] }
  | { kind: 'load'; path: string; what: string }

/** What a run tells of its criteria, by id. */
export type Criteria = Record<string, CriterionDescription>

/** How a reader may have the curves of a page that goes on. */
export interface ChartTools {
  /** Points that thick lines average, with their words; the first is what there is when nothing is chosen. */
  smoothings: readonly (readonly [value: string, words: string])[]
  /** First and last step that there is, those that are shown, and how many a point stands for; of curves that can be zoomed. */
  steps?: { first: number; last: number; from: number; to: number; stride: number }
}

export interface PageSection {
  title: string
  about?: string | null
  /** Over it. */
  tools?: ChartTools
  blocks: BlockList
}

export interface PageView {
  title: string
  /** How what it is about stands. */
  status?: Chip
  facts?: readonly PageFact[]
  /** What stands before the first section, and after the last. */
  intro?: BlockList
  sections?: readonly (PageSection | false | null)[]
  end?: BlockList
  /** Who wrote it, of a file. */
  footer?: string
  /** Steps that charts mark. */
  marks?: readonly { step: number; title: string }[]
}

/** What stands where there is nothing. */
export const emptyBlock = (text: string): Block => ({ kind: 'text', text, class: 'empty' })

export const foldBlock = (title: string, ...blocks: BlockList): Block => ({ kind: 'fold', title, blocks })

/** A section that is a table. */
export const tableSection = (title: string, about: string, table: TableView): PageSection => ({
  ...{ title, about },
  blocks: [table.rows.length > 0 ? table : emptyBlock('None.')],
})

/** The sections that a page has. */
export const shownSections = ({ sections = [] }: PageView): PageSection[] =>
  sections.filter(section => section !== false && section !== null)

/** All charts of a page. */
export const chartsOf = (page: PageView): ChartSpec[] => {
  const within = (block: Block | false | null): readonly ChartSpec[] => {
    if (!block || typeof block === 'string' || 'head' in block) return []
    return 'charts' in block ? block.charts : 'blocks' in block ? block.blocks.flatMap(within) : []
  }
  return shownSections(page).flatMap(({ blocks }) => blocks.flatMap(within))
}

/** A page that says a thing and no more. */
export const plainView = (title: string, text: string): PageView => ({ title, intro: [emptyBlock(text)] })

/** How a run stands. */
export const runChip = (status: string): Chip => ({ text: status, class: `status chip ${status}` })

/** What a word means that has a colour: statuses of claims, outcomes of controls. What has no look is grey. */
const LOOKS: Readonly<Record<string, string>> = {
  reproduced: 'yes',
  'not reproduced': 'no',
  inconclusive: 'open',
  passed: 'yes',
  failed: 'no',
  open: 'open',
}

/** The class of a status: its colour. */
export const statusLook = (status: string): string => LOOKS[status] ?? 'none'

/** A status in its colour. */
export const statusChip = (status: string, text = status): Chip => ({
  text,
  class: `verdict chip ${statusLook(status)}`,
})

/** How many have each status. */
export const statusCounts = (counts: Iterable<readonly [status: string, count: number]>): Block => ({
  kind: 'facts',
  facts: [...counts].map(([status, count]) => [
    '',
    count > 0 ? statusChip(status, `${count} ${status}`) : null,
  ]),
})

/** Dotted names of settings, nested as they may be, with what stands there. */
export const settingPairs = (value: unknown, path = ''): PagePair[] => {
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
    const entries = Object.entries(value)
    if (entries.length > 0)
      return entries.flatMap(([key, item]) => settingPairs(item, path === '' ? key : `${path}.${key}`))
  }
  return [
    { name: path, text: value === null ? null : typeof value === 'string' ? value : JSON.stringify(value) },
  ]
}
