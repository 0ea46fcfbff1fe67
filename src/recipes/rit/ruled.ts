/** @file Criteria of thinking that name a rule: they are executed here, and whoever judges thinking is asked about the others. */

import { RULES, RuleGrader } from '../../grade/rules/index.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { ThinkingTask, ThinkingVerifier, VerifierItem } from '../../tasks/thinking.ts'

/** Whether a criterion is decided by a rule of Gradus; a task's own predicates are none. */
export const hasRule = ({ verifier }: Criterion): boolean =>
  verifier?.kind === 'rule' && RULES.has(verifier.fn)

const withoutRules = <Problem>(item: VerifierItem<Problem>): VerifierItem<Problem> => ({
  ...item,
  rubric: { ...item.rubric, criteria: item.rubric.criteria.filter(criterion => !hasRule(criterion)) },
})

/**
 * A verifier that executes rules on the thinking, and hands on the rest.
 * @throws DataError for a rule that cannot be used
 */
export const withRules = <Problem>(
  others: ThinkingVerifier<Problem>,
  task: Pick<ThinkingTask<Problem>, 'question'>,
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
      return items.map(({ rubric }, i) => {
        const byRule = ruled[i].values()
        const given = own[asked.indexOf(i)] ?? []
        const fits = given.length === rest[i].rubric.criteria.length
        const byOthers = (fits ? given : []).values()
        return rubric.criteria.map((criterion): Verdict => {
          const next = (hasRule(criterion) ? byRule : byOthers).next()
          return next.done ? { criterionId: criterion.id, met: null, source: 'llm' } : next.value
        })
      })
    },
  }
}
