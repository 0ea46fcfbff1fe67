/** @file The judge of stages in the records task: a proposer that is right about what matters only so often, and exact levels. */

import {
  type RubricDraft,
  type ScriptedStageParts,
  STAGES,
  type Stage,
  type StagedRollout,
  type StageRubric,
  stageParts,
} from '../../grade/evolving/index.ts'
import type { Rng } from '../../util/rng.ts'
import {
  type Attempt,
  PERSISTENT_CRITERIA,
  READER_CRITERIA,
  STAGE_CRITERIA,
  type StageCriterion,
} from './stage-criteria.ts'
import { readTrajectory } from './trajectory.ts'
import { encodeRecords, RECORDS_TOKENS, RECORDS_VOCABULARY } from './vocabulary.ts'
import type { RecordsQuestion } from './world.ts'

/** How good a proposer is. */
export interface ProposerSkill {
  seed: number | string
  /** Chance that a proposal is a sound criterion; else it is useless, or can be had without good work. */
  sound: number
  /** Chance that it looks for criteria on which the rollouts differ. */
  discerning: number
  /** Knows the answer and the archive's field names; else what stands in the attempts. */
  oracle: boolean
}

export const draftOf = ({ stage, negative, title, description, weight }: StageCriterion): RubricDraft => ({
  ...{ stage, title, description, weight },
  sign: negative ? 'negative' : 'positive',
})

/** Given with every question where an oracle judges, for its answer: nobody else could tell. */
export const GIVEN_RUBRICS: readonly StageRubric[] = PERSISTENT_CRITERIA.map(criterion => ({
  ...draftOf(criterion),
  id: `given.${criterion.id}`,
  since: null,
}))

const BY_TITLE = new Map(
  [...STAGE_CRITERIA, ...READER_CRITERIA, ...PERSISTENT_CRITERIA].map(own => [own.title, own]),
)

/** A rollout as criteria read it. A piece may begin in the stage before: `\n<review>` does; so the text is read as a whole. */
export const attemptOf = (question: RecordsQuestion, rollout: StagedRollout): Attempt => {
  const parts = stageParts(rollout)
  const isOwn = parts.flatMap(({ stage, text }) => Array.from({ length: text.length }, () => stage !== null))
  let end = 0
  const pieces = encodeRecords(parts.map(({ text }) => text).join('')).map(token => {
    const text = RECORDS_VOCABULARY[token]
    // What is no piece, as the name of a special token, is unknown character by character.
    end += token === RECORDS_TOKENS.unk ? 1 : text.length
    return { text, own: isOwn[end - 1] ?? true }
  })
  return { question, trajectory: readTrajectory(pieces) }
}

const isVaried = (criterion: StageCriterion, attempts: readonly Attempt[]): boolean =>
  new Set(attempts.map(attempt => criterion.level(attempt))).size > 1

/** How many proposals a stage gets. */
const countFor = (stage: Stage, rng: Rng): number => (stage === 4 ? 2 + rng.int(4) : 1 + rng.int(4))

const proposeFor = (
  stage: Stage,
  attempts: readonly Attempt[],
  taken: ReadonlySet<string>,
  { sound, discerning, oracle }: ProposerSkill,
  rng: Rng,
): RubricDraft[] => {
  const drafts: RubricDraft[] = []
  for (let i = countFor(stage, rng); i > 0; i--) {
    const looks = rng.next() < discerning
    const wantsSound = rng.next() < sound
    const fitting = (oracle ? STAGE_CRITERIA : READER_CRITERIA).filter(
      own =>
        own.stage === stage &&
        (own.worth === 'sound') === wantsSound &&
        !taken.has(own.title) &&
        !drafts.some(({ title }) => title === own.title) &&
        (!looks || isVaried(own, attempts)),
    )
    if (fitting.length > 0) drafts.push(draftOf(rng.pick(fitting)))
  }
  return drafts
}

/** Proposals and levels for `scriptedStageJudge`. */
export const recordsJudgeParts = (skill: ProposerSkill): ScriptedStageParts<RecordsQuestion> => ({
  seed: skill.seed,
  propose: ({ question, rollouts, existing, rng }) => {
    const attempts = rollouts.map(rollout => attemptOf(question, rollout))
    const taken = new Set(existing.map(({ title }) => title))
    return STAGES.flatMap(stage => proposeFor(stage, attempts, taken, skill, rng.fork(stage)))
  },
  level: ({ question, rollout, rubric }) =>
    BY_TITLE.get(rubric.title)?.level(attemptOf(question, rollout)) ?? null,
})
