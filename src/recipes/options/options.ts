/** @file The options of rewards: one line each. Methods take settings, refusals, lines of plans and metrics from here, and name none. */

import type { z } from 'zod'
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
import { control } from './control.ts'
import { criterionGroups } from './criterion-groups.ts'
import { type GroupScorer, groupJudge, withGroupJudge } from './group-judge.ts'
import type { Droppable, GradedGroups, PlannedSteps, RewardFacts, RewardOption } from './option.ts'
import { rubricDropout } from './rubric-dropout.ts'
import { scoringRule } from './scoring-rule.ts'
import { rewardNoise, spoiltRewards, trainingScore } from './spoilt-rewards.ts'

/** Which criteria count in a step: settings of every method that rewards by criteria. */
export const criteriaOptionsShape = { ...rubricDropout.shape }
/** Settings of what the verdicts on one response are worth. */
export const verdictOptionsShape = { ...scoringRule.shape, ...criterionGroups.shape }
/** Settings of what is made of verdicts, where responses are scored by their rubrics. */
export const rewardOptionsShape = { ...criteriaOptionsShape, ...verdictOptionsShape, ...groupJudge.shape }
/** Settings of experiments: what is paid has less to do with the answers, or nothing. */
export const spoiltRewardsShape = spoiltRewards.shape

const OPTIONS: readonly RewardOption[] = [
  spoiltRewards,
  control,
  rubricDropout,
  scoringRule,
  criterionGroups,
  groupJudge,
]

const shape = { ...spoiltRewardsShape, ...rewardOptionsShape }
type RewardOptions = z.output<z.ZodObject<typeof shape>> & { seed: number | string }
/** Settings of a method: each option knows its own among them. */
type Settings = Readonly<Record<string, unknown>>

/** @throws ConfigError for options that would be ignored beside the rest, or do something else than they say */
export const checkOptions = (config: Settings, facts: RewardFacts): void => {
  const scoredBy = Object.keys(verdictOptionsShape).filter(key => config[key] !== undefined)
  const known = { negated: config.noise === 'negated', scoredBy, ...facts }
  for (const option of OPTIONS) {
    known.unpaid ??= option.unpaid?.(config, facts)
    known.noise ??= option.noise?.(config)
  }
  for (const option of OPTIONS) option.refuse?.(config, known)
}

/** For a plan. */
export const optionLines = (config: Settings & PlannedSteps): string[] =>
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

/** What training makes of the verdicts on a response. */
export const scoringOf = (config: Settings, nulls?: NullHandling): ResponseScoring => {
  const rule = OPTIONS.reduce<ResponseScoring>(
    (before, option) => option.score?.(config, before, nulls) ?? before,
    trainingScore('none', nulls),
  )
  return (rubric, verdicts) => rule(rubric, countedVerdicts(config, rubric, verdicts), verdicts)
}

export type CriteriaOptions = Pick<RewardOptions, keyof typeof criteriaOptionsShape | 'seed'>

const leavesOut = (config: CriteriaOptions, criteria: readonly Droppable[], step: number, question: string) =>
  OPTIONS.flatMap(option => option.leavesOut?.(config, criteria, { seed: config.seed, step, question }) ?? [])

/**
 * Places of the criteria that a question's reward leaves out in a step; undefined where no option leaves any out.
 * @param within tells draws of one question from each other, such as its stages
 */
export const placesLeftOut =
  (config: CriteriaOptions, within = '') =>
  (criteria: readonly Droppable[], step: number, question: string): ReadonlySet<number> | undefined => {
    const left = leavesOut(config, criteria, step, `${question}${within}`)
    return left.length === 0 ? undefined : new Set(left.flatMap(({ places }) => [...places]))
  }

/** A task whose scores leave criteria out in each step of training. */
export const withLeftOut = <Problem, Said extends Verdicts = Verdicts>(
  config: CriteriaOptions,
  task: ScoredTask<Problem, Said>,
): ScoredTask<Problem, Said> => {
  const of = leftOutBy(config, task)
  return {
    ...task,
    grade: items =>
      task.grade(
        items.map(item => ({
          leftOut: item.step === undefined ? undefined : of(item.problem, item.step),
          ...item,
        })),
      ),
  }
}

/** What a problem's score leaves out in a step. */
const leftOutBy =
  <Problem>(config: CriteriaOptions, task: Pick<ScoredTask<Problem>, 'id' | 'rubric'>) =>
  (problem: Problem, step: number): LeftOut | undefined => {
    const { criteria } = task.rubric(problem)
    const left = leavesOut(config, criteria, step, task.id(problem))
    if (left.length === 0) return undefined
    return {
      ids: new Set(left.flatMap(({ places }) => [...places].map(i => criteria[i].id))),
      asked: left.every(({ asked }) => asked),
    }
  }

/** How training grades beside what the task's graders say. */
interface TrainingOptions<Problem>
  extends Pick<Scoring<Problem>, 'logged'>,
    Required<Pick<Scoring<Problem>, 'rubricOf'>> {
  nulls?: NullHandling
  /** A judge of groups, made of the task as training's graders score it alone. */
  groups?(heard: ScoredTask<Problem>): GroupScorer<Problem> | null
}

/**
 * The task as training grades it: by the configured rubrics, with every option that is set.
 * @throws ConfigError for groups of criteria that no rubric has
 */
export const asTrained = <Problem>(
  config: RewardOptions,
  task: Task<Problem>,
  { rubricOf, logged, nulls, groups }: TrainingOptions<Problem>,
): { heard: ScoredTask<Problem>; reward: ScoredTask<Problem> } => {
  const { noise } = config
  // Negated, merits are penalties.
  if (noise !== 'negated') checkOptions(config, { rubrics: task.train.map(rubricOf) })
  const heard = scored(task, {
    rubricOf: problem =>
      OPTIONS.reduce((rubric, { marks }) => marks?.(config, rubric) ?? rubric, rubricOf(problem)),
    // A spoilt rubric says something else than the run's.
    ...(noise === 'none' && { logged }),
    score: scoringOf(config, nulls),
    noise: rewardNoise(config),
  })
  return { heard, reward: scoredTogether(config, heard, groups?.(heard) ?? null) }
}

/** A task under what counts of its criteria, and by a judge of groups where there is one. */
export const scoredTogether = <Problem, Said extends Verdicts = Verdicts>(
  config: CriteriaOptions,
  task: ScoredTask<Problem, Said>,
  groups: GroupScorer<Problem> | null,
): ScoredTask<Problem, Said> => {
  const counted = withLeftOut(config, task)
  return groups === null ? counted : withGroupJudge(counted, groups, leftOutBy(config, task))
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
