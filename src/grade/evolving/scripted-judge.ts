/** @file A judge of stages that is two functions: a proposer, and a scorer that may be made to err at known rates. */

import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import {
  type Level,
  type RubricDraft,
  type ScoredLevel,
  STAGES,
  type Stage,
  type StagedRollout,
  type StageJudge,
  type StageRubric,
} from './rubrics.ts'

interface ScriptedProposal<Question> {
  question: Question
  key: string
  step: number
  rollouts: readonly StagedRollout[]
  existing: readonly StageRubric[]
  /** Named by seed, step and question: what is drawn depends on nothing else. */
  rng: Rng
}

export interface StageNoise {
  seed: number | string
  /** Chance that a level is inverted: 0 to 2, 2 to 0; 1 stays. */
  flipRate?: number
  /** Chance that a level moves by one, up or down where both can be. */
  levelRate?: number
  /** Chance that a level is withheld. */
  nullRate?: number
  /** Chance that the scoring of a rollout fails altogether, and that of its answer alone after that. */
  failRate?: number
  /** Stages whose levels err. Default all; a failure has no stage. */
  stages?: readonly Stage[]
}

export interface ScriptedStageParts<Question> {
  /** New rubrics; null: the call failed. */
  propose(asked: ScriptedProposal<Question>): readonly RubricDraft[] | null
  /** The level of a rollout on a rubric; null: cannot be told. */
  level(asked: { question: Question; rollout: StagedRollout; rubric: StageRubric }): Level | null
  /** Names what the proposer draws. */
  seed: number | string
  noise?: StageNoise
}

/**
 * A judge whose proposals and levels functions give. Noise depends on its seed, the rollout's key and the rubric alone: not on
 * the order of calls, and not on what else is scored.
 * @throws ConfigError for rates outside [0, 1]
 * @example
 * const judge = scriptedStageJudge({ seed: 1, propose: () => [], level: ({ rollout }) => (rollout.stages[3] === '3' ? 2 : 0) })
 * const rubrics = persistentRubrics([{ id: 'sum', text: 'Says 3.', points: 1 }])
 * const asked = { question: '1 + 2?', key: 'q1', step: 1, rubrics }
 * const scored = await judge.score({ ...asked, rollout: { key: 'r1', stages: ['add', '', '', '3'] } })
 * scored.scores // { 'given.sum': { level: 2 } }
 */
export const scriptedStageJudge = <Question>(parts: ScriptedStageParts<Question>): StageJudge<Question> => {
  const { noise, seed } = parts
  if (noise) checkRates(noise)
  return {
    async propose({ question, key, step, rollouts, existing, signal }) {
      signal?.throwIfAborted()
      const rng = new Rng(`${seed}/propose/${step}/${key}`)
      const drafts = parts.propose({ question, key, step, rollouts, existing, rng })
      return drafts === null ? { drafts: null, problem: 'scripted to fail' } : { drafts }
    },
    async score({ question, rollout, rubrics, signal }) {
      signal?.throwIfAborted()
      if (noise && fails(noise, rollout, rubrics)) return { scores: null, problem: 'scripted to fail' }
      const scores = rubrics.map((rubric): [string, ScoredLevel] => {
        const level = parts.level({ question, rollout, rubric })
        return [rubric.id, { level: noise ? disturbed(level, noise, rollout, rubric) : level }]
      })
      return { scores: Object.fromEntries(scores) }
    },
  }
}

const checkRates = ({ flipRate = 0, levelRate = 0, nullRate = 0, failRate = 0 }: StageNoise): void => {
  const rates = { flipRate, levelRate, nullRate, failRate }
  for (const [name, rate] of Object.entries(rates))
    if (!(rate >= 0 && rate <= 1))
      throw new ConfigError(`noise of stages: ${name}: expected a rate in [0, 1], got ${rate}; give a share`)
}

/** The whole rollout and its answer alone are two calls. */
const fails = (
  { seed, failRate = 0 }: StageNoise,
  { key }: StagedRollout,
  rubrics: readonly StageRubric[],
): boolean => {
  const asked = rubrics.every(({ stage }) => stage === 4) ? 'answer' : 'all'
  return new Rng(`${seed}/fails/${key}/${asked}`).next() < failRate
}

const disturbed = (
  level: Level | null,
  { seed, flipRate = 0, levelRate = 0, nullRate = 0, stages = STAGES }: StageNoise,
  { key }: StagedRollout,
  { id, stage }: StageRubric,
): Level | null => {
  if (level === null || !stages.includes(stage)) return level
  const rng = new Rng(`${seed}/level/${key}/${id}`)
  // All drawn at once, so that one rate does not change which levels another hits.
  const [hidden, flipped, moved] = [rng.next() < nullRate, rng.next() < flipRate, rng.next() < levelRate]
  const upward = rng.next() < 0.5
  if (hidden) return null
  const turned = (flipped ? 2 - level : level) as Level
  return moved ? neighbourOf(turned, upward) : turned
}

const neighbourOf = (level: Level, upward: boolean): Level => (level === 1 ? (upward ? 2 : 0) : 1)
