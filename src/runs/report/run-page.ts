/** @file A run's page as plain data: of its report, and of the dashboard while it goes on. Components in parts/ show it. */

import { formatDuration, number } from '../../util/format.ts'
import { describeCriteria } from '../criterion-words.ts'
import { heldOutAnswers, withoutRaw } from './answers.ts'
import { headlineCards } from './cards.ts'
import { chartSections } from './charts.ts'
import { chooseRollouts, type ReportData, stageShares, stageWord, totalsOf } from './data.ts'
import { reportLessons } from './lessons.ts'
import { profileView } from './profile.ts'
import { rewardView } from './reward.ts'
import { rubricCharts, rubricLifetimes, rubricsAbout } from './rubrics.ts'
import { signsOf } from './signs.ts'
import { setViews } from './tables.ts'
import type { ChartSection, RunPage, ShownSign } from './view.ts'

const SHOWN_LIFETIMES = 12

const factsOf = (data: ReportData): RunPage['facts'] => {
  const { info, metrics } = data
  const done = metrics.at(-1)?.step ?? 0
  const { seconds, rollouts, tokens } = totalsOf(data)
  const isDone = info.steps === undefined || info.steps === done
  const many = (value: number) => (value > 0 ? number(Math.round(value)) : null)
  return [
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
  ]
}

/** What monitors said has a section of its own. */
const eventsOf = ({ events }: ReportData): RunPage['events'] => {
  const others = events.filter(event => event.monitor === undefined)
  const serious = others.filter(event => event.level !== 'info')
  const rest = others.filter(event => event.level === 'info')
  const shown = serious.length > 0 ? serious.slice(0, 12) : rest.slice(0, 3)
  const more = [...serious, ...rest].filter(event => !shown.includes(event))
  return { isSerious: serious.length > 0, shown, more }
}

/** Signs with the rollouts that were kept to show them. */
const shownSigns = ({ events, rollouts }: ReportData): ShownSign[] =>
  signsOf(events).map(sign => {
    const kept = rollouts.filter(row => row.monitor === sign.monitor && row.step === sign.step)
    return { ...sign, rollouts: kept.length, rows: kept.map(withoutRaw) }
  })

const rolloutsOf = (data: ReportData): RunPage['rollouts'] => {
  const groups = chooseRollouts(data).map(({ rows, ...group }) => ({ ...group, rows: rows.map(withoutRaw) }))
  if (groups.length === 0) return null
  const about = `From ${number(data.rollouts.length)} kept in rollouts.jsonl. Where steps were checked one by one, each has its verdict beside it.`
  return { about, groups }
}

const rubricsOf = ({ rubrics }: ReportData): RunPage['rubrics'] =>
  rubrics.length === 0
    ? null
    : {
        about: rubricsAbout(rubrics),
        charts: rubricCharts(rubrics),
        lifetimes: rubricLifetimes(rubrics).slice(0, SHOWN_LIFETIMES),
      }

/** Everything that a run's page tells but for its curves. */
export const runPage = (data: ReportData): RunPage => {
  const { info, metrics } = data
  const signs = shownSigns(data)
  const ends = signs.map(({ step, until }) => until ?? step)
  return {
    title: [info.recipe ?? info.id, info.preset].filter(part => part !== undefined).join(' · '),
    facts: factsOf(data),
    cards: headlineCards(data),
    events: eventsOf(data),
    signs,
    lastStep: Math.max(info.steps ?? 0, metrics.at(-1)?.step ?? 0, ...ends),
    reward: rewardView(info),
    profile: profileView(data),
    sets: setViews(data),
    answers: heldOutAnswers(data),
    lessons: reportLessons(data.rollouts),
    rubrics: rubricsOf(data),
    rollouts: rolloutsOf(data),
    criteria: describeCriteria(info),
    config: info.config,
    environment: info.environment ?? {},
    version: info.version,
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
export const pageSections = (data: ReportData): ChartSection[] =>
  chartSections(data).map(section =>
    section.title === 'Where the time went' ? { ...section, about: stageText(data) } : section,
  )
