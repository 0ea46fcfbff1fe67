/** @file Criteria of thinking that name a rule: they are executed here, and whoever judges thinking is asked about the others. */

import { RULES, RuleGrader } from '../../grade/rules/index.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { Task } from '../../tasks/task.ts'
import type { ThinkingVerifier, VerifierItem } from '../../tasks/thinking.ts'

/** Whether a criterion is decided by a rule of Gradus; a task's own predicates are none. */
export const hasRule = ({ verifier }: Criterion): boolean =>
  verifier?.kind === 'rule' && RULES.has(verifier.fn)

const withoutRules = <Problem>(item: VerifierItem<Problem>): VerifierItem<Problem> => ({
  ...item,
  rubric: { ...item.rubric, criteria: item.rubric.criteria.filter(criterion => !hasRule(criterion)) },
})

/** Verdicts in the rubric's order; a list of another length than was asked for says nothing about any criterion. */
const merged = (
  criteria: readonly Criterion[],
  ruled: readonly Verdict[],
  given: readonly Verdict[],
): Verdict[] => {
  const expected = criteria.length - ruled.length
  const byRule = ruled.values()
  const byOthers = (given.length === expected ? given : []).values()
  const explanation = `expected ${expected} verdicts, one a criterion, got ${given.length}`
  return criteria.map(criterion => {
    const next = (hasRule(criterion) ? byRule : byOthers).next()
    return next.done ? { criterionId: criterion.id, met: null, explanation, source: 'model' } : next.value
  })
}

/**
 * A verifier that executes rules on the thinking, and hands on the rest.
 * @throws DataError for a rule that cannot be used
 */
export const withRules = <Problem>(
  others: ThinkingVerifier<Problem>,
  task: Pick<Task<Problem>, 'question'>,
): ThinkingVerifier<Problem> => {
  // Its workers start with the first rule.
  const rules = new RuleGrader()
  const verdictsByRule = ({ problem, response, rubric }: VerifierItem<Problem>): Promise<Verdict[]> =>
    rules.grade(
      { prompt: [{ role: 'user', content: task.question(problem) }], response: response.thinking },
      rubric.criteria.filter(hasRule),
    )
  return {
    async verify(items) {
      if (!items.some(({ rubric }) => rubric.criteria.some(hasRule))) return others.verify(items)
      const rest = items.map(withoutRules)
      const asked = rest.flatMap(({ rubric }, i) => (rubric.criteria.length > 0 ? [i] : []))
      const [ruled, own] = await Promise.all([
        Promise.all(items.map(verdictsByRule)),
        others.verify(asked.map(i => rest[i])),
      ])
      const given = new Map(asked.map((i, at) => [i, own[at] ?? []]))
      return items.map(({ rubric }, i) => merged(rubric.criteria, ruled[i], given.get(i) ?? []))
    },
  }
}
