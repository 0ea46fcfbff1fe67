/** @file A comparison of groups of runs as one HTML file: a table, curves over one another, the settings that differ. */

import { number, percent, percentInterval, plural, points, pointsInterval } from '../../util/format.ts'
import { COLORS } from '../report/bands.ts'
import { type Html, html } from '../report/html.ts'
import { figure, heading, page } from '../report/page.ts'
import { overlayCharts, shownGroups } from './charts.ts'
import type { ComparedRuns, GroupDifference, RunMean } from './comparisons.ts'
import type { RunGroup } from './groups.ts'

const STYLE = `.about + .panel { margin-top: 14px; } .swatch { display: inline-block; width: 12px; height: 4px; border-radius: 2px; margin-right: 8px; vertical-align: middle; }`

const share = ({ mean, interval }: RunMean): Html =>
  html`<td class="num">${percent(mean)}${interval && html`<small>${percentInterval(interval)}</small>`}</td>`

const difference = (value: GroupDifference | null): Html =>
  html`<td class="num">${value && (value.difference === null ? value.over : points(value.difference))}${value?.interval && html`<small>${pointsInterval(value.interval)}</small>`}</td>`

const table = (head: readonly string[], rows: readonly Html[]): Html =>
  html`<div class="panel"><div class="scroll"><table><thead><tr>${head.map((name, i) => html`<th class="${i > 0 && 'num'}">${name}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div></div>`

const groupTable = (
  { groups, scores, metrics }: ComparedRuns,
  colorOf: (label: string) => string | null,
): Html => {
  const reward = metrics.find(({ name }) => name === 'reward')
  const head = [
    'Group',
    'Runs',
    'Steps',
    ...scores.flatMap(({ label, set }) => [
      `${label}, ${set}`,
      ...(groups.length > 1 ? ['to the first'] : []),
    ]),
    ...(reward ? ['Reward, last tenth'] : []),
  ]
  const rows = groups.map(({ label, runs, steps }, i) => {
    const color = colorOf(label)
    return html`<tr><th scope="row">${color && html`<i class="swatch" style="background:var(--${color})"></i>`}${label}</th><td class="num">${runs.length}</td><td class="num">${steps[0] === steps[1] ? steps[0] : `${steps[0]} to ${steps[1]}`}</td>${scores.map(
      ({ groups: own }) => html`${share(own[i])}${groups.length > 1 && difference(own[i].differenceToFirst)}`,
    )}${reward && html`<td class="num">${number(reward.groups[i].mean)}</td>`}</tr>`
  })
  return table(head, rows)
}

const runTable = ({ groups }: ComparedRuns): Html =>
  table(
    ['Run', 'Seed', 'Status', 'Steps', 'Group'],
    groups.flatMap(({ label, runs }) =>
      runs.map(
        ({ name, seed, status, step }) =>
          html`<tr><th scope="row">${name}</th><td class="num">${seed ?? '–'}</td><td class="num">${status}</td><td class="num">${step}</td><td class="num">${label}</td></tr>`,
      ),
    ),
  )

const settingTable = ({ groups, settings }: ComparedRuns): Html =>
  table(
    ['Setting', ...groups.map(({ label }) => label)],
    settings.map(
      ({ name, values }) =>
        html`<tr><th scope="row">${name}</th>${values.map(value => html`<td class="num">${value === undefined ? '–' : JSON.stringify(value)}</td>`)}</tr>`,
    ),
  )

/** The page. Where there are more groups than colours, the charts have the best of them, and say so. */
export const overlayPage = (title: string, groups: readonly RunGroup[], compared: ComparedRuns): string => {
  const [first] = compared.scores
  const shown = shownGroups(groups, first ? first.groups.map(({ mean }) => mean) : groups.map(() => null))
  const charts = overlayCharts(shown)
  const colorOf = (label: string) => {
    const at = shown.findIndex(group => group.label === label)
    return at < 0 ? null : COLORS[at]
  }
  const about = `Lines are means over a group's runs, bands reach from the lowest run to the highest.${
    shown.length < groups.length
      ? ` Shown are ${shown.length} of ${groups.length} groups, those with the highest ${first?.label ?? 'score'}; the table has all.`
      : ''
  }`
  const body = html`<main><header><div class="top"><h1>${title}</h1></div><div class="facts"><span>${plural(compared.runs, 'run')} in ${plural(groups.length, 'group')}</span></div></header>
<section>${heading('Groups', 'Runs of a group differ in nothing but the seed. Means over runs with 95% intervals over runs (Student’s t); differences are paired by seed, or by problem where a group is one run.')}${groupTable(compared, colorOf)}</section>
${charts.length > 0 && html`<section>${heading('Curves', about)}<div class="charts wide">${charts.map(figure)}</div></section>`}
${compared.settings.length > 0 && html`<section>${heading('Settings that differ')}${settingTable(compared)}</section>`}
<section>${heading('Runs')}${runTable(compared)}</section></main>`
  return page(title, body, charts, STYLE)
}
