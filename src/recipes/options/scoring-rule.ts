/** @file The rule that makes a reward of verdicts: a sum, a veto, diminishing returns, a soft minimum. */

import { z } from 'zod'
import type { Rubric } from '../../rubric/criterion.ts'
import { ruleOf } from '../../rubric/rules.ts'
import type { NullHandling } from '../../rubric/score.ts'
import type { ResponseScoring } from '../../tasks/scored-response.ts'
import { refuse } from '../common/refuse.ts'
import type { RewardFacts, RewardOption } from './option.ts'

const PATH = 'scoringRule'

const scoringRuleSchema = z.strictObject({
  name: z
    .string()
    .describe(
      'The rule, as `gradus score --rule` takes it: signed, bounded, mean, soft-min, ..., or veto(...) or saturation(...) around one.',
    ),
  critical: z
    .array(z.string())
    .default([])
    .describe('Ids of criteria that can veto the score, beside those that the rubric marks as critical.'),
})
type ScoringRule = z.output<typeof scoringRuleSchema>

/** The rubric with the criteria marked that the configured veto goes by. */
const withCritical = ({ critical }: ScoringRule, rubric: Rubric): Rubric =>
  critical.length === 0
    ? rubric
    : {
        ...rubric,
        criteria: rubric.criteria.map(own => (critical.includes(own.id) ? { ...own, critical: true } : own)),
      }

const scoringBy = (own: ScoringRule, nulls?: NullHandling): ResponseScoring => {
  const rule = ruleOf(own.name)
  return (rubric, verdicts, said) => rule.score(withCritical(own, rubric), verdicts, { nulls, said }).score
}

/** Whether a rule makes a score of a rubric whose points are all below 0. */
const scoresFlaws = (name: string): boolean => {
  const criteria = [{ id: 'flaw', text: 'Is wrong.', points: -1 }]
  return ruleOf(name).score({ criteria }, [{ criterionId: 'flaw', met: true }]).score !== null
}

/**
 * @throws ConfigError for a name that is no rule or has no score for negated rubrics, a veto without a critical criterion, and for ids
 *   that no rubric has
 */
const check = ({ name, critical }: ScoringRule, { rubrics, negated, evolving }: RewardFacts): void => {
  const isVeto = /\bveto\b/.test(name)
  try {
    ruleOf(name)
  } catch (error) {
    refuse(`${PATH}.name: ${(error as Error).message}`, 'gradus score --help lists the rules')
  }
  if (negated && !scoresFlaws(name))
    refuse(
      `${PATH}.name: expected a rule for points below 0 alone beside noise "negated", got ${name}, which would pay 0 for everything`,
      `leave ${PATH} out: what is paid is then divided by all points`,
    )
  if (critical.length > 0 && !isVeto)
    refuse(
      `${PATH}.critical: expected nothing beside ${name}, which has no veto`,
      `name veto(${name}), or leave it out`,
    )
  if (isVeto && evolving)
    refuse(
      `${PATH}.name: expected a rule without a veto, got ${name}: criteria are proposed while training, and none is critical`,
      'choose another rule',
    )
  if (rubrics === undefined) return
  const criteria = rubrics.flatMap(rubric => rubric.criteria)
  const stranger = critical.find(id => !criteria.some(own => own.id === id))
  if (stranger !== undefined)
    refuse(
      `${PATH}.critical: expected ids of criteria of the rubrics, got ${JSON.stringify(stranger)}`,
      'see their ids',
    )
  if (isVeto && critical.length === 0 && !criteria.some(own => own.critical))
    refuse(
      `${PATH}.name: expected a critical criterion for the veto, got none`,
      `name some in ${PATH}.critical`,
    )
}

const shape = {
  scoringRule: scoringRuleSchema
    .optional()
    .describe(
      "How training turns verdicts into a score; absent: the method's own rule, RuscaRL's the signed score. Evaluations do not go by it.",
    ),
}

export const scoringRule: RewardOption<typeof shape> = {
  shape,
  refuse: ({ scoringRule: own }, facts) => own && check(own, facts),
  marks: ({ scoringRule: own }, rubric) => (own ? withCritical(own, rubric) : rubric),
  score: ({ scoringRule: own }, rule, nulls) => (own ? scoringBy(own, nulls) : rule),
  plan: ({ scoringRule: own }) => (own ? [`score        ${own.name}`] : []),
  spoils: ({ scoringRule: own }) => own !== undefined,
}
