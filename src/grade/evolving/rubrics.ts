/** @file Rubrics of stages: what one is, what a level on it is worth, and what a rollout's stages earn by theirs. */

import type { Criterion, JudgeCall, Rubric, Verdict } from '../../rubric/criterion.ts'
import { allWeightsScore } from '../../rubric/linear.ts'
import { uniqueNames } from '../../rubric/unique.ts'

/** Plan, research, review, answer. */
export type Stage = 1 | 2 | 3 | 4
export const STAGES: readonly Stage[] = [1, 2, 3, 4]
export const STAGE_NAMES = ['plan', 'research', 'review', 'answer'] as const

/** By stage, the plan first. */
export type PerStage<T> = readonly [T, T, T, T]

export const perStage = <T>(value: (stage: Stage) => T): [T, T, T, T] => [
  value(1),
  value(2),
  value(3),
  value(4),
]

/** `positive` names a merit, `negative` a flaw. */
export type RubricSign = 'positive' | 'negative'

/** What a proposer says of a new rubric. */
export interface RubricDraft {
  stage: Stage
  sign: RubricSign
  title: string
  description: string
  /** 1, 2 or 3. */
  weight: number
}

/** A rubric that rollouts are scored on. */
export interface StageRubric extends RubricDraft {
  /** Unique within its question. */
  id: string
  /** Step at which it was proposed; null for one that was given with the question and is never removed. */
  since: number | null
}

export const isPersistent = ({ since }: StageRubric): boolean => since === null

/** How much of it is there: of a merit 0 absent, 1 partial, 2 full; of a flaw 0 avoided, 1 partial, 2 exhibited. */
export type Level = 0 | 1 | 2

/** A judge's level; null where it gave none. */
export interface ScoredLevel {
  level: Level | null
  justification?: string
  /** The call that it came from, where the judge tells. */
  call?: JudgeCall
}

/** Levels of one rollout by rubric id. */
export type LevelsById = Readonly<Record<string, ScoredLevel>>

/** What a level earns, in [0, 1]: level / 2 of a merit, (2 - level) / 2 of a flaw. */
export const gainOf = (sign: RubricSign, level: Level): number =>
  (sign === 'positive' ? level : 2 - level) / 2

/** A rollout as its judge sees it. */
export interface StagedRollout {
  /** Unique within its run: names random streams, and the scores. */
  key: string
  /** The text of each stage, without what tools said; empty where the rollout lacks the stage. */
  stages: PerStage<string>
  /** All of it in order, tool output included; absent: the stages one after the other. */
  parts?: readonly RolloutPart[]
}

/** A piece of a rollout: of a stage, or, with null, what a tool said. */
export interface RolloutPart {
  stage: Stage | null
  text: string
}

/** A stage of a rollout by characters, [start, end). */
export interface StageSpan {
  stage: Stage
  start: number
  end: number
}

/** A staged rollout from a text and the spans of its stages, in order; what no span holds is what tools said. */
export const stagedRollout = (key: string, text: string, spans: readonly StageSpan[]): StagedRollout => {
  const parts: RolloutPart[] = []
  const add = (stage: Stage | null, start: number, end: number) => {
    if (end > start) parts.push({ stage, text: text.slice(start, end) })
  }
  let from = 0
  for (const { stage, start, end } of spans) {
    add(null, from, start)
    add(stage, start, end)
    from = end
  }
  add(null, from, text.length)
  const textOf = (stage: Stage) =>
    parts
      .filter(part => part.stage === stage)
      .map(part => part.text)
      .join('\n')
  return { key, stages: perStage(textOf), parts }
}

export const stageParts = ({ stages, parts }: Omit<StagedRollout, 'key'>): readonly RolloutPart[] =>
  parts ?? STAGES.map(stage => ({ stage, text: stages[stage - 1] })).filter(({ text }) => text !== '')

/** Whether a rollout has anything of a stage. */
export const hasStage = ({ stages }: StagedRollout, stage: Stage): boolean => stages[stage - 1].trim() !== ''

/** Rubrics given with a question, for its answer: weights are points without their sign. */
export const persistentRubrics = (criteria: readonly Criterion[]): StageRubric[] => {
  const unique = uniqueNames()
  return criteria.map(({ id, title, text, points }) => ({
    id: unique(`given.${id}`),
    stage: 4,
    sign: points > 0 ? 'positive' : 'negative',
    title: title ?? id,
    description: text,
    weight: Math.abs(points),
    since: null,
  }))
}

/**
 * What each stage of a rollout earns: sum of w g over sum of w, in [0, 1], unless the rule says otherwise.
 * - A stage without rubrics earns 0, as in all rollouts of the question; so does one that the rollout lacks.
 * - A level that was not given is left out, its weight with it; null where none of a stage's was given.
 */
export const stageRewards = (
  rubrics: readonly StageRubric[],
  rollout: StagedRollout,
  scores: LevelsById,
  rule = (own: Rubric, verdicts: readonly Verdict[]) => allWeightsScore(own, verdicts).score,
): [number | null, number | null, number | null, number | null] =>
  perStage(stage => {
    const own = rubrics.filter(rubric => rubric.stage === stage)
    if (own.length === 0 || !hasStage(rollout, stage)) return 0
    const criteria = own.map(({ id, sign, weight, description: text }) => ({
      ...{ id, stage, text, points: sign === 'positive' ? weight : -weight },
    }))
    const verdicts = own.map(({ id }) => ({
      ...{ criterionId: id, met: null, level: levelOf(scores, id) ?? undefined, source: 'llm' as const },
    }))
    return rule({ criteria }, verdicts)
  })

export const levelOf = (scores: LevelsById, id: string): Level | null =>
  Object.hasOwn(scores, id) ? scores[id].level : null

export interface ProposeRequest<Question> {
  question: Question
  /** Names the question in its run. */
  key: string
  step: number
  /** All rollouts of the question. */
  rollouts: readonly StagedRollout[]
  /** What they are scored on already. */
  existing: readonly StageRubric[]
  signal?: AbortSignal
}

/** Proposals as they came, of any shape (`acceptDrafts` reads them); or why there are none. */
export type ProposedDrafts =
  | { drafts: readonly unknown[]; problem?: undefined }
  | { drafts: null; problem: string }

export interface ScoreRequest<Question> {
  question: Question
  key: string
  step: number
  rollout: StagedRollout
  /** Of stages that the rollout has; at least one. */
  rubrics: readonly StageRubric[]
  signal?: AbortSignal
}

/** A level for each rubric, null where it was not given; or why there is none at all. */
export type RolloutScored = { scores: LevelsById; problem?: undefined } | { scores: null; problem: string }

/**
 * A language model, or two functions. What fails is said, never made up: proposals that cannot be had are none, and a scoring
 * that failed is not a zero. Throws for what every call would meet (no authorisation, no such model) and an aborted signal.
 */
export interface StageJudge<Question> {
  propose(request: ProposeRequest<Question>): Promise<ProposedDrafts>
  score(request: ScoreRequest<Question>): Promise<RolloutScored>
  close?(): Promise<void>
}
