/** @file A run's page: of its report, and of the dashboard while it goes on. */

import { formatDuration, joinKnown, number } from '../../util/format.ts'
import { describeCriteria } from '../criterion-words.ts'
import { groupBlocks, heldOutAnswers } from './answers.ts'
import { headlineCards } from './cards.ts'
import { chartSections } from './charts.ts'
import { chooseRollouts, type ReportData, stageShares, stageWord, totalsOf } from './data.ts'
import { lessonBlocks } from './lessons.ts'
import { profileSection } from './profile.ts'
import { rewardSection } from './reward.ts'
import { rubricsSection } from './rubrics.ts'
import { keptFor, type MonitorSign, signSection, signsOf } from './signs.ts'
import { setPanels } from './tables.ts'
import {
  type Block,
  type BlockList,
  type ChartTools,
  emptyBlock,
  foldBlock,
  type PageSection,
  type PageView,
  runChip,
  settingPairs,
} from './view.ts'

/** What a run is, and how far. */
export const runHead = (data: ReportData): Pick<PageView, 'title' | 'facts'> => {
  const { info, metrics } = data
  const done = metrics.at(-1)?.step ?? 0
  const { seconds, rollouts, tokens } = totalsOf(data)
  const isDone = info.steps === undefined || info.steps === done
  const many = (value: number) => (value > 0 ? number(Math.round(value)) : null)
  return {
    title: joinKnown([info.recipe ?? info.id, info.preset], ' · '),
    facts: [
      ['run', info.id],
      ['model', info.model ?? null],
      ['seed', info.seed ?? null],
      ['steps', isDone ? number(done) : `${number(done)} of ${number(info.steps)}`],
      ['training time', seconds > 0 ? formatDuration(seconds) : null],
      ['rollouts sampled', many(rollouts)],
      ['tokens sampled', many(tokens)],
      ['tokens a second', seconds > 0 && tokens > 0 ? number(tokens / seconds) : null],
      ['forked from', info.forkedFrom ? `${info.forkedFrom.run}, step ${info.forkedFrom.step}` : null],
      ['started', info.createdAt.slice(0, 16).replace('T', ' ')],
    ],
  }
}

/** @param shown events of `all` that are not folded away */
export const eventPanel = (
  title: string,
  shown: ReportData['events'],
  all: ReportData['events'],
): Block | false => {
  const more = all.filter(event => !shown.includes(event))
  const fold = more.length > 0 && foldBlock(`${more.length} more`, { kind: 'events', events: more })
  return (
    shown.length > 0 && {
      kind: 'panel',
      class: 'events',
      title,
      blocks: [{ kind: 'events', events: shown }, fold],
    }
  )
}

/** What monitors said has a section of its own. */
const eventsOf = ({ events }: ReportData): Block | false => {
  const others = events.filter(event => event.monitor === undefined)
  const serious = others.filter(event => event.level !== 'info')
  const rest = others.filter(event => event.level === 'info')
  return serious.length > 0
    ? eventPanel('Worth knowing', serious.slice(0, 12), [...serious, ...rest])
    : eventPanel('Events', rest.slice(0, 3), rest)
}

const rolloutSection = (data: ReportData): PageSection | null => {
  const groups = chooseRollouts(data)
  if (groups.length === 0) return null
  return {
    title: 'Rollouts',
    about: `From ${number(data.rollouts.length)} kept in rollouts.jsonl. Where steps were checked one by one, each has its verdict beside it.`,
    blocks: groupBlocks(groups, describeCriteria(data.info)),
  }
}

/** Null of a run that evaluated nothing. */
const setSection = (data: ReportData): PageSection | null => {
  const blocks = setPanels(data)
  if (blocks.length === 0) return null
  return {
    title: 'Test sets',
    about:
      'Problems that training never saw. Bars carry 95% intervals; what shallow cues or published models reach stands in the same table.',
    blocks: [{ kind: 'stack', blocks }],
  }
}

/** What the run was told to do, and where; printed in full. */
export const settingsPanel = ({ info }: Pick<ReportData, 'info'>, isOpen = false): Block => {
  const pairs = (value: unknown): BlockList => [{ kind: 'pairs', pairs: settingPairs(value) }]
  const environment = { gradus: info.version, ...info.environment }
  return {
    kind: 'panel',
    blocks: [
      { kind: 'fold', title: 'Configuration as resolved', isOpen, blocks: pairs(info.config) },
      { kind: 'fold', title: 'Environment', isOpen, class: 'print', blocks: pairs(environment) },
    ],
  }
}

const stageText = ({ metrics }: ReportData): string => {
  const shares = Object.entries(stageShares(metrics))
  if (shares.length === 0) return ''
  const parts = shares.map(([name, share]) => `${stageWord(name)} ${share.toFixed(1)}%`)
  const beside = metrics.some(row => typeof row.time?.gradeBusy === 'number')
  return `Of the steps’ time: ${parts.join(', ')}.${beside ? ' Grading goes on while sampling does; only what it takes beyond that is counted as grading.' : ''}`
}

/** The curves of a run in their sections. */
const curveSections = (data: ReportData, { rollouts }: ReportData): PageSection[] =>
  chartSections(data).map(({ title, about, charts, size }) => ({
    title,
    about: title === 'Where the time went' ? stageText(data) : about,
    blocks: [{ kind: 'charts', charts, size }, ...(title === 'Memory' ? lessonBlocks(rollouts) : [])],
  }))

const NO_STEPS: PageSection = {
  title: 'Learning',
  blocks: [emptyBlock('No step has been recorded yet.')],
}

/** What the page of a run that goes on has otherwise. */
interface LivePage {
  /** The run between the steps that curves show. */
  curves: ReportData
  tools: ChartTools
  events: Block | false
  /** Where to go on from a sign. */
  signMore(sign: MonitorSign): Block[]
}

/** @param live absent for a report, which has settings and rollouts too */
export const runPage = (data: ReportData, live?: LivePage): PageView => {
  const { info } = data
  const curves = curveSections(live?.curves ?? data, data)
  const [learning, ...later] = curves.length > 0 ? curves : [NO_STEPS]
  const sections = [
    ...[signSection(data, live?.signMore ?? keptFor(data)), rewardSection(info), profileSection(data)],
    ...[{ ...learning, tools: curves.length > 0 ? live?.tools : undefined }, setSection(data)],
    ...[heldOutAnswers(data), ...later, rubricsSection(data.rubrics), rolloutSection(data)],
    live ? null : { title: 'Settings', blocks: [settingsPanel(data)] },
  ]
  const cards = headlineCards(data)
  return {
    ...runHead(data),
    status: runChip(data.status),
    intro: [
      cards.length > 0 && { kind: 'cards', cards },
      { kind: 'contents', titles: sections.flatMap(section => section?.title ?? []) },
      live ? live.events : eventsOf(data),
    ],
    sections,
    footer: `Written by Gradus ${info.version ?? ''} from the files of the run ${info.id}. Charts by uPlot (MIT).`,
    marks: signsOf(data.events).map(({ step, title }) => ({ step, title })),
  }
}
