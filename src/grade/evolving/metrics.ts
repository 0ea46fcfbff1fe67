/** @file What a step's judgements say in metrics.jsonl: scores by stage, rubrics born and dropped, what the judge failed at. */

import type { MetricGroup, MetricsRow } from '../../runs/rows.ts'
import { meanKnown } from '../../util/descriptive.ts'
import { GradusError } from '../../util/errors.ts'
import type { JudgedGroup } from './evolve.ts'
import { hasStage, isPersistent, type RubricSign, STAGE_NAMES, STAGES, type Stage } from './rubrics.ts'

const share = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null)

const sumOf = (groups: readonly JudgedGroup[], count: (group: JudgedGroup) => number): number =>
  groups.reduce((sum, group) => sum + count(group), 0)

const byStage = (value: (stage: Stage) => number | null): MetricGroup =>
  Object.fromEntries(STAGES.map(stage => [STAGE_NAMES[stage - 1], value(stage)]))

/** Mean reward of each stage over the rollouts where it is known, by the stage's name. */
export const stageScoreMetrics = (groups: readonly JudgedGroup[]): MetricGroup =>
  byStage(stage =>
    meanKnown(groups.flatMap(({ rollouts }) => rollouts.map(({ rewards_K }) => rewards_K[stage - 1]))),
  )

const nullRate = (groups: readonly JudgedGroup[], sign: RubricSign): number | null =>
  share(
    sumOf(groups, ({ levels }) => levels[sign].nulls),
    sumOf(groups, ({ levels }) => levels[sign].asked),
  )

/** Mean from which a rubric is met by nearly all. */
const NEARLY_ALL = 0.9

/** Of each proposed rubric that goes on, whether nearly all rollouts earn all of it. */
const nearlyAlwaysMet = ({ rubrics, statistics, fates }: JudgedGroup): number[] =>
  statistics.flatMap(({ score }, i) =>
    score === null || isPersistent(rubrics[i]) || fates[i] !== 'kept' ? [] : Number(score >= NEARLY_ALL),
  )

/** Values of a step, for its metrics row; a group of names with numbers each has a chart of its own. */
export const evolvingMetrics = (groups: readonly JudgedGroup[]): Omit<MetricsRow, 'step'> => {
  const fates = (fate: string) => sumOf(groups, own => own.fates.filter(each => each === fate).length)
  const rollouts = groups.flatMap(own => own.rollouts)
  const kept = sumOf(groups, ({ after }) => after.active.length)
  return {
    stageScores: stageScoreMetrics(groups),
    skippedStages: byStage(stage => meanKnown(rollouts.map(own => Number(!hasStage(own.rollout, stage))))),
    rubricsActive: share(kept, groups.length),
    alwaysMet: meanKnown(groups.flatMap(nearlyAlwaysMet)),
    rubricChanges: {
      born: sumOf(groups, own => own.rubrics.filter(({ since }) => since === own.step).length),
      pruned: fates('pruned'),
      inactive: fates('inactive'),
      refused: sumOf(groups, ({ refused }) => refused.length),
    },
    rubricVariance: meanKnown(
      groups.flatMap(({ rubrics, statistics }) =>
        statistics.flatMap(({ variance }, i) => (isPersistent(rubrics[i]) ? [] : (variance ?? []))),
      ),
    ),
    failedScorings: meanKnown(rollouts.map(({ failure }) => Number(failure !== null))),
    failedGenerations: share(
      groups.filter(({ generationFailure }) => generationFailure !== null).length,
      groups.length,
    ),
    judgeNullRatePositive: nullRate(groups, 'positive'),
    judgeNullRateNegative: nullRate(groups, 'negative'),
  }
}

const REASON_CHARACTERS = 200

/**
 * When no rollout of a step could be scored, the judge is out of order: going on would train on nothing.
 * @throws GradusError with the first reason that was given
 */
export const assertScored = (groups: readonly JudgedGroup[]): void => {
  const rollouts = groups.flatMap(own => own.rollouts)
  const failed = rollouts.filter(({ failure }) => failure !== null)
  if (failed.length === 0 || failed.length < rollouts.length) return
  throw new GradusError(
    `judge of stages: expected levels on ${rollouts.length} rollouts, got none for any of them (${failed[0].failure!.slice(0, REASON_CHARACTERS)})`,
    { hint: 'see to the judge, then go on with --resume' },
  )
}
