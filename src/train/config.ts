/** @file Settings that every recipe shares: model, policy, rollouts, loss, optimiser, evaluation, checkpoints. One place for defaults. */

import { z } from 'zod'
import { loraModules } from '../model/lora-files.ts'
import { localPolicySchema, pipelinedPolicySchema, policySchema } from '../policy/open.ts'
import type { LossSpec } from '../rl/loss.ts'
import { resolveLoss } from '../rl/loss-presets.ts'
import { scheduleSchema } from '../rl/schedules.ts'
import { trackersSchema } from '../runs/trackers/config.ts'
import { ConfigError } from '../util/errors.ts'
import { amount, fraction, natural, positive, whole } from '../util/setting-shapes.ts'
import { monitorsSchema } from './monitors/config.ts'

/** A setting that is on or off. */
export const flag = (usual: boolean, about: string) => z.boolean().default(usual).describe(about)

/** A setting that is one of some names. */
export const choice = <const Names extends readonly [string, ...string[]]>(
  names: Names,
  usual: Names[number],
  about: string,
) =>
  z
    .enum(names)
    .default(usual as never)
    .describe(about)

/** A setting that is null where nobody says otherwise. */
export const orNull = <Setting extends z.ZodType>(setting: Setting, about: string) =>
  setting
    .nullable()
    .default(null as never)
    .describe(about)

/** A setting that may be left out. */
export const orAbsent = <Setting extends z.ZodType>(setting: Setting, about: string) =>
  setting.optional().describe(about)

/** Settings that belong together, each with its default unless `usual` says another one. */
export const section = <Shape extends z.ZodRawShape>(
  about: string,
  shape: Shape,
  usual: z.input<z.ZodObject<Shape, z.core.$strict>> = {} as never,
) =>
  z
    .strictObject(shape)
    .prefault(usual as never)
    .describe(about)

/** Most rows of a step: what it holds is made at once, and more than that is a slip of the hand. */
const MOST_ROWS = 2 ** 16
/** Most rollouts of a step, all samples of all prompts. */
const MOST_ROLLOUTS = 2 ** 20

/** Demonstrations that a step learns from. */
export const batchSize = (usual: number) => natural.max(MOST_ROWS).default(usual)
/** Problems of a test; where they are made as they are asked for, all are made at once. */
export const testProblemCount = natural.max(1_000_000)
export const madeProblemCount = natural.max(20_000)
/** Samples of each problem of a test. */
export const testSampleCount = natural.max(MOST_ROWS)

/** Shape of a freshly initialised miniature model. */
export const modelShapeSchema = z.strictObject({
  hiddenSize: natural.default(128).describe('Width of the model.'),
  layers: natural.max(1024).default(4).describe('Number of layers.'),
  heads: natural.default(4).describe('Attention heads in a layer.'),
  intermediateSize: orNull(
    natural,
    'Width of the SwiGLU branch; null: 8/3 of the hidden size, rounded to 16.',
  ),
  maxPositions: natural.default(256).describe('Most tokens of prompt and response together.'),
  tieEmbeddings: flag(false, 'The output layer shares the weights of the embedding.'),
  initializerRange: positive
    .default(0.08)
    .describe('Standard deviation of fresh weight matrices. For small models use about 1/sqrt(hiddenSize).'),
  embeddingStd: positive
    .default(1)
    .describe('Standard deviation of fresh embeddings. For small models use about 1.'),
})
export type ModelShape = z.output<typeof modelShapeSchema>

/** An adapter in place of all weights. */
export const loraSchema = z.strictObject({
  rank: natural.default(32).describe('Rank of the adapter.'),
  alpha: positive.default(64).describe('Scale of the adapter: its output is multiplied by alpha / rank.'),
  targetModules: z
    .array(z.enum(loraModules))
    .min(1)
    .default([...loraModules])
    .describe('Weight matrices that get an adapter.'),
})

export const modelSchema = z.strictObject({
  folder: orNull(
    z.string(),
    'The model to start from: a checkpoint folder, a `.gguf` file, `package:models/NAME`, or a name on the Hugging Face Hub (`OWNER/NAME[@REVISION]` or `OWNER/NAME/FILE.gguf`), which is fetched once. Put `hf://` before a name that is also a local folder. null: fresh weights of `shape`.',
  ),
  shape: modelShapeSchema.prefault({}).describe('Shape of a model with fresh weights.'),
  lora: orNull(loraSchema, 'Train an adapter instead of all weights; null: all weights.'),
})

/** How responses are sampled. */
export const samplingShape = {
  temperature: positive.default(1).describe('Sampling temperature. 1: the distribution of the model.'),
  topK: whole.default(0).describe('Sample only from this many most likely tokens; 0: all.'),
  topP: fraction
    .default(1)
    .describe('Sample only from the most likely tokens whose probabilities add up to this; 1: all.'),
}

/** Steps that are sampled ahead of the one that is learnt from: `true` and 1 are the same. */
const pipelineSchema = z.union([z.boolean(), z.literal([1, 2])])

export const rolloutSchema = z
  .strictObject({
    prompts: natural.max(MOST_ROWS).default(32).describe('Problems in a step.'),
    samples: natural.max(MOST_ROWS).default(8).describe('Samples of each problem, G.'),
    ...samplingShape,
    maxTokens: natural.default(96).describe('Most tokens of a response.'),
  })
  .refine(
    ({ prompts, samples }) => Math.max(prompts, samples) > MOST_ROWS || prompts * samples <= MOST_ROLLOUTS,
    `at most ${MOST_ROLLOUTS.toLocaleString('en')} rollouts a step, prompts x samples; lower one of the two`,
  )

/** Of a running mean: 1 would never move, and dividing by its bias makes weights of no number. */
const decay = z.number().min(0).lt(1)

export const optimizerSchema = z.strictObject({
  learningRate: scheduleSchema
    .prefault({ peak: 3e-4, kind: 'linear' })
    .describe('Learning rate over the steps.'),
  beta1: decay.default(0.9).describe('Decay of the running mean of gradients.'),
  beta2: decay.default(0.95).describe('Decay of the running mean of squared gradients.'),
  epsilon: positive.default(1e-8).describe('Added to the divisor, against division by zero.'),
  weightDecay: amount
    .default(0)
    .describe('Decoupled weight decay: a step shrinks weights by this times the learning rate.'),
  maxGradNorm: amount
    .default(1)
    .describe('Largest norm of the gradient; a longer one is scaled down to it. 0: no limit.'),
})

/** Steps of learning from demonstrations: without one there is no model to leave. */
export const supervisedSteps = (usual: number) => natural.default(usual)

/** AdamW for fresh weights on demonstrations; the schedule is the recipe's own. */
export const supervisedOptimizerSchema = (learningRate: z.input<typeof scheduleSchema>) =>
  z
    .strictObject({
      ...optimizerSchema.shape,
      learningRate: scheduleSchema.prefault(learningRate).describe('Learning rate over the steps.'),
      beta2: optimizerSchema.shape.beta2
        .unwrap()
        .default(0.98)
        .describe('Decay of the running mean of squared gradients.'),
      weightDecay: optimizerSchema.shape.weightDecay
        .unwrap()
        .default(0.05)
        .describe('Decoupled weight decay: a step shrinks weights by this times the learning rate.'),
    })
    .prefault({})

/** Settings of one of several kinds, distinguished by their key `kind`. */
export const kindSchema = <Kind extends string, Shape extends z.ZodRawShape>(
  kind: Kind,
  about: string,
  shape: Shape,
) => z.strictObject({ kind: z.literal(kind).describe(about), ...shape })

/** What a recipe's file says it is for. */
export const recipeSetting = <Name extends string>(name: Name) =>
  z
    .literal(name)
    .default(name as never)
    .describe('Name of the recipe; needed only in files.')

/** The rollouts of a step, and what they are where nobody says. */
export const rolloutSetting = (usual: z.input<typeof rolloutSchema>) =>
  rolloutSchema.prefault(usual).describe('What is sampled in a step, and how.')

/** A preset's name, a preset with changes, or a whole specification; becomes a whole specification. */
export const lossSettingSchema = z.unknown().transform((value, context) => {
  try {
    return resolveLoss(value)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    context.addIssue({ code: 'custom', message: `a loss; ${error.message}` })
    return z.NEVER
  }
})

/** The loss of a method, and what it is where nobody says. */
export const lossSetting = (usual: unknown, schema: z.ZodType<LossSpec> = lossSettingSchema) =>
  schema
    .prefault(usual)
    .describe(
      'The loss: the name of a preset (`gradus:ruscarl`, `trl:dapo`, `verl:gspo`), a preset with changes `{preset, kl, ...}`, or all of it.',
    )

export const advantageSchema = z.strictObject({
  scale: choice(
    ['group', 'batch', 'none'],
    'group',
    "What centred rewards are divided by: the group's standard deviation (`group`), the batch's (`batch`), or nothing (`none`, Dr. GRPO).",
  ),
  ddof: z
    .union([z.literal(0), z.literal(1)])
    .default(0)
    .describe('Delta degrees of freedom of the standard deviation: 0 population, 1 sample.'),
  epsilon: amount.default(1e-6).describe('Added to the divisor, against division by zero.'),
})

/** Keys of a recipe's configuration that every recipe has. */
export const commonShape = {
  seed: z
    .union([z.int(), z.string()])
    .default(1)
    .describe('Seed of everything random: the same seed gives the same numbers.'),
  out: orNull(z.string(), 'Folder of the run; `runs/<recipe>-<preset>-seed<seed>` when null.'),
  steps: whole.default(100).describe('Number of training steps.'),
  maxMinutes: positive
    .nullable()
    .default(null)
    .describe('Stop after this many minutes of training; null: no limit.'),
  model: modelSchema.prefault({}).describe('The model to start from.'),
  policy: localPolicySchema.prefault({}).describe('Where and how the model is sampled and trained.'),
  optimizer: optimizerSchema.prefault({}).describe('AdamW and its learning rate.'),
  checkpoint: section('When checkpoints are saved.', {
    every: whole
      .default(50)
      .describe('Steps between checkpoints, besides the one at the end; 0: only this one.'),
    keepLast: natural.default(2).describe('Number of newest checkpoints that are kept.'),
  }),
  monitors: monitorsSchema
    .nullable()
    .prefault({})
    .describe('What is watched for during training; null: nothing.'),
  trackers: trackersSchema,
}

/** Keys of every recipe that learns from rewards. */
export const reinforcementShape = {
  ...commonShape,
  policy: policySchema.prefault({}).describe('Where and how the model is sampled and trained.'),
  advantage: advantageSchema.prefault({}).describe('How rewards become advantages.'),
  rollout: rolloutSetting({}),
  dropZero: flag(
    true,
    'Leave rollouts with advantage zero out of the update, and so out of its KL and entropy terms and its mean over tokens. Published code keeps them; without them a step is cheaper.',
  ),
  minibatches: natural.default(1).describe('Optimiser steps in a pass over the rollouts.'),
  epochs: natural.default(1).describe('Passes over the rollouts of a step.'),
}

/** The same where steps can be sampled ahead, and a model is there to begin with. */
export const pipelinedShape = {
  ...reinforcementShape,
  policy: pipelinedPolicySchema.prefault({}).describe('Where and how the model is sampled and trained.'),
  model: modelSchema.omit({ shape: true }).prefault({}).describe('The model to start from.'),
  pipeline: pipelineSchema
    .default(false)
    .describe(
      'Sample ahead while earlier steps are graded and learnt from: not at all, by one step (true; off-policy by one), or by 2 steps.',
    ),
}
