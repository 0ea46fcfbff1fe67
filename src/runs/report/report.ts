/** @file A run as one HTML file that needs nothing else: no network, no folder beside it. */

import { join, resolve } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { formatDuration, number } from '../../util/format.ts'
import { guardWrite } from '../errors.ts'
import { answerSection } from './answers.tsx'
import { headlineCards } from './cards.ts'
import type { ChartSpec } from './chart-spec.ts'
import { type ChartSection, chartSections } from './charts.ts'
import { contents } from './contents.ts'
import {
  chooseRollouts,
  loadReportData,
  type ReportData,
  rubricProfile,
  stageShares,
  stageWord,
  trainingSeconds,
} from './data.ts'
import { type Html, html, part } from './html.ts'
import { lessonTable } from './lessons.ts'
import { figure, heading, page } from './page.ts'
import { Events } from './parts/events.tsx'
import { Facts, type ReportFact } from './parts/facts.tsx'
import { Pairs } from './parts/pairs.tsx'
import { profileBars, radar, taxNote } from './profile.ts'
import { rewardSection } from './reward.ts'
import { rolloutGroups } from './rollouts.tsx'
import { rubricCharts, rubricsAbout, rubricTable } from './rubrics.ts'
import { testSetTables } from './tables.ts'
import { warningSection } from './warnings.tsx'

const titleOf = ({ info }: ReportData): string =>
  [info.recipe ?? info.id, info.preset].filter(part => part !== undefined).join(' · ')

const header = (data: ReportData): Html => {
  const { info, metrics } = data
  const done = metrics.at(-1)?.step ?? 0
  const steps =
    info.steps === undefined || info.steps === done
      ? number(done)
      : `${number(done)} of ${number(info.steps)}`
  const seconds = trainingSeconds(data)
  const facts: ReportFact[] = [
    ['run', info.id],
    ['model', info.model],
    ['seed', info.seed],
    ['steps', steps],
    ['training time', seconds > 0 ? formatDuration(seconds) : null],
    ['forked from', info.forkedFrom && `${info.forkedFrom.run}, step ${info.forkedFrom.step}`],
    ['started', info.createdAt.slice(0, 16).replace('T', ' ')],
  ]
  return html`<header><div class="top"><h1>${titleOf(data)}</h1><span class="status ${data.status}">${data.status}</span></div>
${part(Facts, { facts })}</header>`
}

/** What monitors said has a section of its own. */
const events = ({ events: all }: ReportData): Html | null => {
  const others = all.filter(event => event.monitor === undefined)
  if (others.length === 0) return null
  const serious = others.filter(event => event.level !== 'info')
  const rest = others.filter(event => event.level === 'info')
  const shown = serious.length > 0 ? serious.slice(0, 12) : rest.slice(0, 3)
  const more = [...serious, ...rest].filter(event => !shown.includes(event))
  return html`<section class="panel events"><h3>${serious.length > 0 ? 'Worth knowing' : 'Events'}</h3>${part(Events, { events: shown })}${
    more.length > 0 &&
    html`<details><summary>${more.length} more</summary>${part(Events, { events: more })}</details>`
  }</section>`
}

const profileSection = (data: ReportData): Html | null => {
  const profile = rubricProfile(data)
  if (profile === null) return null
  const drawing = radar(data.info, profile)
  return html`<section>${heading('Rubric profile', `Mean score of each criterion (${profile.source}).`)}
<div class="panel profile-panel ${drawing === null && 'bars-only'}">${drawing}<div><div class="key">${
    profile.before && html`<span><i></i>before</span>`
  }<span><i class="after"></i>after</span></div>${profileBars(data.info, profile)}${taxNote(data.info, profile)}</div></div></section>`
}

const chartSection = (data: ReportData, section: ChartSection): Html => {
  const about = section.title === 'Where the time went' ? stageText(data) : section.about
  return html`<section>${heading(section.title, about)}<div class="charts ${section.size}">${section.charts.map(figure)}</div>${
    section.title === 'Memory' && lessonTable(data.rollouts)
  }</section>`
}

const stageText = (data: ReportData): string => {
  const shares = Object.entries(stageShares(data.metrics))
  if (shares.length === 0) return ''
  const parts = shares.map(([name, share]) => `${stageWord(name)} ${share.toFixed(1)}%`)
  const beside = data.metrics.some(row => typeof row.time?.gradeBusy === 'number')
  return `Of the steps’ time: ${parts.join(', ')}.${beside ? ' Grading goes on while sampling does; only what it takes beyond that is counted as grading.' : ''}`
}

const evaluation = (data: ReportData): Html | null => {
  const tables = testSetTables(data)
  if (tables.length === 0) return null
  return html`<section>${heading('Test sets', 'Problems that training never saw. Bars carry 95% intervals; what shallow cues or published models reach stands in the same table.')}<div class="sets">${tables}</div></section>`
}

const rubricSection = (data: ReportData, charts: readonly ChartSpec[]): Html | null =>
  data.rubrics.length === 0
    ? null
    : html`<section class="section-rubrics">${heading('Rubrics that evolve', rubricsAbout(data.rubrics))}<div class="charts wide">${charts.map(figure)}</div>${rubricTable(data.rubrics)}</section>`

const rolloutSection = (data: ReportData): Html | null => {
  const groups = chooseRollouts(data)
  if (groups.length === 0) return null
  return html`<section class="section-rollouts">${heading('Rollouts', `From ${number(data.rollouts.length)} kept in rollouts.jsonl. Where steps were checked one by one, each has its verdict beside it.`)}${rolloutGroups(data.info, groups)}</section>`
}

const settings = ({ info }: ReportData): Html =>
  html`<section>${heading('Settings')}<div class="panel settings"><details><summary>Configuration as resolved</summary>${part(Pairs, { value: info.config })}</details><details class="print"><summary>Environment</summary>${part(Pairs, { value: { gradus: info.version, ...info.environment } })}</details></div></section>`

const body = (data: ReportData, sections: readonly ChartSection[], rubrics: readonly ChartSpec[]): Html => {
  const parts = sectionsOf(data, sections, rubrics)
  return html`<main>${header(data)}${headlineCards(data)}${contents(parts)}${events(data)}${parts}<footer>Written by Gradus ${
    data.info.version
  } from the files of the run ${data.info.id}. Charts by uPlot (MIT).</footer></main>`
}

const sectionsOf = (
  data: ReportData,
  sections: readonly ChartSection[],
  rubrics: readonly ChartSpec[],
): Html =>
  html`${warningSection(data)}${rewardSection(data.info)}${profileSection(data)}${
    data.metrics.length === 0 && html`<p class="empty">No step has been recorded yet.</p>`
  }${sections.slice(0, 1).map(section => chartSection(data, section))}${evaluation(data)}${answerSection(data)}${sections
    .slice(1)
    .map(section =>
      chartSection(data, section),
    )}${rubricSection(data, rubrics)}${rolloutSection(data)}${settings(data)}`

/** The report as HTML. All text of the run is escaped, and the page may run no script but its own. */
export const renderReport = (data: ReportData): string => {
  const sections = chartSections(data)
  const rubrics = rubricCharts(data.rubrics)
  const specs = [...sections.flatMap(section => section.charts), ...rubrics]
  return page(`${titleOf(data)} – ${data.info.id} – Gradus`, body(data, sections, rubrics), specs)
}

/**
 * Writes `report.html` into a run folder, finished or not, and returns its path.
 * @throws RunError when there is no run or the disk refuses; DataError for a broken file
 */
export const writeReport = (runDir: string): string => {
  const path = join(resolve(runDir), 'report.html')
  const page = renderReport(loadReportData(runDir))
  guardWrite(path, () => writeFileAtomic(path, page))
  return path
}
