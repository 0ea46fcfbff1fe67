/** @file Settings of a judge that evolves, with their defaults (RubricEM). */

import { z } from 'zod'

const perStage = <S extends z.ZodType>(entry: S) => z.tuple([entry, entry, entry, entry])

const range = z
  .tuple([z.int().min(0), z.int().min(0)])
  .refine(([low, high]) => low <= high, 'the fewer first; swap them')

export const evolvingSchema = z.strictObject({
  caps: perStage(z.int().min(0).max(100))
    .default([3, 2, 2, 3])
    .describe(
      'Most active rubrics of each stage: plan, research, review, answer. 0: none lasts longer than the step that proposed it.',
    ),
  generate: z
    .boolean()
    .default(true)
    .describe('Let the judge propose new rubrics. false, as a control: only the given ones are used.'),
  targets: perStage(range)
    .default([
      [1, 4],
      [1, 4],
      [1, 4],
      [2, 5],
    ])
    .describe(
      'Fewest and most new rubrics that the judge is asked for in each stage. It may propose fewer, or none.',
    ),
  maxProposed: z
    .int()
    .min(1)
    .max(50)
    .default(8)
    .describe('Most proposals of one call that are considered for a stage; the rest are refused.'),
  dropZeroVariance: z
    .boolean()
    .default(true)
    .describe('After each step, make rubrics inactive on which all rollouts score the same (DR Tulu).'),
  maxInactive: z
    .int()
    .min(0)
    .max(1000)
    .default(20)
    .describe('Most inactive rubrics of a question that are remembered; the oldest are forgotten.'),
  refuse: z
    .strictObject({
      similarity: z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .default(0.7)
        .describe(
          'Share of common words from which a proposal is compared with another rubric as its duplicate or opposite; null: only the same text is refused.',
        ),
      tagChecks: z
        .boolean()
        .default(true)
        .describe('Refuse proposals that only ask whether a tag or a section is there.'),
      otherStages: z.boolean().default(true).describe('Refuse proposals that are about another stage.'),
      orders: z.boolean().default(true).describe('Refuse proposals that give the judge orders.'),
    })
    .prefault({})
    .describe('Which proposals are refused.'),
  shownCharacters: z
    .strictObject({
      generate: z
        .int()
        .min(100)
        .nullable()
        .default(8000)
        .describe('Most characters of each part in calls that propose rubrics; null: no limit.'),
      score: z
        .int()
        .min(100)
        .nullable()
        .default(40_000)
        .describe('Most characters of each part in calls that score rollouts; null: no limit.'),
    })
    .prefault({})
    .describe(
      'How much of each part of a rollout the judge is shown; of a longer part the middle is left out.',
    ),
  journal: z
    .enum(['all', 'changes'])
    .default('all')
    .describe(
      'What rubrics.jsonl records: every rubric at every step (`all`), or only those that came or went (`changes`).',
    ),
})
export type EvolvingSettings = z.output<typeof evolvingSchema>
export type EvolvingInput = z.input<typeof evolvingSchema>

export const DEFAULT_EVOLVING: EvolvingSettings = evolvingSchema.parse({})
