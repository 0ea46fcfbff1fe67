/** @file Logic as it is learnt before it is rewarded: what demonstrations are drawn, and the sets that it is tested on. */

import { z } from 'zod'
import { fraction } from '../../util/setting-shapes.ts'
import { LOGIC_STYLES, MAX_HOPS, problemShape } from './problem-shape.ts'
import { GENERATED_TEST_SETS } from './testset-names.ts'
import { MAX_STEPS } from './vocabulary.ts'

export { problemShape } from './problem-shape.ts'

const hopCount = z.int().min(1).max(MAX_HOPS)
const style = z.enum(LOGIC_STYLES)
const wording = z.enum(['canonical', 'as-given'])

export const sourceSchema = z.strictObject({
  hops: hopCount.describe('Length of a proof in steps.'),
  nodes: z
    .tuple([z.int(), z.int()])
    .nullable()
    .default(null)
    .describe(
      "Kinds on the chain, [fewest, most]; fewer make shorter problems. The real rows' distribution when null.",
    ),
  style: style.optional().describe("What follows is as the task's own settings say where absent."),
  wording: wording.optional().describe('How sentences are worded.'),
  recite: z
    .int()
    .min(1)
    .max(MAX_STEPS)
    .optional()
    .describe(
      'Rules said again in place of proofs: prompts of one to so many rules of such problems. Drills in looking rules up.',
    ),
  reciteOnly: z
    .enum(['kinds', 'properties'])
    .optional()
    .describe('Recitals of rules from kind to kind alone, or of properties alone.'),
  reciteAsked: z
    .enum(['found', 'reached'])
    .optional()
    .describe(
      'Recitals with a question about a property: of the rules that give it (`found`), or until one does (`reached`).',
    ),
  ...problemShape,
})

export const keyframeSchema = z.strictObject({
  at: z.number().min(0).max(1).describe('Progress of the training in [0, 1].'),
  weights: z.array(z.number().min(0)).describe('One weight a source.'),
  until: z
    .strictObject({
      loss: z.number().positive().describe('Bound of the mean loss, nats a token.'),
      window: z.int().positive().default(50).describe('Steps that the loss is averaged over.'),
      atMost: fraction.describe('Share of all steps at which the keyframe is left in any case.'),
    })
    .optional()
    .describe(
      'The training stays at this keyframe until the mean loss of `window` steps (nats a token of the responses) is below `loss`, at most until the share `atMost` of all steps. What follows is spread over the steps that are left.',
    ),
})

const curriculumSchema = z.strictObject({
  kind: z
    .enum(['short-proofs', 'growing', 'custom'])
    .default('short-proofs')
    .describe(
      '`short-proofs`: 1 to `maxHops`; `growing`: to five hops; `custom`: `sources` mixed as `keyframes` say.',
    ),
  maxHops: hopCount.default(3).describe('Longest proof.'),
  sources: z.array(sourceSchema).default([]).describe('Problems to draw from.'),
  keyframes: z.array(keyframeSchema).default([]).describe('Weights of the sources over the steps.'),
})

/** What decides which demonstrations are drawn; recipes may go on learning them. */
export const demonstrationsShape = {
  curriculum: curriculumSchema.prefault({}).describe('What is shown when.'),
  labels: z
    .enum(['two-way', 'three-way'])
    .default('two-way')
    .describe('Which answers there are: true and false, or unknown as well; each as often.'),
  style: style.default('real').describe('Style of the generated problems.'),
  ...problemShape,
  wording: wording
    .default('canonical')
    .describe(
      '`canonical`: demonstrations say every rule as "Every x is (not) (a|an) y", whatever form its premise has.',
    ),
  proofs: z
    .enum(['shortest', 'looking'])
    .optional()
    .describe(
      '`looking`: proofs state the properties of every kind that they pass, so that where to stop is one look-up too; `shortest` (also when absent): what is needed and no more.',
    ),
  numbering: z
    .enum(['from-one', 'random-start'])
    .default('random-start')
    .describe(
      '`random-start`: half of the demonstrations number their steps from a random start, so that all numbers are learnt.',
    ),
  numberedTo: z
    .int()
    .positive()
    .max(MAX_STEPS)
    .optional()
    .describe(
      'Highest step number of `random-start`; that of a five-hop proof, or of the longest source, when absent.',
    ),
  signWeight: z
    .number()
    .positive()
    .default(1)
    .describe("Loss weight of the tokens that decide a statement's sign."),
}

export const logicStartSchema = z.strictObject({
  kind: z.literal('logic'),
  ...demonstrationsShape,
  vocabulary: z
    .literal('long')
    .optional()
    .describe(
      'Tokens of fresh weights. `long`: up to 24 kinds and 45 steps, and phrases such as ` is not` are one token. When absent only where kinds, lengths or step numbers need it.',
    ),
  tests: z
    .strictObject({
      hops: z.array(hopCount).min(1).default([1, 2, 3, 4, 5]).describe('One test set for each hop count.'),
      sets: z
        .array(z.enum(GENERATED_TEST_SETS))
        .min(1)
        .optional()
        .describe("Test sets of each hop count; the style's own when absent."),
      problemsBetween: z
        .int()
        .positive()
        .max(20_000)
        .default(50)
        .describe('Problems of each test set before the end.'),
      greedy: z
        .union([z.boolean(), z.literal('only')])
        .default(true)
        .describe(
          'At the end also test with the likeliest tokens; `only`: always with them, and with no samples.',
        ),
      realFile: z
        .string()
        .nullable()
        .default(null)
        .describe("Rows in ProntoQA's format as one more test set, evaluated at the end."),
    })
    .prefault({})
    .describe('The test sets.'),
})
export type LogicStart = z.output<typeof logicStartSchema>
