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
      'Number of kinds on the chain, [fewest, most]; fewer make shorter problems. null: distributed as in the real rows.',
    ),
  style: style
    .optional()
    .describe('Style of these problems. Settings that are absent here are taken from the task.'),
  wording: wording.optional().describe("Wording of the rules in demonstrations; absent: the task's."),
  recite: z
    .int()
    .min(1)
    .max(MAX_STEPS)
    .optional()
    .describe(
      'Drills in looking up rules, in place of proofs: a prompt has one to this many rules, which are recited. Absent: proofs.',
    ),
  reciteOnly: z
    .enum(['kinds', 'properties'])
    .optional()
    .describe(
      'In drills, only rules from kind to kind (`kinds`), or only rules that give a property (`properties`); absent: both.',
    ),
  reciteAsked: z
    .enum(['found', 'reached'])
    .optional()
    .describe(
      'In drills, ask about a property: the rules that give it are recited (`found`), or rules in any order until one does (`reached`). Absent: no question.',
    ),
  ...problemShape,
})

export const keyframeSchema = z.strictObject({
  at: z.number().min(0).max(1).describe('Progress of the training, from 0 to 1.'),
  weights: z.array(z.number().min(0)).describe('Weights of the sources, one each.'),
  until: z
    .strictObject({
      loss: z.number().positive().describe('Bound of the mean loss, in nats a token.'),
      window: z.int().positive().default(50).describe('Steps that the loss is averaged over.'),
      atMost: fraction.describe('Share of all steps at which the keyframe ends in any case.'),
    })
    .optional()
    .describe(
      'Stay at this keyframe until the mean loss of responses over `window` steps is below `loss`, at most until the share `atMost` of all steps. Later keyframes are spread over the remaining steps.',
    ),
})

const curriculumSchema = z.strictObject({
  kind: z
    .enum(['short-proofs', 'growing', 'custom'])
    .default('short-proofs')
    .describe(
      'Lengths of the proofs. `short-proofs`: 1 to `maxHops` steps; `growing`: up to five steps; `custom`: `sources` mixed as `keyframes` say.',
    ),
  maxHops: hopCount.default(3).describe('Longest proof of `short-proofs`, in steps.'),
  sources: z.array(sourceSchema).default([]).describe('Sources of problems, for `custom`.'),
  keyframes: z
    .array(keyframeSchema)
    .default([])
    .describe('Weights of the sources over the training, for `custom`.'),
})

/** What decides which demonstrations are drawn; recipes may go on learning them. */
export const demonstrationsShape = {
  curriculum: curriculumSchema.prefault({}).describe('Which demonstrations are shown when.'),
  labels: z
    .enum(['two-way', 'three-way'])
    .default('two-way')
    .describe(
      'Possible answers, each equally frequent: true and false (`two-way`), or unknown as well (`three-way`).',
    ),
  style: style.default('real').describe('Style of the generated problems.'),
  ...problemShape,
  wording: wording
    .default('canonical')
    .describe(
      'Wording of the rules in demonstrations: "Every x is (not) (a|an) y" whatever form the premise has (`canonical`), or as the premise has it (`as-given`).',
    ),
  proofs: z
    .enum(['shortest', 'looking'])
    .optional()
    .describe(
      'What proofs state: only what is needed (`shortest`, also when absent), or also the properties of every kind on the way (`looking`), so that the place to stop is a look-up too.',
    ),
  numbering: z
    .enum(['from-one', 'random-start'])
    .default('random-start')
    .describe(
      'How steps are numbered: from one, or in half of the demonstrations from a random number on (`random-start`), so that all numbers are learnt.',
    ),
  numberedTo: z
    .int()
    .positive()
    .max(MAX_STEPS)
    .optional()
    .describe(
      'Highest step number of `random-start`; absent: that of a five-hop proof, or of the longest source.',
    ),
  signWeight: z
    .number()
    .positive()
    .default(1)
    .describe("Loss weight of the tokens that decide a statement's sign."),
}

export const logicStartSchema = z.strictObject({
  kind: z.literal('logic').describe('Proofs in the English of ProntoQA.'),
  ...demonstrationsShape,
  vocabulary: z
    .literal('long')
    .optional()
    .describe(
      'Vocabulary of fresh weights. `long`: up to 24 kinds and 45 steps, with phrases such as ` is not` as one token. Absent: long only if kinds, lengths or step numbers need it.',
    ),
  tests: z
    .strictObject({
      hops: z
        .array(hopCount)
        .min(1)
        .default([1, 2, 3, 4, 5])
        .describe('Proof lengths in steps; each has test sets of its own.'),
      sets: z
        .array(z.enum(GENERATED_TEST_SETS))
        .min(1)
        .optional()
        .describe('Test sets for each length; absent: that of the style.'),
      problemsBetween: z
        .int()
        .positive()
        .max(20_000)
        .default(50)
        .describe('Problems in each test set before the end.'),
      greedy: z
        .union([z.boolean(), z.literal('only')])
        .default(true)
        .describe(
          'At the end, also evaluate greedy answers. `only`: evaluate greedy answers alone, at any time.',
        ),
      realFile: z
        .string()
        .nullable()
        .default(null)
        .describe("File in ProntoQA's format for a further test set, evaluated at the end; null: none."),
    })
    .prefault({})
    .describe('What is evaluated.'),
})
export type LogicStart = z.output<typeof logicStartSchema>
