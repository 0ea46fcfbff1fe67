/**
 * @file The options of rewards: one line each. Methods take settings, refusals, lines of plans, scores and metrics from here, and name
 * none.
 */

import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { leftOutShares } from '../../rubric/dropout.ts'
import type { NullHandling } from '../../rubric/score.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import {
  type LeftOut,
  type ResponseScoring,
  type ScoredTask,
  type Scoring,
  scored,
} from '../../tasks/scored-response.ts'
import type { Task, Verdicts } from '../../tasks/task.ts'
import { mean } from '../../util/statistics.ts'
import { refuse } from '../common/refuse.ts'
import { control } from './control.ts'
import { criterionGroups } from './criterion-groups.ts'
import { type GroupScorer, groupJudge, withGroupJudge } from './group-judge.ts'
import { heldOutJudge } from './held-out-judge.ts'
import { memory } from './memory.ts'
import { normalise } from './normalise.ts'
import type {
  Droppable,
  GradedGroups,
  LeftOutPlaces,
  MethodSettings,
  RewardFacts,
  RewardOption,
} from './option.ts'
import { repetitionCharge } from './repetition.ts'
import { rubricDropout } from './rubric-dropout.ts'
import { scoringRule } from './scoring-rule.ts'
import { noisyJudgeShape, spoiltRewards, trainingScore } from './spoilt-rewards.ts'

/** Settings of what the verdicts on one response are worth. */
export const verdictOptionsShape = { ...scoringRule.shape, ...criterionGroups.shape }
/** Of every method that rewards by criteria, whoever writes those and when. */
export const criteriaOptionsShape = { ...rubricDropout.shape, ...scoringRule.shape }
/** Where the criteria are there before the training. */
export const knownCriteriaShape = { ...criteriaOptionsShape, ...verdictOptionsShape, ...noisyJudgeShape }
/** Where responses are scored by their rubrics. */
export const rewardOptionsShape = {
  ...{ ...criteriaOptionsShape, ...verdictOptionsShape, ...normalise.shape, ...groupJudge.shape },
  ...repetitionCharge.shape,
}
/** Of experiments: what is paid has less to do with the answers, or nothing. */
export const spoiltRewardsShape = spoiltRewards.shape

const OPTIONS: readonly RewardOption[] = [
  ...[memory, spoiltRewards, control, rubricDropout, scoringRule, criterionGroups],
  ...[normalise, groupJudge, repetitionCharge, heldOutJudge],
]

/** Settings of a method: each option knows its own among them. */
type Settings = Readonly<Record<string, unknown>>
export type OptionSettings = Settings & { seed: number | string }

/** What a method and its options say of its rewards. */
export const factsOf = (config: Settings, given: RewardFacts = {}): RewardFacts => {
  const known: Record<string, unknown> = { ...given }
  for (const option of OPTIONS)
    for (const [name, said] of Object.entries(option.facts?.(config, given) ?? {})) known[name] ||= said
  return known
}

/** @throws ConfigError for options that would be ignored beside the rest, or do something else than they say */
export const checkOptions = (config: Settings & MethodSettings, given: RewardFacts): void => {
  const facts = factsOf(config, given)
  for (const option of OPTIONS) option.refuse?.(config, facts)
  const ignored = facts.unpaid ?? facts.unjudged ?? facts.unscored
  for (const key of Object.keys(verdictOptionsShape))
    if (ignored && config[key] !== undefined)
      refuse(`${key}: expected nothing with ${ignored}`, 'leave it out, or set that back')
}

/** For a plan. */
export const optionLines = (config: Settings & MethodSettings): string[] =>
  OPTIONS.flatMap(option => option.plan?.(config) ?? [])

/** Whether an option makes rewards another thing than the truth, so that the truth is worth watching beside them. */
export const isSpoilt = (config: Settings): boolean =>
  OPTIONS.some(option => option.spoils?.(config) ?? false)

/** The verdicts on a response as its score counts them. */
export const countedVerdicts = (
  config: Settings,
  rubric: Rubric,
  verdicts: readonly Verdict[],
): readonly Verdict[] =>
  OPTIONS.reduce((counted, option) => option.counts?.(config, rubric, counted) ?? counted, verdicts)

/** What training makes of the verdicts on a response. @param own the method's rule; absent: the signed score */
export const scoringOf = (
  config: Settings,
  nulls?: NullHandling,
  own: ResponseScoring = trainingScore('none', nulls),
): ResponseScoring => {
  const rule = OPTIONS.reduce<ResponseScoring>(
    (before, option) => option.score?.(config, before, nulls) ?? before,
    own,
  )
  return (rubric, verdicts) => rule(rubric, countedVerdicts(config, rubric, verdicts), verdicts)
}

/**
 * The criteria that a question's reward leaves out in a step; undefined where no option leaves any out.
 * @param question names it within its run, or a part of it
 */
export const leftOutBy = (
  config: OptionSettings,
  criteria: readonly Droppable[],
  step: number,
  question: string,
): LeftOutPlaces | undefined => {
  const draw = { seed: config.seed, step, question }
  const left = OPTIONS.flatMap(option => option.leavesOut?.(config, criteria, draw) ?? [])
  if (left.length === 0) return undefined
  return {
    places: new Set(left.flatMap(({ places }) => [...places])),
    asked: left.every(({ asked }) => asked),
  }
}

/** How training grades beside what the task's graders say. */
interface TrainingOptions<Problem> extends Pick<Scoring<Problem>, 'logged' | 'rubricOf' | 'only'> {
  /** What verdicts are worth by the method; absent: the signed score. */
  rule?: ResponseScoring
  nulls?: NullHandling
  /** A judge of groups, made of the task as training's graders score it alone. */
  groups?(heard: ScoredTask<Problem>): GroupScorer<Problem> | null
}

/**
 * The task as training grades it: by the configured rubrics, with every option that is set; `heard`: without what is left out, and
 * without a judge of groups.
 * @throws ConfigError for groups of criteria that no rubric has
 */
export const asTrained = <Problem, Said extends Verdicts = Verdicts>(
  config: OptionSettings,
  task: Task<Problem, Said>,
  { rubricOf = own => task.rubric(own), logged, only, nulls, rule, groups }: TrainingOptions<Problem> = {},
): {
  reward: ScoredTask<Problem, Said>
  heard: ScoredTask<Problem, Said>
  groups: GroupScorer<Problem> | null
} => {
  const { noise: spoilt = 'none' } = config
  // Negated, merits are penalties.
  if (task.train.length > 0 && spoilt !== 'negated')
    checkOptions(config, { rubrics: task.train.map(rubricOf) })
  const noise = OPTIONS.map(option => option.noise?.(config)).find(Boolean)
  const heard = scored(task, {
    rubricOf: problem =>
      OPTIONS.reduce((rubric, { marks }) => marks?.(config, rubric) ?? rubric, rubricOf(problem)),
    // A spoilt rubric says something else than the run's.
    ...(spoilt === 'none' && { logged }),
    ...{ only, score: scoringOf(config, nulls, rule) },
    ...(noise && { noise }),
  })
  const leftOut = (problem: Problem, step: number): LeftOut | undefined => {
    const { criteria } = heard.rubric(problem)
    const left = leftOutBy(config, criteria, step, heard.id(problem))
    return left && { ids: new Set([...left.places].map(i => criteria[i].id)), asked: left.asked }
  }
  const reward: typeof heard = {
    ...heard,
    async grade(items) {
      const graded = await heard.grade(
        items.map(item => ({
          leftOut: item.step === undefined ? undefined : leftOut(item.problem, item.step),
          ...item,
        })),
      )
      return graded.map((own, i) => {
        const charges = OPTIONS.map(option => option.charges?.(config, items[i].tokens)).filter(Boolean)
        return charges.length === 0 ? own : { ...own, charges: Object.assign({}, ...charges) }
      })
    },
  }
  const scorer = groups?.(heard) ?? null
  return { heard, groups: scorer, reward: scorer ? withGroupJudge(reward, scorer, leftOut) : reward }
}

/** Rubrics with the places of what a step left out of them, where anything was. */
export const leftOutMetrics = (
  rubrics: readonly { criteria: readonly Pick<Criterion, 'points'>[]; places?: ReadonlySet<number> }[],
): Omit<MetricsRow, 'step'> => {
  const known = rubrics.flatMap(({ criteria, places }) => (places ? [{ criteria, places }] : []))
  const shares = leftOutShares(known)
  return shares ? { leftOut: { ...shares } } : {}
}

/**
 * What options tell of a step as grades tell it; and the mean of what responses are worth by whole rubrics, where graders were
 * asked about those.
 * @param criteriaOf of a problem's rubric
 * @param whole that worth of each response, where it is known, by the name of its mean
 */
export const optionMetrics = <Problem>(
  groups: GradedGroups<Problem>,
  criteriaOf: (problem: Problem) => readonly Criterion[],
  whole: Readonly<Record<string, readonly number[]>>,
): Omit<MetricsRow, 'step'> => {
  const parts = groups.flatMap(([first]) => {
    const { leftOut } = first?.grade ?? {}
    if (leftOut === undefined) return []
    const criteria = criteriaOf(first.problem)
    const places = new Set(criteria.flatMap(({ id }, i) => (leftOut.ids.has(id) ? [i] : [])))
    return [{ criteria, places, asked: leftOut.asked }]
  })
  const known = parts[0]?.asked ? Object.entries(whole).filter(([, values]) => values.length > 0) : []
  return {
    ...leftOutMetrics(parts),
    ...Object.fromEntries(known.map(([name, values]) => [name, mean(values)])),
    ...Object.assign({}, ...OPTIONS.map(option => option.metrics?.(groups))),
  }
}
