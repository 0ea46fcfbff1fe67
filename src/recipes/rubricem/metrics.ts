/** @file What a step says in metrics.jsonl, and a rollout of either role as it is kept for reading. */

import {
  evolvingMetrics,
  gainOf,
  type JudgedGroup,
  type ScoredLevel,
  type StageRubric,
} from '../../grade/evolving/index.ts'
import { countFallbacks, type Retrieval, type RubricBank, type WindowStep } from '../../memory/index.ts'
import type { Credited } from '../../rl/rollout.ts'
import type { MetricsRow, RolloutRow, ShownLesson } from '../../runs/rows.ts'
import type { StagedRead } from '../../tasks/stages.ts'
import type { TaskWith } from '../../tasks/task.ts'
import { rolloutFields } from '../../train/update-rows.ts'
import { meanKnown } from '../../util/descriptive.ts'
import { type KeptVerdict, verdictFields, type WrittenCriterion } from '../common/rubric-task.ts'
import { leftOutMetrics } from '../options/options.ts'
import type { CreditedAttempts, RolledStep } from './attempts.ts'
import type { RubricemConfig } from './config.ts'
import type { Reflected, ReflectionGrade, Reflections } from './reflections.ts'

/** Of each part of a lesson that is kept for reading. */
const LESSON_CHARACTERS = 2000

const cut = (text: string): string =>
  text.length <= LESSON_CHARACTERS ? text : `${text.slice(0, LESSON_CHARACTERS)} [...]`

/** The lessons of a retrieval in words. */
export const shownLessons = <Problem>(
  { stages }: TaskWith<Problem, 'stages'>,
  { items }: Retrieval,
): ShownLesson[] =>
  items.map(({ how, item }) => ({ how, question: cut(item.question), text: cut(stages.show(item)) }))

/**
 * An agent's rollout with its levels on every rubric; met is what is there in full, unmet what is not there at all.
 * @param retrieval what its question was shown, where there is a memory
 */
export const agentRow = <Problem>(
  task: TaskWith<Problem, 'stages'>,
  step: number,
  item: Credited<Problem, StagedRead>,
  judged: readonly JudgedGroup[],
  retrieval: Retrieval | null = null,
): RolloutRow => {
  const { problem, rollout, parts, grade } = item
  // By the rollout: a question may come twice in a step.
  const group = judged.find(({ rollouts }) => rollouts.some(({ rollout: { key } }) => key === rollout.key))
  const own = group?.rollouts.find(({ rollout: { key } }) => key === rollout.key)
  const lessons = rollout.sampledFrom && retrieval ? shownLessons(task, retrieval) : []
  return {
    ...rolloutFields(step, item),
    problemId: task.id(problem),
    prompt: task.question(problem),
    response: task.show(rollout.tokens),
    parts,
    ...(lessons.length > 0 && { lessons }),
    flags: {
      ...(grade.wellFormed ? {} : { unformatted: 1 }),
      ...(lessons.length > 0 && { referred: 1 }),
    },
    ...verdictFields(
      (group?.rubrics ?? []).map(rubric => levelVerdict(rubric, own?.scores[rubric.id])),
      new Map((group?.rubrics ?? []).map(rubric => [verdictName(rubric), describeStage(rubric)])),
    ),
  }
}

const verdictName = ({ stage, title }: StageRubric): string => `${stage}.${title}`

/** A flaw earns its weight where it is avoided, and is met then. */
const describeStage = ({ description, sign, weight }: StageRubric): WrittenCriterion => ({
  text: sign === 'negative' ? `Avoids: ${description}` : description,
  points: weight,
})

/** A level as a verdict; a judge that is no model is a program. */
const levelVerdict = (
  rubric: StageRubric,
  { level = null, justification, call }: Partial<ScoredLevel> = {},
): KeptVerdict => {
  const { sign } = rubric
  const by = { criterionId: verdictName(rubric), ...(call ? { call } : { source: 'rule' as const }) }
  if (level === null) return { ...by, met: null, explanation: 'no level was given' }
  const credit = gainOf(sign, level)
  return {
    ...by,
    met: credit === 0.5 ? null : credit === 1,
    credit,
    explanation: `${sign === 'negative' ? 'a flaw; ' : ''}level ${level} of 2${justification ? `: ${justification}` : ''}`,
  }
}

/** A candidate reflection; its problem is that of the attempt. */
export const reflectorRow = <Problem>(
  task: TaskWith<Problem, 'stages'>,
  step: number,
  item: Credited<Reflected<Problem>, ReflectionGrade>,
): RolloutRow => {
  const { grade, parts, rollout } = item
  const { problem, attempt } = item.problem
  return {
    ...rolloutFields(step, item),
    problemId: task.id(problem),
    prompt: `${task.question(problem)}\n\n${task.show(attempt.tokens)}`,
    response: grade.lessons === null ? task.show(rollout.tokens) : task.stages.show(grade.lessons),
    parts,
    ...(grade.lessons === null && { flags: { unformatted: 1 } }),
  }
}

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

/** Share of a step's new rubrics that the anchors keep out. */
const anchorMetrics = (judged: readonly JudgedGroup[]): Metrics => {
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
  { credited, counted, counts }: CreditedAttempts<Problem>,
  reflected: Reflections<Problem>,
): Metrics => {
  const rollouts = agents.flat().map(({ rollout }) => rollout)
  return {
    reward: meanKnown(credited.flat().map(({ reward }) => reward)),
    ...evolvingMetrics(judged),
    ...leftOutMetrics(counted),
    ...(config.anchors && anchorMetrics(judged)),
    zeroVarianceGroups: counts.zeroVarianceGroups / Math.max(1, counts.groups),
    failedScoringRollouts: counts.failedRollouts,
    ...(bank && retrievals && memoryMetrics(plan, retrievals, bank.size, countFallbacks(retrievals))),
    ...(reflections.length > 0 && reflectionMetrics(reflected)),
    ...task.stages.metrics?.(rollouts),
  }
}
