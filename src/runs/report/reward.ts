/** @file What is rewarded: the formula of the reward, and each criterion with what it says, what it is worth, and what decides it. */

import { formatInteger, plural, threeDigits } from '../../util/format.ts'
import { pointsWord } from '../criterion-words.ts'
import type { RewardedCriterion, RunInfo } from '../rows.ts'
import { criterionLabel } from './data.ts'
import { type Html, html } from './html.ts'
import { heading } from './page.ts'

const weightOf = ({ criterionWeights }: RunInfo, id: string): string => {
  if (criterionWeights === undefined) return ''
  const weight = criterionWeights[id] ?? 0
  return weight === 0 ? 'not rewarded' : `weight ${threeDigits(weight)}`
}

/** Criteria of a recipe's own. */
const ownCriteria = (info: RunInfo): Html[] =>
  Object.entries(info.criterionAbout ?? {}).map(
    ([id, about]) =>
      html`<dt>${criterionLabel(info, id)}</dt><dd>${about} <span class="quiet">${weightOf(info, id)}</span></dd>`,
  )

/** `+3 points · rule length (max: 15) · in 12 rows`. */
const describeWorth = ({ points, check, rows }: RewardedCriterion): string =>
  [
    points === null
      ? 'points differ by row'
      : `${pointsWord(points)} ${Math.abs(points) === 1 ? 'point' : 'points'}`,
    check ?? 'a judge decides',
    ...(rows === undefined ? [] : [`in ${plural(rows, 'row')}`]),
  ].join(' · ')

/** Criteria of the rubric that the run was given. */
const givenCriteria = ({ rubric }: RunInfo): Html[] =>
  (rubric?.criteria ?? []).map(
    own =>
      html`<dt>${own.id}</dt><dd>${own.text ?? 'Each row says it in words of its own.'} <span class="quiet">${describeWorth(own)}</span></dd>`,
  )

const otherCriteria = ({ rubric }: RunInfo): Html | null =>
  rubric === undefined || rubric.ofRows === 0
    ? null
    : html`<p class="quiet">${rubric.criteria.length > 0 ? 'And ' : ''}${formatInteger(rubric.ofRows)} ${rubric.ofRows === 1 ? 'criterion' : 'criteria'} that single rows have for themselves; rollouts show theirs.</p>`

/** Null for a run that says nothing of it, as one of an earlier version. */
export const rewardSection = (info: RunInfo): Html | null => {
  const criteria = [...ownCriteria(info), ...givenCriteria(info)]
  const others = otherCriteria(info)
  if (info.rewardFormula === undefined && criteria.length === 0 && others === null) return null
  return html`<section>${heading('What is rewarded', info.rewardFormula)}${
    (criteria.length > 0 || others !== null) &&
    html`<div class="panel rewarded">${criteria.length > 0 && html`<dl class="pairs">${criteria}</dl>`}${others}</div>`
  }</section>`
}
