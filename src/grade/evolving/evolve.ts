/** @file One question's turn with a judge that evolves: propose, score, reward, prune; what was and what becomes of every rubric. */

import type { RubricRow, RubricStatus } from '../../runs/rows.ts'
import { JudgeError } from '../../util/errors.ts'
import { acceptDrafts, type RefusedDraft } from './accept.ts'
import { bornOut, type StageAnchors } from './anchored.ts'
import { NO_RUBRICS, type QuestionRubrics } from './buffers.ts'
import { type Fate, prune, type RubricStatistics, statisticsOf } from './prune.ts'
import {
  hasStage,
  isPersistent,
  type Level,
  type LevelsById,
  levelOf,
  type RubricSign,
  type ScoredLevel,
  type StagedRollout,
  type StageJudge,
  type StageRubric,
  stageRewards,
} from './rubrics.ts'
import { DEFAULT_EVOLVING, type EvolvingSettings } from './settings.ts'

/** A question's rollouts to judge. */
export interface GroupToJudge<Question> {
  step: number
  question: Question
  /** Names the question in its run: what its rubrics are kept under. */
  key: string
  rollouts: readonly StagedRollout[]
  /** Given with the question, for its answer. */
  persistent?: readonly StageRubric[]
  /** What is known of the question (`EvolvingBuffers.of`). Absent: nothing. */
  before?: QuestionRubrics
  /** What new rubrics have to tell apart. Absent: nothing. */
  anchors?: StageAnchors<Question>
  signal?: AbortSignal
}

/** What came of judging one rollout. */
export interface JudgedRollout {
  rollout: StagedRollout
  /** By rubric id. */
  scores: LevelsById
  /** R[1..4]; null where nothing is known (`rl/stage-credit.ts` says what becomes of it). */
  rewards_K: [number | null, number | null, number | null, number | null]
  /** Why it could not be scored; null where it was. Only its answer's reward may be known then. */
  failure: string | null
}

/** Levels that were asked for, and those that were not given, by sign. */
export type LevelCounts = Record<RubricSign, { asked: number; nulls: number }>

export interface JudgedGroup {
  key: string
  step: number
  /** In the order of the rollouts. */
  rollouts: JudgedRollout[]
  /** What they were scored on. */
  rubrics: readonly StageRubric[]
  /** By rubric, in their order. */
  statistics: readonly RubricStatistics[]
  /** What becomes of them; those that were given stay. */
  fates: readonly Fate[]
  /** Proposals that became no rubric. */
  refused: readonly RefusedDraft[]
  /** Why nothing was proposed; null where something could have been. */
  generationFailure: string | null
  levels: LevelCounts
  /** What is to be kept of the question (`EvolvingBuffers.keep`). */
  after: QuestionRubrics
}

/**
 * Judges the rollouts of one question. Nothing is changed: what was known comes in, what is known afterwards goes out, so that
 * several questions and steps may be under way at a time.
 * - Rewards are worked out on all rubrics, before any is dropped.
 * - Where proposing fails, there are no new rubrics, and where there are no others either, nothing is known.
 * - Where scoring fails, the answer alone is asked about once more; where that fails too, nothing is known of the rollout.
 * @throws what the judge throws for every call, and an aborted signal's reason
 * @example
 * const persistent = persistentRubrics([{ id: 'sum', text: 'Says 3.', points: 1 }])
 * const judge = scriptedStageJudge({ seed: 1, propose: () => [], level: ({ rollout }) => (rollout.stages[3] === '3' ? 2 : 0) })
 * const group = { step: 1, question: '1 + 2?', key: 'q1', persistent }
 * const judged = await judgeGroup(judge, { ...group, rollouts: ['3', '4'].map(key => ({ key, stages: ['add', '', '', key] })) })
 * judged.rollouts.map(({ rewards_K }) => rewards_K) // [ [ 0, 0, 0, 1 ], [ 0, 0, 0, 0 ] ]
 */
export const judgeGroup = async <Question>(
  judge: StageJudge<Question>,
  group: GroupToJudge<Question>,
  settings: EvolvingSettings = DEFAULT_EVOLVING,
): Promise<JudgedGroup> => {
  const { rollouts, persistent = [], before = NO_RUBRICS, key, step } = group
  const { born, refused, failure } = await newRubrics(judge, group, settings)
  const rubrics = [...persistent, ...before.active, ...born]
  const judged =
    failure !== null && rubrics.length === 0
      ? rollouts.map(rollout => unjudged(rollout, failure))
      : await Promise.all(rollouts.map(rollout => judgeRollout(judge, group, rollout, rubrics)))
  const statistics = rubrics.map(rubric => statisticsOf(rubric, judged))
  const fates = fatesOf(rubrics, statistics, settings)
  return {
    ...{ key, step, rubrics, statistics, fates, refused },
    rollouts: judged,
    generationFailure: failure,
    levels: countLevels(rubrics, judged),
    after: {
      active: rubrics.filter((rubric, i) => !isPersistent(rubric) && fates[i] === 'kept'),
      inactive: inactiveAfter(before, rubrics, fates, settings),
    },
  }
}

const newRubrics = async <Question>(
  judge: StageJudge<Question>,
  group: GroupToJudge<Question>,
  settings: EvolvingSettings,
) => {
  const { question, key, step, rollouts, persistent = [], before = NO_RUBRICS, anchors, signal } = group
  if (!settings.generate || rollouts.length === 0) return { born: [], refused: [], failure: null }
  const existing = [...persistent, ...before.active]
  const { drafts, problem } = await orProblem(
    () => judge.propose({ question, key, step, rollouts, existing, signal }),
    problem => ({ drafts: null, problem }),
  )
  if (drafts === null) return { born: [], refused: [], failure: problem }
  const taken = before.inactive.map(({ id }) => id)
  const accepted = acceptDrafts(drafts, { existing, taken, step, settings })
  if (anchors === undefined) return { ...accepted, failure: null }
  const tried = await bornOut(accepted, anchors.of(question), anchors.minAgreement, async (anchor, asked) => {
    const scored = { ...group, question: anchor.problem }
    return (await levelsOf(judge, scored, anchor.shown, asked)).scores ?? {}
  })
  return { ...tried, failure: null }
}

/** A judge that fails at one question is no reason to stop; one that would fail at every question is. */
const orProblem = async <T>(work: () => Promise<T>, otherwise: (problem: string) => T): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof JudgeError) || error.fatal || error.kind === 'cancelled') throw error
    return otherwise(error.message)
  }
}

/** Nobody said what to look for: that is no zero. */
const unjudged = (rollout: StagedRollout, failure: string): JudgedRollout => ({
  rollout,
  scores: {},
  rewards_K: [null, null, null, null],
  failure,
})

const judgeRollout = async <Question>(
  judge: StageJudge<Question>,
  group: GroupToJudge<Question>,
  rollout: StagedRollout,
  rubrics: readonly StageRubric[],
): Promise<JudgedRollout> => {
  const score = (asked: readonly StageRubric[]) => levelsOf(judge, group, rollout, asked)
  const asked = rubrics.filter(({ stage }) => hasStage(rollout, stage))
  const { scores, problem } = await score(asked)
  if (scores !== null)
    return { rollout, scores, rewards_K: stageRewards(rubrics, rollout, scores), failure: null }
  const answer = asked.filter(({ stage }) => stage === 4)
  const alone = answer.length === asked.length ? { scores: null } : await score(answer)
  const known = alone.scores ?? {}
  const rewards_K: JudgedRollout['rewards_K'] = [null, null, null, stageRewards(rubrics, rollout, known)[3]]
  return { rollout, scores: known, rewards_K, failure: problem ?? 'no level was given' }
}

/** A rollout's levels on rubrics of stages that it has. */
const levelsOf = async <Question>(
  judge: StageJudge<Question>,
  { question, key, step, signal }: GroupToJudge<Question>,
  rollout: StagedRollout,
  asked: readonly StageRubric[],
): Promise<Found> => {
  if (asked.length === 0) return { scores: {} }
  const found = await orProblem(
    () => judge.score({ question, key, step, rollout, rubrics: asked, signal }),
    problem => ({ scores: null, problem }),
  )
  return checkedScores(found, asked)
}

const isLevel = (value: unknown): value is Level => value === 0 || value === 1 || value === 2

type Found = { scores: LevelsById; problem?: undefined } | { scores: null; problem?: string }

/** Only rubrics that were asked about, and only levels that there are; none at all is a failure. */
const checkedScores = ({ scores, problem }: Found, asked: readonly StageRubric[]): Found => {
  if (scores === null) return { scores: null, problem }
  const own = asked.map(({ id }): [string, ScoredLevel] => {
    const found: unknown = Object.hasOwn(scores, id) ? scores[id] : null
    const { level, justification, call } = (found ?? {}) as Partial<ScoredLevel>
    return [
      id,
      {
        level: isLevel(level) ? level : null,
        ...(typeof justification === 'string' && { justification }),
        ...(call !== undefined && { call }),
      },
    ]
  })
  return own.some(([, { level }]) => level !== null)
    ? { scores: Object.fromEntries(own) }
    : { scores: null, problem: 'no level was given' }
}

const fatesOf = (
  rubrics: readonly StageRubric[],
  statistics: readonly RubricStatistics[],
  settings: EvolvingSettings,
): Fate[] => {
  const places = rubrics.flatMap((rubric, i) => (isPersistent(rubric) ? [] : [i]))
  const pruned = prune(
    places.map(i => rubrics[i]),
    places.map(i => statistics[i]),
    settings,
  )
  const fates = rubrics.map((): Fate => 'kept')
  for (const [at, i] of places.entries()) fates[i] = pruned[at]
  return fates
}

const inactiveAfter = (
  before: QuestionRubrics,
  rubrics: readonly StageRubric[],
  fates: readonly Fate[],
  { maxInactive }: EvolvingSettings,
): StageRubric[] => {
  const all = [...before.inactive, ...rubrics.filter((_, i) => fates[i] === 'inactive')]
  return all.slice(Math.max(0, all.length - maxInactive))
}

const countLevels = (rubrics: readonly StageRubric[], judged: readonly JudgedRollout[]): LevelCounts => {
  const counts: LevelCounts = { positive: { asked: 0, nulls: 0 }, negative: { asked: 0, nulls: 0 } }
  for (const { rollout, scores } of judged)
    for (const { id, sign, stage } of rubrics) {
      if (!hasStage(rollout, stage)) continue
      counts[sign].asked++
      counts[sign].nulls += Number(levelOf(scores, id) === null)
    }
  return counts
}

const DIGITS = 4
const rounded = (value: number | null): number | null =>
  value === null ? null : Number(value.toPrecision(DIGITS))

/**
 * A judgement as a row of rubrics.jsonl.
 * @param journal `changes`: without the rubrics that were there and stay
 * @example
 * const keys = { title: 'keys', description: 'Names both keys.', weight: 3 }
 * const judge = scriptedStageJudge({ seed: 1, propose: () => [{ ...keys, stage: 1, sign: 'positive' }], level: () => 2 })
 * const judged = await judgeGroup(judge, {
 *   ...{ step: 1, question: 'A + B?', key: 'q1' },
 *   rollouts: ['r1', 'r2'].map(key => ({ key, stages: ['look up A and B', '', '', '3'] })),
 * })
 * const { rubrics } = rubricRow(judged)
 * rubrics.map(({ title, fate, variance }) => ({ title, fate, variance })) // [ { title: 'keys', fate: 'inactive', variance: 0 } ]
 */
export const rubricRow = (
  { key, step, rollouts, rubrics, statistics, fates, refused, generationFailure }: JudgedGroup,
  journal: EvolvingSettings['journal'] = 'all',
): RubricRow => {
  const scored = rubrics.map((rubric, i): RubricStatus => {
    const { id, stage, sign, title, description, weight, since } = rubric
    const isBorn = since === step
    return {
      ...{ id, stage, sign, title, weight, since },
      ...(isBorn && { born: true, description }),
      fate: fates[i],
      scored: statistics[i].scored,
      score: rounded(statistics[i].score),
      variance: rounded(statistics[i].variance),
    }
  })
  const logged = journal === 'all' ? scored : scored.filter(({ born, fate }) => born || fate !== 'kept')
  return {
    step,
    question: key,
    rollouts: rollouts.length,
    failedScorings: rollouts.filter(({ failure }) => failure !== null).length,
    ...(generationFailure !== null && { generationFailure }),
    rubrics: logged,
    refused: refused.map(draft => ({ ...draft })),
  }
}
