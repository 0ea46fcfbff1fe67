/** @file What a step says in metrics.jsonl: rewards, rubrics that evolve, memory, reflections. */

import { evolvingMetrics, type JudgedGroup } from '../../grade/evolving/index.ts'
import { countFallbacks, type Retrieval, type RubricBank, type WindowStep } from '../../memory/index.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { meanKnown } from '../../util/descriptive.ts'
import { leftOutMetrics } from '../options/options.ts'
import type { CreditedAttempts, RolledStep } from './attempts.ts'
import type { RubricemConfig } from './config.ts'
import { stageRubricsWithout } from './left-out.ts'
import type { Reflections } from './reflections.ts'

type Metrics = Omit<MetricsRow, 'step'>

/** How a step's questions were looked up, and how large the bank is. */
const memoryMetrics = (
  { phase }: WindowStep,
  retrievals: readonly Retrieval[],
  bankSize: number,
  fallbacks: number,
): Metrics => {
  const scores = retrievals.flatMap(({ items }) =>
    items.flatMap(({ how, score }) => (how === 'cross' ? [score] : [])),
  )
  const found = (kind: 'within' | 'cross') =>
    meanKnown(retrievals.map(({ items }) => items.filter(({ how }) => how === kind).length))
  return {
    bankSize,
    retrieved: { within: found('within'), cross: found('cross') },
    repeats: Number(phase === 'repeat'),
    referred: meanKnown(retrievals.map(({ items }) => Number(items.length > 0))),
    references: meanKnown(retrievals.map(({ items }) => items.length)),
    fallbacks,
    similarity: meanKnown(scores),
  }
}

/** What came of a step's reflections. */
const reflectionMetrics = ({ candidates, accepted }: Reflections<unknown>): Metrics => {
  const all = candidates.flat()
  const scores = all.flatMap(({ grade }) => (grade.scores === null ? [] : [grade.scores]))
  return {
    reflectionReward: meanKnown(all.map(({ reward }) => reward)),
    reflectionValid: meanKnown(all.map(({ grade }) => Number(grade.lessons !== null))),
    reflectionUnjudged: all.filter(({ reward }) => reward === null).length,
    reflectionsAccepted: candidates.length === 0 ? null : accepted.length / candidates.length,
    acceptedUtility: meanKnown(accepted.map(({ u }) => u)),
    reflectionScores: {
      diagnosticAccuracy: meanKnown(scores.map(own => own.diagnosticAccuracy)),
      specificity: meanKnown(scores.map(own => own.specificity)),
      scopeAndBalance: meanKnown(scores.map(own => own.scopeAndBalance)),
    },
  }
}

/** Share of a step's new rubrics that the anchors keep out; nothing where there are none. */
const anchorMetrics = (
  judged: readonly JudgedGroup[],
  { anchors }: Pick<RubricemConfig, 'anchors'>,
): Metrics => {
  if (anchors === undefined) return {}
  const tried = judged.flatMap(({ rubrics, refused, step }) => [
    ...rubrics.flatMap(({ since }) => (since === step ? [0] : [])),
    ...refused.flatMap(({ rule }) => (rule === 'anchors' ? [1] : [])),
  ])
  return { anchorsKeptOut: meanKnown(tried) }
}

/** All that a step says. */
export const rubricemMetrics = <Problem>(
  {
    config,
    task,
    bank,
  }: { config: RubricemConfig; task: TaskWith<Problem, 'stages'>; bank: RubricBank | null },
  { plan, retrievals, agents, judged, reflections }: RolledStep<Problem>,
  { credited, leftOut, counts }: CreditedAttempts<Problem>,
  reflected: Reflections<Problem>,
): Metrics => {
  const rollouts = agents.flat().map(({ rollout }) => rollout)
  return {
    reward: meanKnown(credited.flat().map(({ reward }) => reward)),
    ...evolvingMetrics(judged),
    ...leftOutMetrics(judged.map((group, p) => stageRubricsWithout(group, leftOut[p]))),
    ...anchorMetrics(judged, config),
    zeroVarianceGroups: counts.zeroVarianceGroups / Math.max(1, counts.groups),
    failedScoringRollouts: counts.failedRollouts,
    ...(bank && retrievals && memoryMetrics(plan, retrievals, bank.size, countFallbacks(retrievals))),
    ...(reflections.length > 0 && reflectionMetrics(reflected)),
    ...task.stages.metrics?.(rollouts),
  }
}
