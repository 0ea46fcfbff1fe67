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
      'Active rubrics that a stage keeps: plan, research, review, answer. 0: none outlasts the step that proposed it.',
    ),
  generate: z
    .boolean()
    .default(true)
    .describe('Have new rubrics proposed. False: only those that are given, as a control.'),
  targets: perStage(range)
    .default([
      [1, 4],
      [1, 4],
      [1, 4],
      [2, 5],
    ])
    .describe(
      'How many new rubrics a stage is asked for, fewest and most. Targets, no quotas: none is a good answer too.',
    ),
  maxProposed: z
    .int()
    .min(1)
    .max(50)
    .default(8)
    .describe('Proposals of one call that a stage looks at; those behind them are refused.'),
  dropZeroVariance: z
    .boolean()
    .default(true)
    .describe('Rubrics on which no two rollouts differ go to the inactive ones, every step (DR Tulu).'),
  maxInactive: z
    .int()
    .min(0)
    .max(1000)
    .default(20)
    .describe('Inactive rubrics of a question that are remembered, the latest.'),
  refuse: z
    .strictObject({
      similarity: z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .default(0.7)
        .describe(
          'Share of content from which two rubrics are compared as duplicates or mirrors; null: only the same words count.',
        ),
      tagChecks: z
        .boolean()
        .default(true)
        .describe('Rubrics that only ask whether a tag or a section is there.'),
      otherStages: z.boolean().default(true).describe('Rubrics that begin with what another stage writes.'),
      orders: z.boolean().default(true).describe('Rubrics that speak to the judge.'),
    })
    .prefault({})
    .describe('What keeps a proposal out.'),
  shownCharacters: z
    .strictObject({
      generate: z
        .int()
        .min(100)
        .nullable()
        .default(8000)
        .describe('Characters shown to the judge that writes rubrics; null: all.'),
      score: z
        .int()
        .min(100)
        .nullable()
        .default(40_000)
        .describe('Characters shown to the judge that scores; null: all.'),
    })
    .prefault({})
    .describe(
      'Most characters of each part of a rollout that the judge is shown, its middle left out beyond; null: all.',
    ),
  journal: z
    .enum(['all', 'changes'])
    .default('all')
    .describe('What rubrics.jsonl holds: every rubric at every step, or only those that came or went.'),
})
export type EvolvingSettings = z.output<typeof evolvingSchema>
export type EvolvingInput = z.input<typeof evolvingSchema>

export const DEFAULT_EVOLVING: EvolvingSettings = evolvingSchema.parse({})
