/** @file Which new rubrics tell labelled trajectories apart: the others become none, with the reason. */

import { findOnAnchors } from '../anchors.ts'
import type { Accepted } from './accept.ts'
import {
  gainOf,
  hasStage,
  type LevelsById,
  levelOf,
  type StagedRollout,
  type StageRubric,
} from './rubrics.ts'

/** A trajectory that somebody has found good or bad. */
export interface StageAnchor<Question> {
  problem: Question
  shown: StagedRollout
  good: boolean
}

export interface StageAnchors<Question> {
  /** Least agreement of a rubric with them (`findOnAnchors`). */
  minAgreement: number
  /** Those that rubrics of a question are tried on. */
  of(question: Question): readonly StageAnchor<Question>[]
}

/** Levels of an anchor on the rubrics of its stages; empty where the judge failed. */
type Score<Question> = (anchor: StageAnchor<Question>, rubrics: readonly StageRubric[]) => Promise<LevelsById>

/** Accepted rubrics, those that the anchors do not bear out among the refused ones. One call an anchor. */
export const bornOut = async <Question>(
  { born, refused }: Accepted,
  anchors: readonly StageAnchor<Question>[],
  minAgreement: number,
  score: Score<Question>,
): Promise<Accepted> => {
  const scored = await Promise.all(
    anchors.map(async anchor => {
      const asked = born.filter(({ stage }) => hasStage(anchor.shown, stage))
      return { good: anchor.good, levels: asked.length > 0 ? await score(anchor, asked) : {} }
    }),
  )
  const found = born.map(({ id, sign }) =>
    findOnAnchors(
      scored.map(({ good, levels }) => {
        const level = levelOf(levels, id)
        return { good, gain: level === null ? null : gainOf(sign, level) }
      }),
      minAgreement,
    ),
  )
  return {
    born: born.filter((_, i) => found[i].admitted),
    refused: [
      ...refused,
      ...born.flatMap(({ stage, title, description }, i) =>
        found[i].admitted
          ? []
          : { stage, title, description, rule: 'anchors' as const, reason: found[i].reason },
      ),
    ],
  }
}
