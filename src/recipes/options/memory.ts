/** @file A memory whose lessons are a scaffold, as settings: what earlier attempts missed, or lessons of another run. */

import { existsSync } from 'node:fs'
import { z } from 'zod'
import { checkBankFile } from '../../memory/bank-file.ts'
import { bankSchema, type MemorySettings } from '../../memory/config.ts'
import { choice, flag } from '../../train/config.ts'
import { fraction, natural } from '../../util/setting-shapes.ts'
import { mayBeMissing, type RunMode, refuse } from '../common/refuse.ts'
import type { MethodSettings, RewardFacts, RewardOption } from './option.ts'

const attemptsSchema = z.strictObject({
  atMost: fraction
    .default(0.5)
    .describe("A criterion becomes a lesson if at most this share of a group's rollouts satisfied it."),
  most: natural.default(4).describe('Most lessons kept for a question, the least satisfied criteria first.'),
  discerning: flag(
    true,
    'Keep only criteria that some rollout of the group met. One that none meets does not separate good attempts from poor ones.',
  ),
})
export type AttemptSettings = z.output<typeof attemptsSchema>

const lessonBankSchema = bankSchema.extend({
  show: choice(
    ['alone', 'beside'],
    'alone',
    "Where lessons are shown: in place of the rubric's criteria (`alone`), or after them (`beside`).",
  ),
  most: natural
    .default(6)
    .describe('Most lessons for a question; the scaffold decides how many of them are shown.'),
  attempts: attemptsSchema
    .nullable()
    .prefault({})
    .describe(
      "Which lessons are kept of a step's rollouts; null: none, so that the bank stays as it is in `file`.",
    ),
  placebo: flag(false, 'Negative control: retrieve as many lessons, but of unrelated questions.'),
})
export type LessonBankSettings = z.output<typeof lessonBankSchema>

/** The section `memory` of recipes with a scaffold. */
export const lessonMemorySchema = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('none').describe('No memory.'),
    }),
    lessonBankSchema,
  ])
  .default({ kind: 'none' })
export type LessonMemorySettings = z.output<typeof lessonMemorySchema>

/** Refuses a memory that nobody would see, or that would stay empty. */
const check = (
  memory: LessonBankSettings,
  { scaffold, rollout }: MethodSettings,
  { unkept, unshown }: RewardFacts,
): void => {
  if (scaffold === null)
    refuse(
      'scaffold: expected one beside memory, which says how much of it is shown, got null',
      'set scaffold to {}',
    )
  if (scaffold?.group?.kind === 'none')
    refuse(
      'scaffold.group: expected another kind than "none" beside memory, whose lessons nobody would see',
      'set memory.kind to "none", or another group',
    )
  if (rollout?.samples === 1)
    refuse('rollout.samples: expected at least 2 with memory: a group of one is shown nothing', 'raise it')
  if (memory.show === 'beside' && unshown)
    refuse(`memory.show: expected "alone" with ${unshown}`, 'leave it out')
  if (memory.attempts === null && memory.file === undefined)
    refuse(
      'memory.attempts: expected settings without memory.file: the bank would stay empty',
      'name a file, or leave attempts out',
    )
  if (unkept && memory.file === undefined)
    refuse(
      `memory.file: expected a bank with ${unkept}, under which no criterion is judged that could become a lesson, got none`,
      'name the bank.jsonl of another run, or set memory.kind to "none"',
    )
}

/**
 * A bank file that a plan names may come later.
 * @throws ConfigError for one that is not there, DataError for a file that is no bank
 */
export const checkMemoryFile = (memory: LessonMemorySettings | MemorySettings, purpose: RunMode): void => {
  if (memory.kind === 'none' || memory.file === undefined || mayBeMissing(memory.file, purpose)) return
  if (!existsSync(memory.file))
    refuse(`memory.file: expected a bank file, got nothing at ${memory.file}`, 'name the bank.jsonl of a run')
  checkBankFile(memory.file)
}

/** The plan's line about it. */
const lineOf = (memory: LessonBankSettings): string => {
  const { retrieval, top, show, most, placebo, file, attempts } = memory
  const source = [
    ...(file === undefined ? [] : [file]),
    ...(attempts === null ? [] : [`up to ${attempts.most} criteria that a question's rollouts missed`]),
  ].join(' and ')
  const whose = {
    within: 'of the same question',
    cross: 'of similar ones',
    both: 'of the same question and similar ones',
  }
  const shown = placebo ? 'of unrelated questions (placebo)' : whose[retrieval]
  return `memory       ${source}; up to ${most} lessons ${shown}${retrieval === 'within' ? '' : ` (${top})`}, ${show === 'alone' ? 'in place of' : 'beside'} the rubric's criteria`
}

/** Lessons as a scaffold; a memory of another kind, such as RubricEM's, has none. */
const hasLessons = (memory: LessonMemorySettings | undefined): memory is LessonBankSettings =>
  memory !== undefined && 'attempts' in memory

/** Whether a scaffold shows the rubric as well, or nothing else. */
export const showsRubric = (memory: LessonMemorySettings): boolean =>
  memory.kind === 'none' || memory.show === 'beside'

const shape = { memory: lessonMemorySchema }

export const memory: RewardOption<typeof shape> = {
  shape,
  refuse({ memory: own, ...settings }, facts) {
    if (hasLessons(own)) check(own, settings, facts)
    else if (settings.scaffold && facts.unshown)
      refuse(`scaffold: expected nothing with ${facts.unshown}`, 'leave it out, or set memory')
  },
  plan: ({ memory: own }) => (hasLessons(own) ? [lineOf(own)] : []),
}
