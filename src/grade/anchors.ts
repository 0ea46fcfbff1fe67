/** @file Anchors: labelled answers that a proposed criterion has to tell apart before it counts (after arXiv 2610.11464). */

import { percent } from '../util/format.ts'
import { logChoose } from '../util/special.ts'
import { meanKnown } from '../util/statistics.ts'

/** What a labelled answer earns on a criterion, in [0, 1], a penalty's for its absence; null where nothing was said of it. */
interface AnchorGain {
  good: boolean
  gain: number | null
}

/** Whether a criterion may count, and why. */
export interface AnchorFinding {
  /**
   * Mean of what good answers earn and what bad ones do not (balanced accuracy), in [0, 1]: 1/2 for a criterion that says the same
   * of all answers. Null where nothing was said of good ones, or of bad ones.
   */
  agreement: number | null
  admitted: boolean
  reason: string
}

/** Rounding of means must not keep out what is exactly at the limit. */
const ROUNDING = 1e-9

/** Whether a criterion tells good answers from bad ones well enough. Where the judge says nothing, nobody can tell, and it is kept out. */
export const findOnAnchors = (gains: readonly AnchorGain[], minAgreement: number): AnchorFinding => {
  const earned = (side: boolean) => meanKnown(gains.flatMap(({ good, gain }) => (good === side ? gain : [])))
  const [good, bad] = [earned(true), earned(false)]
  if (good === null || bad === null)
    return {
      ...{ agreement: null, admitted: false },
      reason: `anchors: the judge says nothing of ${good === null ? 'good' : 'bad'} answers`,
    }
  const agreement = (good + 1 - bad) / 2
  const admitted = agreement >= minAgreement - ROUNDING
  const found = `anchors: good answers earn ${percent(good)} and bad ones ${percent(bad)}, agreement ${percent(agreement)}`
  return {
    agreement,
    admitted,
    reason: `${found}, ${admitted ? 'at least' : 'below'} ${percent(minAgreement)}`,
  }
}

/** Chance that a criterion is admitted whose verdicts on so many good and bad answers are tosses of a coin. */
export const chanceOfAdmission = (good: number, bad: number, minAgreement: number): number => {
  let chance = 0
  for (let g = 0; g <= good; g++)
    for (let b = 0; b <= bad; b++)
      if ((g / good + 1 - b / bad) / 2 >= minAgreement - ROUNDING)
        chance += Math.exp(logChoose(good, g) + logChoose(bad, b) - (good + bad) * Math.LN2)
  return chance
}
