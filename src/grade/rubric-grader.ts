/** @file The grader of mixed rubrics: each criterion goes to what checks it, and only judged ones reach a model. */

import type { Criterion, Rubric, Verdict } from '../rubric/criterion.ts'
import { ConfigError, DataError, GradusError } from '../util/errors.ts'
import { FormalGrader, validateFormal } from './formal-grader.ts'
import type { GradeItem, GradeOptions, Grader } from './grader.ts'
import { criterionPlace, validateRules } from './rules/registry.ts'
import { RuleGrader } from './rules/rule-grader.ts'

export interface RubricGraderOptions {
  /** Grades criteria without a verifier. */
  judge?: Grader
  /** Default: the rule predicates. */
  rules?: Grader
  /** Default: the formal checks, with a solver that starts when it is first needed. */
  formal?: Grader
  /** Without a judge: `null` leaves judged criteria without a verdict and says why; `error` refuses them. Default `null`. */
  onNoJudge?: 'null' | 'error'
}

export type GradingRoute = 'rule' | 'formal' | 'judge'

/** Who grades a criterion. */
export const routeOf = ({ verifier }: Criterion): GradingRoute => verifier?.kind ?? 'judge'

const withoutJudge: Grader = {
  grade: async (_item, criteria) =>
    criteria.map(({ id }) => ({
      criterionId: id,
      met: null,
      explanation: 'no judge configured',
      source: 'llm',
    })),
}

const refuseJudged: Grader = {
  grade: async (_item, criteria) => {
    throw new ConfigError(
      `criterion ${JSON.stringify(criteria[0].id)}: expected a judge, got none; name one, or give the criterion a verifier`,
    )
  },
}

/** Verdicts of one grader about its criteria, checked: a grader that mixes up its list must not go unnoticed. */
const gradePart = async (
  grader: Grader,
  item: GradeItem,
  criteria: readonly Criterion[],
  options?: GradeOptions,
): Promise<Verdict[]> => {
  const verdicts = await grader.grade(item, criteria, options)
  const fits =
    verdicts.length === criteria.length &&
    verdicts.every(({ criterionId }, index) => criterionId === criteria[index].id)
  if (fits) return verdicts
  throw new GradusError(
    `grader: expected verdicts on ${criteria.map(({ id }) => id).join(', ')}, got ${verdicts.map(({ criterionId }) => criterionId).join(', ') || 'none'}; one a criterion, in order`,
  )
}

/**
 * A grader that sends each criterion where its `verifier` says: rules and formal checks are worked out here, criteria
 * without one go to the judge, in one call; verdicts come back in the order of the criteria. `close` closes its parts.
 * @example
 * const seine = { id: 'seine', text: 'Names the river.', points: 1 }
 * const grader = rubricGrader({ judge: constantGrader(true) })
 * const [verdict] = await grader.grade({ prompt: [], response: 'The Seine.' }, [
 *   { ...seine, verifier: { kind: 'rule', fn: 'contains', params: { any: ['Seine'] } } },
 * ])
 * verdict.met // true
 */
export const rubricGrader = ({
  judge,
  rules = new RuleGrader(),
  formal = new FormalGrader(),
  onNoJudge = 'null',
}: RubricGraderOptions = {}): Grader => {
  const graders: Readonly<Record<GradingRoute, Grader>> = {
    rule: rules,
    formal,
    judge: judge ?? (onNoJudge === 'error' ? refuseJudged : withoutJudge),
  }
  return {
    async grade(item, criteria, options) {
      const verdicts = new Array<Verdict>(criteria.length)
      const parts = (Object.keys(graders) as GradingRoute[]).map(async route => {
        const places = criteria.flatMap((criterion, index) => (routeOf(criterion) === route ? [index] : []))
        if (places.length === 0) return
        const own = places.map(index => criteria[index])
        for (const [at, verdict] of (await gradePart(graders[route], item, own, options)).entries())
          verdicts[places[at]] = verdict
      })
      await Promise.all(parts)
      return verdicts
    },
    async close() {
      await Promise.all(Object.values(graders).map(grader => grader.close?.()))
    },
  }
}

/** How many criteria need a judge. */
export const judgedCount = ({ criteria }: Rubric): number =>
  criteria.filter(criterion => routeOf(criterion) === 'judge').length

/** Whether any criterion needs a judge. */
export const needsJudge = (rubric: Rubric): boolean => judgedCount(rubric) > 0

/**
 * Checks every verifier of a rubric, rules and formal checks; for when a rubric is loaded.
 * @throws DataError listing every criterion that names a check that does not exist, or gives it parameters that it does not take.
 * @example
 * const short = { id: 'short', text: 'Is short.', points: 1 }
 * let fault = ''
 * try { validateVerifiers({ criteria: [{ ...short, verifier: { kind: 'rule', fn: 'lenght' } }] }) } catch (error) { fault = String(error) }
 * fault.endsWith('got "lenght"; did you mean length?') // true
 */
export const validateVerifiers = (rubric: Rubric, source = 'rubric'): void => {
  const faults: string[] = []
  const collect = (validate: () => void) => {
    try {
      validate()
    } catch (error) {
      if (!(error instanceof DataError)) throw error
      faults.push(error.message)
    }
  }
  collect(() => validateRules(rubric, source))
  for (const [index, criterion] of rubric.criteria.entries())
    collect(() => validateFormal(criterion, criterionPlace(source, index, criterion)))
  if (faults.length > 0) throw new DataError(faults.join('\n'))
}
