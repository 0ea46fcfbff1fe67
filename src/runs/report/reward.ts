/** @file What is rewarded: the formula of the reward, and each criterion with what it says, what it is worth, and what decides it. */

import { formatInteger, joinKnown, plural, threeDigits } from '../../util/format.ts'
import { pointsWord } from '../criterion-words.ts'
import type { RewardedCriterion, RunInfo } from '../rows.ts'
import { criterionLabel } from './data.ts'
import type { PagePair, PageSection } from './view.ts'

const weightOf = ({ criterionWeights }: RunInfo, id: string): string => {
  if (criterionWeights === undefined) return ''
  const weight = criterionWeights[id] ?? 0
  return weight === 0 ? 'not rewarded' : `weight ${threeDigits(weight)}`
}

/** `+3 points · rule length (max: 15) · in 12 rows`. */
const describeWorth = ({ points, check, rows }: RewardedCriterion): string => {
  const worth =
    points === null
      ? 'points differ by row'
      : `${pointsWord(points)} point${Math.abs(points) === 1 ? '' : 's'}`
  return joinKnown(
    [worth, check ?? 'a judge decides', rows !== undefined && `in ${plural(rows, 'row')}`],
    ' · ',
  )
}

const otherCriteria = ({ rubric }: RunInfo): string =>
  rubric === undefined || rubric.ofRows === 0
    ? ''
    : `${rubric.criteria.length > 0 ? 'And ' : ''}${formatInteger(rubric.ofRows)} ${rubric.ofRows === 1 ? 'criterion' : 'criteria'} that single rows have for themselves; rollouts show theirs.`

/** Null for a run that says nothing of it. */
export const rewardSection = (info: RunInfo): PageSection | null => {
  const pairs: PagePair[] = [
    // A recipe's own, then those of the rubric that the run was given.
    ...Object.entries(info.criterionAbout ?? {}).map(([id, text]) => ({
      ...{ name: criterionLabel(info, id), text, note: weightOf(info, id) },
    })),
    ...(info.rubric?.criteria ?? []).map(own => ({
      name: own.id,
      text: own.text ?? 'Each row says it in words of its own.',
      note: describeWorth(own),
    })),
  ]
  const others = otherCriteria(info)
  const isEmpty = pairs.length === 0 && others === ''
  if (info.rewardFormula === undefined && isEmpty) return null
  return {
    title: 'What is rewarded',
    about: info.rewardFormula,
    blocks: [
      !isEmpty && {
        kind: 'panel',
        blocks: [
          { kind: 'pairs', pairs },
          { kind: 'text', text: others, class: 'quiet' },
        ],
      },
    ],
  }
}
