/** @file What the monitors said: a timeline of their signs, each warning with what to try and the rollouts that show it. */

import { number, plural } from '../../util/format.ts'
import type { ReportData } from './data.ts'
import { type Html, html, part } from './html.ts'
import { SignCard } from './parts/sign.tsx'
import { Rollouts } from './rollouts.tsx'
import { describeSpan, type ReportedSign, signsOf } from './signs.ts'

/** One line a monitor, a bar from sign to end. */
const timeline = (signs: readonly ReportedSign[], last: number): Html => {
  const names = [...new Set(signs.map(({ title }) => title))]
  const place = (step: number) => `${((100 * step) / Math.max(1, last)).toFixed(2)}%`
  const bar = (sign: ReportedSign): Html => {
    const { monitor, title, step, until } = sign
    return html`<a href="#warning-${monitor}-${step}" class="${until === null && 'open'}" style="left:${place(step)};width:${place((until ?? last) - step)}" title="${title}, ${describeSpan(sign)}"><i></i></a>`
  }
  return html`<div class="timeline" role="img" aria-label="${signs.map(sign => `${sign.title} ${describeSpan(sign)}`).join('; ')}">${names.map(
    name =>
      html`<span class="what">${name}</span><div class="track">${signs.filter(({ title }) => title === name).map(bar)}</div>`,
  )}<span></span><div class="axis"><span>step 0</span><span>${number(last)}</span></div></div>`
}

/** Rollouts that were kept to show a sign, folded away. */
const ShownBy = ({ data, sign: { monitor, step } }: { data: ReportData; sign: ReportedSign }) => {
  const shown = data.rollouts.filter(row => row.monitor === monitor && row.step === step)
  if (shown.length === 0) return null
  return (
    <details>
      <summary>
        {plural(shown.length, 'rollout')} of step {step} that {shown.length === 1 ? 'shows' : 'show'} it best
      </summary>
      <Rollouts info={data.info} rows={shown} />
    </details>
  )
}

/** Null when nothing was seen. */
export const warningSection = (data: ReportData): Html | null => {
  const signs = signsOf(data.events)
  if (signs.length === 0) return null
  const last = Math.max(
    data.info.steps ?? 0,
    data.metrics.at(-1)?.step ?? 0,
    ...signs.map(({ step, until }) => until ?? step),
  )
  return html`<section class="section-warnings"><a class="place" id="warnings"></a><h2>Warnings</h2><p class="about">Signs that the monitors saw while training: a bar reaches from the step of the warning to the step where the sign was gone. A sign is a reason to look, not a verdict.</p>
<div class="panel">${timeline(signs, last)}</div><div class="warnings">${signs.map(sign => part(SignCard, { sign, children: <ShownBy data={data} sign={sign} /> }))}</div></section>`
}
