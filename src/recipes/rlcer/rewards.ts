/** @file What reasoners and rubricators are paid: pure functions of verdicts and answers (RLCER Eq. 6 to 12). */

import type { Reward } from '../../rl/rollout.ts'
import { allWeightsScore } from '../../rubric/linear.ts'
import type { ResponseScoring } from '../../tasks/scored-response.ts'
import { Rng } from '../../util/rng.ts'
import { meanKnown } from '../../util/statistics.ts'
import { controlledOrder, controlledValue } from '../options/control.ts'
import { scoringOf } from '../options/options.ts'
import type { RlcerConfig, VerdictControl } from './config.ts'
import { isConstant, type JudgedCriterion, type VerifiedRubric, withoutDuplicates } from './validity.ts'

/** A criterion that pays: its points, and who meets it. */
export type CountedCriterion = Pick<JudgedCriterion, 'criterion' | 'met'>

/** One rubric of a question with its criteria judged. */
export interface JudgedRubric extends Pick<VerifiedRubric, 'K' | 'wellFormed'> {
  criteria: readonly JudgedCriterion[]
  /** The verifier failed on it: nothing is known of its criteria. */
  failed: boolean
}

/**
 * The criteria that steer reasoners: the valid ones of all the question's rubrics together.
 * @param isLeftOut criteria that may not steer besides
 */
export const validCriteria = (
  rubrics: readonly JudgedRubric[],
  { dedupe, unformattedSteers }: { dedupe: boolean; unformattedSteers: boolean },
  isLeftOut: (criterion: JudgedCriterion) => boolean = () => false,
): JudgedCriterion[] => {
  const valid = rubrics
    .filter(({ wellFormed }) => wellFormed || unformattedSteers)
    .flatMap(({ criteria }) => criteria.filter(own => own.valid && !isLeftOut(own)))
  return dedupe ? withoutDuplicates(valid) : valid
}

/**
 * A negative control: what criteria say of responses, drawn at random, in another order of the question's responses (`shuffled`),
 * of another response in any case (`others`), or inverted; `other-question` leaves them to `countedCriteria`. Depends on the key alone.
 *
 * Within a question a random order pays nothing for being right: a response keeps its own verdicts once in N times, and those of
 * others lean the other way by as much, because criteria are chosen by the group that they pay. `others` has that lean alone, one part
 * in N - 1 of the signal, and `random` neither. Across questions all of them pay what an `emptyCot` of 0 leaves: to be the one that is
 * right makes criteria valid, which pay more than none. A group's mean takes that off, a critic does not.
 */
export const controlledVerdicts = <Item extends CountedCriterion>(
  criteria: readonly Item[],
  control: VerdictControl,
  key: string,
): Item[] => {
  const rng = new Rng(`${control} verdicts/${key}`)
  const order = controlledOrder(control, criteria[0]?.met.length ?? 0, rng)
  // 1 where a criterion is not met.
  const changed = (own: boolean | null) =>
    own === null ? null : controlledValue(control, Number(!own), rng) < 0.5
  return criteria.map(item => ({ ...item, met: order.map(m => changed(item.met[m])) }))
}

/**
 * What of the valid criteria pays in a step, by question: under a control, and without those that an option leaves out.
 *
 * The control `other-question` pays each question by all of the next one: its criteria, however many they are, with their verdicts on
 * its responses. Rewards of thinking so change places between questions and keep their distribution, and nothing in them depends on the
 * question or the response that gets them.
 */
export const countedCriteria = <Question extends { valid: readonly CountedCriterion[]; key: string }>(
  questions: readonly Question[],
  { control, controlAt }: Pick<RlcerConfig, 'control' | 'controlAt'>,
  leftOut: (question: Question) => ReadonlySet<number> | undefined = () => undefined,
): CountedCriterion[][] => {
  const counted = questions.map(question => {
    const { valid, key } = question
    const criteria = control && controlAt === 'reward' ? controlledVerdicts(valid, control, key) : valid
    const out = leftOut(question)
    return criteria.filter((_, i) => !out?.has(i))
  })
  return control === 'other-question' ? counted.map((_, q) => counted[(q + 1) % counted.length]) : counted
}

const allWeights: ResponseScoring = (rubric, verdicts) => allWeightsScore(rubric, verdicts).score

/** What a reasoner's reward is made of; `cot` is what its kind of reward pays for thinking. */
export type ReasonerParts = Record<'outcome' | 'cot' | 'overlong', number | null>

/** +1 for a right answer, -1 for a wrong one; null where nobody knows. */
export const outcomeReward = (correct: boolean | null): number | null =>
  correct === null ? null : correct ? 1 : -1

/** Which parts each kind of reward adds up. */
export const REASONER_PARTS = {
  'outcome+rubric': ['outcome', 'cot', 'overlong'],
  outcome: ['outcome', 'overlong'],
  rubric: ['cot', 'overlong'],
  random: ['cot', 'overlong'],
} as const satisfies Record<RlcerConfig['reasonerReward'], readonly (keyof ReasonerParts)[]>

/** The sum of the parts that count; null where one of them is not known. */
export const reasonerReward = (kind: RlcerConfig['reasonerReward'], parts: ReasonerParts): Reward => {
  const counted = REASONER_PARTS[kind].map(name => parts[name])
  const known = counted.filter(part => part !== null)
  return { reward: known.length < counted.length ? null : known.reduce((sum, part) => sum + part, 0), parts }
}

/** Chance in place of rubrics (Rubric Only (Random)): the same for the same rollout. */
export const randomCot = (key: string): number => new Rng(`random thinking reward/${key}`).next()

/**
 * Reward of the thinking of response m, by what pays for it: points earned between the least and the most that its criteria can give
 * (Eq. 6), or by `scoringRule`. Criteria without a verdict on it are dropped for it alone.
 * @returns `emptyCot` without criteria; null where there are some and a verdict on none
 */
export const cotReward = (
  config: Pick<RlcerConfig, 'reasonerReward' | 'emptyCot' | 'critic'> &
    Pick<Partial<RlcerConfig>, 'scoringRule'>,
  criteria: readonly CountedCriterion[],
  m: number,
  key: string,
): number | null => {
  const { reasonerReward: kind, emptyCot, critic } = config
  if (kind === 'random') return randomCot(key)
  // A critic cannot see which groups have none: with 0 it would be luck what a right answer is paid.
  if (criteria.length === 0) return emptyCot ?? (critic === null ? 0 : 0.5)
  // Criteria of several rubrics share ids.
  const rubric = { criteria: criteria.map(({ criterion }, k) => ({ ...criterion, id: `${k}` })) }
  const verdicts = criteria.map(({ met }, k) => ({
    ...{ criterionId: `${k}`, met: met[m], source: 'rule' as const },
  }))
  return scoringOf(config, 'drop', allWeights)(rubric, verdicts)
}

export const RUBRICATOR_PARTS = ['evolving', 'format'] as const

/** Share of a rubric's criteria that are valid (Eq. 10), copies counted once or each; null where the verifier failed on it. */
const evolvingReward = ({ K, criteria, failed }: JudgedRubric, distinct: boolean): number | null => {
  if (failed) return null
  const own = distinct ? withoutDuplicates(criteria) : criteria
  const written = K - (criteria.length - own.length)
  return written === 0 ? 0 : own.filter(({ valid }) => valid).length / written
}

/** What says nothing for or against a rubricator of a step: the mean over its questions on which a criterion can be valid; 0 without such. */
export const neutralEvolving = (
  questions: readonly { rubrics: readonly JudgedRubric[]; correct: readonly (boolean | null)[] }[],
  { distinct }: Pick<RlcerConfig['rubricator'], 'distinct'>,
): number =>
  meanKnown(
    questions
      .filter(({ correct }) => !isConstant(correct))
      .flatMap(({ rubrics }) => rubrics.map(own => evolvingReward(own, distinct))),
  ) ?? 0

/**
 * A rubricator's reward: the share of its criteria that are valid, and 1 for the format. Where all responses were right or all
 * wrong no criterion can be valid, through no fault of its own: by `uninformative` it is paid `neutral` for evolving, or 0, or
 * nothing is known of it. Nor is it elsewhere, where evolving pays and the verifier failed on it.
 */
export const rubricatorReward = (
  rubric: JudgedRubric,
  correct: readonly (boolean | null)[],
  { evolving: pays, uninformative, distinct }: RlcerConfig['rubricator'],
  neutral: number,
): Reward => {
  const format = Number(rubric.wellFormed)
  const silent = isConstant(correct)
  const evolving = silent ? { neutral, zero: 0, mask: null }[uninformative] : evolvingReward(rubric, distinct)
  // Without pay for it `mask` leaves out the same ones, so that both arms learn from as many.
  const paid = pays || (silent && uninformative === 'mask') ? evolving : 0
  return { reward: paid === null ? null : paid + format, parts: { evolving, format } }
}

const OUTCOME = '1 for a right answer and −1 for a wrong one'
const THINKING =
  'its thinking’s points by the valid criteria of the question’s rubrics, from 0 for the least to 1 for the most that they can give'

const REASONER: Readonly<Record<RlcerConfig['reasonerReward'], string>> = {
  'outcome+rubric': `${OUTCOME}, plus ${THINKING}`,
  outcome: OUTCOME,
  rubric: THINKING,
  random: 'a random number from 0 to 1, in place of what its thinking is worth',
}

/** How the rewards of a configuration come about. */
export const describeRlcerRewards = ({
  reasonerReward,
  overlong,
  rubricator: { enabled, evolving },
  validity,
}: Pick<RlcerConfig, 'reasonerReward' | 'overlong' | 'rubricator' | 'validity'>): string => {
  const less =
    overlong === null
      ? ''
      : `, less up to ${overlong.factor} in the last ${overlong.buffer} tokens before the limit`
  const share = `, plus the share of its criteria that are valid: met more often where answers are right, with a correlation above ${validity.alpha}`
  const rubricator = enabled
    ? `A rubricator gets 1 for a rubric in the format${evolving ? share : ''}.`
    : 'No rubricators are trained.'
  return `A reasoner gets ${REASONER[reasonerReward]}${less}. ${rubricator}`
}
