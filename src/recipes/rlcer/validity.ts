/** @file Which proposed criteria are valid: those that go with being right over the responses to their question (RLCER Eq. 7). */

import { criterionCorrelation, isValidCriterion } from '../../eval/validity.ts'
import type { AnchorFinding } from '../../grade/anchors.ts'
import { plainStatement } from '../../grade/proposal/distinct.ts'
import type { Proposal } from '../../grade/proposal/index.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { RlcerConfig } from './config.ts'

/** What a verifier said of one rubric on every response to its question. */
export interface VerifiedRubric extends Pick<Proposal, 'K' | 'wellFormed' | 'criteria'> {
  /** By response, in the order of the criteria. */
  verdicts_N_K: readonly (readonly Verdict[])[]
}

/** When a criterion counts as valid. */
export type ValiditySettings = Omit<RlcerConfig['validity'], 'proxies'>

/** A proposed criterion with what it says of the responses, and whether that goes with their being right. */
export interface JudgedCriterion {
  criterion: Criterion
  /** By response; null where no verdict was given and such are dropped. */
  met: readonly (boolean | null)[]
  /** Null where it or being right does not vary. */
  correlation: number | null
  valid: boolean
  /** Where it was tried on anchors: what was found, without which it would be valid. */
  anchors?: AnchorFinding
}

/** Verdicts on one criterion, by response. */
const columnOf = ({ verdicts_N_K }: VerifiedRubric, k: number, onNull: ValiditySettings['onNull']) =>
  verdicts_N_K.map(verdicts => verdicts[k].met ?? (onNull === 'as-false' ? false : null))

/** @param correct by response; null where nobody knows */
export const judgeCriteria = (
  rubric: VerifiedRubric,
  correct: readonly (boolean | null)[],
  { onNull, ...settings }: ValiditySettings,
): JudgedCriterion[] =>
  rubric.criteria.map((criterion, k) => {
    const met = columnOf(rubric, k, onNull)
    const column = { points: criterion.points, met }
    return {
      criterion,
      met,
      correlation: criterionCorrelation(column, correct, settings),
      valid: isValidCriterion(column, correct, settings),
    }
  })

/** Whether all responses of a question are right, or none is, among those of which it is known: nothing can be learnt there. */
export const isConstant = (correct: readonly (boolean | null)[]): boolean =>
  new Set(correct.filter(right => right !== null)).size < 2

/** Of criteria with the same statement the one with the most points either way; in the order of the first of each. */
export const withoutDuplicates = <Item extends Pick<JudgedCriterion, 'criterion'>>(
  criteria: readonly Item[],
): Item[] => {
  const kept = new Map<string, Item>()
  for (const item of criteria) {
    const name = plainStatement(item.criterion.text)
    const known = kept.get(name)
    if (!known || Math.abs(item.criterion.points) > Math.abs(known.criterion.points)) kept.set(name, item)
  }
  return [...kept.values()]
}

/** A criterion as it is known over all questions of a step: the same words ask for the opposite as a penalty. */
export const statementName = ({ text, points }: Criterion): string =>
  `${points > 0 ? '+' : '-'}${plainStatement(text)}`

/** Verdicts on a criterion that were given in all of a step: how many, and how many agree with being right. */
interface Pool {
  /** By whether the response is right. */
  right: { pairs: number; agree: number }
  wrong: { pairs: number; agree: number }
}

/** Fewest verdicts that say anything, and the share that makes an outcome's proxy. */
const FEWEST_PAIRS = 16
const PROXY_SHARE = 0.95

/**
 * Names of criteria that tell nothing but whether the answer is right: over the pooled responses of a step their verdicts agree with it
 * nearly always, the other way round for penalties.
 */
export const outcomeProxies = (
  questions: readonly { criteria: readonly JudgedCriterion[]; correct: readonly (boolean | null)[] }[],
): ReadonlySet<string> => {
  const pools = new Map<string, Pool>()
  for (const { criteria, correct } of questions)
    for (const { criterion, met } of criteria) {
      const name = statementName(criterion)
      const pool = pools.get(name) ?? { right: { pairs: 0, agree: 0 }, wrong: { pairs: 0, agree: 0 } }
      pools.set(name, pool)
      met.forEach((own, m) => {
        const right = correct[m]
        if (own === null || right === null) return
        const side = right ? pool.right : pool.wrong
        side.pairs++
        side.agree += Number((criterion.points > 0 ? own : !own) === right)
      })
    }
  // On both sides: what is always met agrees with nearly all answers where nearly all are right.
  const agrees = ({ pairs, agree }: Pool['right']) => pairs > 0 && agree >= PROXY_SHARE * pairs
  const isProxy = ({ right, wrong }: Pool) =>
    right.pairs + wrong.pairs >= FEWEST_PAIRS && agrees(right) && agrees(wrong)
  return new Set([...pools].flatMap(([name, pool]) => (isProxy(pool) ? [name] : [])))
}
