/** @file The grader of criteria that name a rule. */

import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { DataError, GradusError, NumericError } from '../../util/errors.ts'
import type { GradeItem, GradeOptions, Grader } from '../grader.ts'
import { compileRule, placeOf } from './registry.ts'
import type { RuleCheck, RuleOutcome } from './rule.ts'

/** Checks criteria by their rules: at once, without a model. Verdicts carry `source: 'rule'`. */
export class RuleGrader implements Grader {
  /** @throws DataError for a criterion without a rule, or with one that cannot be used. */
  async grade(
    item: GradeItem,
    criteria: readonly Criterion[],
    options: GradeOptions = {},
  ): Promise<Verdict[]> {
    options.signal?.throwIfAborted()
    const checks = criteria.map(checkOf)
    return criteria.map(({ id }, index) => asVerdict(id, run(checks[index], item)))
  }
}

const checkOf = (criterion: Criterion, index: number): RuleCheck => {
  const place = placeOf('rubric', index, criterion)
  const { verifier } = criterion
  if (verifier?.kind !== 'rule')
    throw new DataError(
      `${place}: expected a rule, got ${verifier?.kind ?? 'none'}; give it to another grader`,
    )
  return compileRule(verifier.fn, verifier.params, place)
}

/** A check that fails on a response says nothing about it. */
const run = (check: RuleCheck, item: GradeItem): RuleOutcome => {
  try {
    return check(item)
  } catch (error) {
    if (error instanceof NumericError) throw error
    const why = error instanceof GradusError ? error.message : `the rule failed: ${(error as Error).message}`
    return { met: null, explanation: why }
  }
}

const asVerdict = (criterionId: string, { met, credit, explanation }: RuleOutcome): Verdict => {
  if (credit !== undefined && !(credit >= 0 && credit <= 1))
    throw new NumericError(
      `criterion ${criterionId}: expected a credit in [0, 1], got ${credit}; check its rule`,
    )
  return {
    criterionId,
    met,
    ...(credit !== undefined && { credit }),
    ...(explanation !== undefined && { explanation }),
    source: 'rule',
  }
}
