/** @file What is rewarded: the formula of the reward, and each criterion with its meaning and its weight. */

import { threeDigits } from '../../util/format.ts'
import type { RunInfo } from '../rows.ts'
import { criterionLabel } from './data.ts'
import { type Html, html } from './html.ts'
import { heading } from './page.ts'

const weightOf = ({ criterionWeights }: RunInfo, id: string): string => {
  if (criterionWeights === undefined) return ''
  const weight = criterionWeights[id] ?? 0
  return weight === 0 ? 'not rewarded' : `weight ${threeDigits(weight)}`
}

/** Null for a run that says nothing of it, as one of an earlier version. */
export const rewardSection = (info: RunInfo): Html | null => {
  const { rewardFormula, criterionAbout = {} } = info
  const ids = Object.keys(criterionAbout)
  if (rewardFormula === undefined && ids.length === 0) return null
  const criteria = ids.map(
    id =>
      html`<dt>${criterionLabel(info, id)}</dt><dd>${criterionAbout[id]} <span class="quiet">${weightOf(info, id)}</span></dd>`,
  )
  return html`<section>${heading('What is rewarded', rewardFormula)}${ids.length > 0 && html`<div class="panel rewarded"><dl class="pairs">${criteria}</dl></div>`}</section>`
}
