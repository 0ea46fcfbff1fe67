/** @file A paper's report: every claim with effect, interval, p and status, the runs behind it, and what was cut. */

import { join } from 'node:path'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import { type Html, html, part } from '../../runs/report/html.ts'
import { figure, heading, page } from '../../runs/report/page.ts'
import { StatusChip } from '../../runs/report/parts/claim.tsx'
import { Facts, type ReportFact } from '../../runs/report/parts/facts.tsx'
import { Pairs } from '../../runs/report/parts/pairs.tsx'
import { writeFileAtomic } from '../../util/atomic.ts'
import { formatDuration, number, percent } from '../../util/format.ts'
import type { ControlResult } from '../analysis/controls.ts'
import type { FinishedRun } from '../metrics/index.ts'
import { looksOf } from '../plan/blocks.ts'
import { countsOf } from '../results/counts.ts'
import type { ArmCost, PaperResult } from '../results/paper.ts'
import type { Provenance } from '../run/provenance.ts'
import { ClaimDetails } from './claim.tsx'
import { claimTable } from './claim-table.ts'
import { paperCharts } from './curves.ts'
import { paperFigures } from './figures.ts'
import { PAPER_STYLE } from './style.ts'
import { differenceText } from './units.ts'

const counts = (result: PaperResult): Html => {
  const { statuses, apart } = countsOf(result)
  const all = [...statuses, { status: 'apart, not counted', count: apart.length }]
  return html`<div class="counts">${all.flatMap(({ status, count }) => (count > 0 ? [part(StatusChip, { status, count })] : []))}</div>`
}

const header = (result: PaperResult): Html => {
  const { registration, runs, registered } = result
  const { seeds, starts, test } = registration
  const state = runs.done === runs.planned ? 'complete' : `${runs.done} of ${runs.planned} runs`
  const facts: ReportFact[] = [
    ['cold starts', starts.length],
    ['seeds', seeds.length],
    ['steps', registration.steps],
    ['test problems', number(test.problems)],
    ['training', formatDuration(runs.seconds)],
    ['registered', registered.registeredAt.slice(0, 16).replace('T', ' ')],
    ['decision rule', result.rule],
  ]
  return html`<header><div class="top"><h1>${registration.title}</h1><span class="status ${runs.done === runs.planned && 'finished'}">${state}</span></div>
${part(Facts, { facts })}
${registration.summary !== undefined && html`<p class="lead">${registration.summary}</p>`}${registration.afterwards.notes.map(note => html`<p class="lead">${note}</p>`)}${counts(result)}</header>`
}

const CLAIMS_ABOUT =
  'Effects are means of paired differences (of shares: in points), one pair for each cold start and seed, with 95% bootstrap intervals, widened for few pairs and, against the start, by the start’s own sampling error; p by sign-flip permutation, then corrected by Holm over all claims of the paper and for the looks. Dashed: the smallest effect that was registered as mattering; shaded: a registered margin. Detectable is the effect that so many pairs would find four times in five as the first of all claims, or the margin that they would show. All of it is given these cold starts; where their effects differ, it is said.'

const claims = (result: PaperResult): Html =>
  html`<section>${heading('Claims', CLAIMS_ABOUT)}<div class="panel sets">${claimTable(countsOf(result).counted)}</div></section>${apart(result)}`

const apart = (result: PaperResult): Html | null => {
  const found = countsOf(result).apart
  if (found.length === 0) return null
  const why = found.map(own => html`<li>${own.claim.claim.id}, ${own.is}: ${own.why}</li>`)
  return html`<section>${heading('Apart, not counted', 'Their status says less than it seems to: whatever was trained would have come out so, or half of the comparison is missing.')}<div class="panel sets">${claimTable(found.map(({ claim }) => claim))}</div><ul class="cut">${why}</ul></section>`
}

const controlRow = (
  result: PaperResult,
  { kind, arm, outcome, atRegistration, above, gain, note }: ControlResult,
): Html => {
  const { metric } = result.registration.controls
  const cell = (statistics: ControlResult['above']) =>
    statistics === null
      ? html`<td class="num">–</td>`
      : html`<td class="num">${differenceText(metric, statistics.difference)}<small>${statistics.interval.map(end => differenceText(metric, end)).join(' to ')}</small></td>`
  return html`<tr><th scope="row">${kind}<small>${arm}</small></th><td>${part(StatusChip, { status: outcome })}${note && html`<small>${note}</small>`}${atRegistration && html`<small>${atRegistration.outcome} by rule ${atRegistration.rule}, at registration</small>`}</td>${cell(above)}${cell(gain)}<td class="num quiet">${above?.n ?? 0}</td></tr>`
}

const controls = (result: PaperResult): Html => {
  const { of } = result.registration.controls
  const absent = result.absentControls.map(
    ({ kind, reason }) =>
      html`<tr><th scope="row">${kind}</th><td><span class="verdict">left out</span></td><td colspan="3">${reason}</td></tr>`,
  )
  return html`<section>${heading('Negative controls', `What ${of} gains must come from what it is rewarded for. A control passes when ${of} is above it and it is shown not to gain on its start; it fails when it gains.`)}<div class="panel"><div class="scroll"><table><thead><tr><th>Control</th><th></th><th class="num">${of} − control</th><th class="num">Control − its start</th><th class="num">Pairs</th></tr></thead><tbody>${result.controls.map(control => controlRow(result, control))}${absent}</tbody></table></div></div></section>`
}

const curves = (charts: readonly ChartSpec[]): Html | null =>
  charts.length === 0
    ? null
    : html`<section>${heading('Curves', 'Means over cold starts and seeds; bands are 95% intervals of the mean. Drag to zoom, double-click to go back.')}<div class="charts wide">${charts.map(figure)}</div></section>`

const figures = (drawn: readonly Html[]): Html | null =>
  drawn.length === 0
    ? null
    : html`<section>${heading('Figures')}<div class="charts wide">${drawn}</div></section>`

const details = (result: PaperResult): Html =>
  html`<section>${heading('Claim by claim', 'Every dot is a run after its last step.')}<div class="details">${result.claims.map(claim => part(ClaimDetails, { result, claim }))}</div></section>`

const armRow = (arm: ArmCost, judged: boolean): Html => {
  const cell = (text: string | Html) => html`<td class="num">${arm.runs > 0 ? text : '–'}</td>`
  return html`<tr><th scope="row">${arm.arm}${arm.summary && html`<small>${arm.summary}</small>`}</th><td class="num">${arm.runs}${arm.runs < arm.planned && html` of ${arm.planned}`}</td>${cell(String(arm.steps))}${cell(number(Math.round(arm.tokens)))}${judged && cell(judgeText(arm))}${cell(formatDuration(arm.seconds))}</tr>`
}

const judgeText = ({ judgeCalls, judgeCachedShare }: ArmCost): string | Html => {
  if (judgeCalls === undefined) return '–'
  const cached = judgeCachedShare
    ? html`<small>${percent(judgeCachedShare)} of the questions needed none</small>`
    : ''
  return html`${number(Math.round(judgeCalls))}${cached}`
}

const arms = (result: PaperResult): Html => {
  const judged = result.arms.some(({ judgeCalls }) => judgeCalls !== undefined)
  const calls = judged && html`<th class="num">Judge calls</th>`
  return html`<section>${heading('Arms', 'What each one took, means over its runs.')}<div class="panel"><div class="scroll"><table><thead><tr><th>Arm</th><th class="num">Runs</th><th class="num">Steps</th><th class="num">Generated tokens</th>${calls}<th class="num">Time a run</th></tr></thead><tbody>${result.arms.map(arm => armRow(arm, judged))}</tbody></table></div></div></section>`
}

const cut = ({ registration, failed }: PaperResult): Html | null => {
  const missing = failed.map(({ id, message }) => `Run ${id} failed: ${message}`)
  const all = [...registration.cut, ...(registration.test.note ? [registration.test.note] : []), ...missing]
  if (all.length === 0) return null
  return html`<section>${heading('What was cut')}<ul class="cut">${all.map(text => html`<li>${text}</li>`)}</ul></section>`
}

const settingsText = ({ versions, machine, command }: Provenance): string =>
  Object.entries({ ...versions, ...machine, ...(command !== undefined && { by: command }) })
    .map(([key, value]) => `${key} ${value}`)
    .join(', ')

const origin = (result: PaperResult): Html => {
  const value = {
    registration: result.registration.file,
    'SHA-256': result.registration.hash,
    'decision rule': `${result.rule}; at registration ${result.registered.rule}`,
    ...(Object.keys(result.registered.versions).length > 0 && {
      'registered with': settingsText({ versions: result.registered.versions, machine: {} }),
    }),
    'trained with': result.trainedWith.map(each => `${settingsText(each)} (${each.runs} runs)`).join('; '),
    'analysed with': settingsText(result.analysedWith),
    ...(result.notes && { 'several machines': result.notes.join('; ') }),
  }
  return html`<section>${heading('Where this comes from')}<div class="panel settings">${part(Pairs, { value })}</div></section>`
}

const blockRows = ({ blocks, claims }: PaperResult): Html[] =>
  claims.map(({ claim }, i) => {
    const cells = blocks.map(({ alone, together }, nth) => {
      const chips = nth === 0 ? [alone[i]] : [alone[i], together[i]]
      return chips.map(
        each => html`<td>${part(StatusChip, { status: each.status })}<small>${each.reason}</small></td>`,
      )
    })
    return html`<tr><th scope="row">${claim.id}</th>${cells}</tr>`
  })

const blockHeads = ({ blocks }: PaperResult): Html[] =>
  blocks.map(({ nth, seeds, registeredAt }) => {
    const what = `${seeds.length} seeds, registered ${registeredAt.slice(0, 10)}`
    const together = nth > 1 && html`<th>Together<small>look ${nth}</small></th>`
    return html`<th>Block ${nth}<small>${what}</small></th>${together}`
  })

const blocks = (result: PaperResult): Html | null =>
  result.blocks.length === 0
    ? null
    : html`<section>${heading('Blocks of seeds', `The experiment was enlarged. What decides at each look is what all runs until then say together, with p multiplied by the ${looksOf(result.registration)} looks; each block alone is for reading.`)}<div class="panel"><div class="scroll"><table><thead><tr><th>Claim</th>${blockHeads(result)}</tr></thead><tbody>${blockRows(result)}</tbody></table></div></div></section>`

const body = (result: PaperResult, charts: readonly ChartSpec[], drawn: readonly Html[]): Html =>
  html`<main>${header(result)}${claims(result)}${curves(charts)}${figures(drawn)}${blocks(result)}${details(result)}${controls(result)}${arms(result)}${cut(result)}${origin(result)}<footer>Written by Gradus ${result.analysedWith.versions.gradus}. All of it in this miniature: a CPU model says nothing about models a thousand times larger. Charts by uPlot (MIT).</footer></main>`

/** The report as HTML, self-contained. */
export const renderPaperReport = (result: PaperResult, runs: readonly FinishedRun[]): string => {
  const charts = paperCharts(result.registration, runs)
  return page(
    `${result.registration.title} – Gradus`,
    body(result, charts, paperFigures(result.registration, runs)),
    charts,
    PAPER_STYLE,
  )
}

/** Writes `report.html` beside the results and returns its path. */
export const writePaperReport = (
  folder: string,
  result: PaperResult,
  runs: readonly FinishedRun[],
): string => {
  const path = join(folder, 'report.html')
  writeFileAtomic(path, renderPaperReport(result, runs))
  return path
}
