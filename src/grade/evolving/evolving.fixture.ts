/** @file Questions, staged rollouts and rubrics in a few words, for tests of the judge that evolves. */

import type { RubricDraft, RubricSign, Stage, StagedRollout, StageRubric } from './rubrics.ts'

export const rollout = (
  key: string,
  stages: readonly [string, string, string, string] = [
    `plan ${key}`,
    `research ${key}`,
    `review ${key}`,
    `answer ${key}`,
  ],
): StagedRollout => ({ key, stages })

export const draft = (
  stage: Stage,
  title: string,
  { sign = 'positive' as RubricSign, weight = 1, description = `Names ${title}` } = {},
): RubricDraft => ({ stage, sign, title, description, weight })

export const rubric = (
  id: string,
  stage: Stage,
  { sign = 'positive' as RubricSign, weight = 1, since = 1 as number | null, title = id } = {},
): StageRubric => ({ id, stage, sign, title, description: `Names ${title}`, weight, since })
