/** @file What the monitors said: a timeline of their signs, each warning with what to try and the rollouts that show it. */

import { number, plural } from '../../util/format.ts'
import type { EventRow, RolloutRow } from '../rows.ts'
import type { ReportData } from './data.ts'
import { type Html, html } from './html.ts'
import { rolloutCard } from './rollouts.ts'

/** One warning from its first step to its last. */
interface WarningSpan {
  event: EventRow & { monitor: string; step: number }
  /** Step at which the sign was gone; null while it is there. */
  over: number | null
  rollouts: RolloutRow[]
}

const isFromMonitor = (event: EventRow): event is WarningSpan['event'] =>
  event.monitor !== undefined && event.step !== undefined

/** Warnings in the order in which they came. */
export const warningSpans = ({ events, rollouts }: ReportData): WarningSpan[] => {
  const told = events.filter(isFromMonitor)
  return told
    .filter(({ turn }) => turn === 'on')
    .map(event => {
      const after = told.find(
        ({ monitor, turn, step }) => monitor === event.monitor && turn === 'over' && step > event.step,
      )
      const shown = rollouts.filter(({ monitor, step }) => monitor === event.monitor && step === event.step)
      return { event, over: after?.step ?? null, rollouts: shown }
    })
}

const titleOf = ({ event }: WarningSpan): string => event.title ?? event.monitor

const span = ({ event, over }: WarningSpan): string =>
  over === null ? `since step ${event.step}` : `steps ${event.step} to ${over}`

/** One line a monitor, a bar from sign to end. */
const timeline = (found: readonly WarningSpan[], last: number): Html => {
  const names = [...new Set(found.map(titleOf))]
  const place = (step: number) => `${((100 * step) / Math.max(1, last)).toFixed(2)}%`
  const bar = (warning: WarningSpan): Html => {
    const { event, over } = warning
    const length = (over ?? last) - event.step
    return html`<a href="#warning-${event.monitor}-${event.step}" class="${over === null && 'open'}" style="left:${place(event.step)};width:${place(length)}" title="${titleOf(warning)}, ${span(warning)}"><i></i></a>`
  }
  return html`<div class="timeline" role="img" aria-label="${found.map(each => `${titleOf(each)} ${span(each)}`).join('; ')}">${names.map(
    name =>
      html`<span class="what">${name}</span><div class="track">${found.filter(each => titleOf(each) === name).map(bar)}</div>`,
  )}<span></span><div class="axis"><span>step 0</span><span>${number(last)}</span></div></div>`
}

const card = (data: ReportData, warning: WarningSpan): Html => {
  const { event, rollouts } = warning
  const figures = Object.entries(event.figures ?? {})
  const seen = event.message.slice(event.message.startsWith(`${event.title}: `) ? event.title!.length + 2 : 0)
  return html`<article class="panel warning-card" id="warning-${event.monitor}-${event.step}"><header><span class="chip warning">${span(warning)}</span><h3>${titleOf(warning)}</h3></header>
<p class="seen">${seen}.</p>${
    event.why &&
    html`<dl><dt>Why it matters</dt><dd>${event.why}.</dd><dt>What to try</dt><dd>${event.advice}.</dd></dl>`
  }<p class="parts">${figures.map(([name, value]) => html`<span class="part"><b>${name}</b> ${number(value)}</span>`)}</p>${
    rollouts.length > 0 &&
    html`<details><summary>${plural(rollouts.length, 'rollout')} of step ${event.step} that ${rollouts.length === 1 ? 'shows' : 'show'} it best</summary><div class="rollouts">${rollouts.map(row => rolloutCard(data.info, row))}</div></details>`
  }</article>`
}

/** Null when nothing was seen. */
export const warningSection = (data: ReportData): Html | null => {
  const found = warningSpans(data)
  if (found.length === 0) return null
  const last = Math.max(
    data.info.steps ?? 0,
    data.metrics.at(-1)?.step ?? 0,
    ...found.map(each => each.over ?? each.event.step),
  )
  return html`<section class="section-warnings"><a class="place" id="warnings"></a><h2>Warnings</h2><p class="about">Signs that the monitors saw while training: a bar reaches from the step of the warning to the step where the sign was gone. A sign is a reason to look, not a verdict.</p>
<div class="panel">${timeline(found, last)}</div><div class="warnings">${found.map(each => card(data, each))}</div></section>`
}
