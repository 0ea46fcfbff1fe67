/** @file Configuration of the ruscarl recipe; defaults are those of the paper where it gives them, of its code where it does not. */

import { z } from 'zod'
import { ruleSettingsSchema } from '../../grade/rules/settings.ts'
import { JUDGED_ROWS } from '../../policy/open.ts'
import { conversationsShape } from '../../tasks/conversation/settings.ts'
import {
  choice,
  flag,
  kindSchema,
  lossSetting,
  optimizerSchema,
  orAbsent,
  orNull,
  pipelinedShape,
  recipeSetting,
  reinforcementShape,
  rolloutSetting,
  samplingShape,
} from '../../train/config.ts'
import { isRecord } from '../../util/own-value.ts'
import { amount, natural, positive } from '../../util/setting-shapes.ts'
import { sampledEvaluationShape } from '../common/evaluation-config.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { scaffoldRatio, scaffoldShape } from '../common/scaffold.ts'
import { heldOutJudge } from '../options/held-out-judge.ts'
import { lessonMemorySchema } from '../options/memory.ts'
import { rewardOptionsShape, spoiltRewardsShape } from '../options/options.ts'
import { coldStartSetting, packingPhaseSchema } from '../sft/config.ts'

/** Supervised learning on what a teacher writes when it is shown the whole rubric (arms SFT, SFT + RL, SFT + RuscaRL). */
const sftSchema = z.strictObject({
  teacher: orNull(
    z.string(),
    'Checkpoint that writes the demonstrations, with the same tokenizer; null: the starting policy itself.',
  ),
  problems: natural.default(512).describe('Number of training problems that the teacher answers.'),
  samples: natural.default(4).describe('Samples of each problem.'),
  ...samplingShape,
  best: natural
    .default(1)
    .describe(
      'Best responses kept for each problem. A kept response must end by itself, score at least `minScore` and not quote the scaffold.',
    ),
  minScore: z.number().default(0.5).describe('Least score of a kept response.'),
  steps: z.int().min(1).default(100).describe('Number of optimiser steps.'),
  batch: natural.default(32).describe('Demonstrations in a step.'),
  optimizer: optimizerSchema.prefault({}).describe('AdamW and its learning rate.'),
})

export type SftPhaseConfig = z.output<typeof sftSchema>

const packingSchema = kindSchema('packing', 'Packing lists for generated trips, with scores from 0 to 1.', {
  ...MINIATURES.packing.settings.shape,
  carelessJudge: orAbsent(
    z.literal(true),
    'Train with a judge that can be gamed: it takes one unusual thing for another and overlooks what is too much.',
  ),
})

const conversationsSchema = kindSchema(
  'conversations',
  'Rows of files, each a conversation with a rubric, answered by a chat model.',
  conversationsShape,
)

/** Of settings outside of `task`; the packing refuses them. */
const ON_ROWS = { only: 'task.kind: conversations' }

const scaffoldSchema = z.strictObject({
  ...scaffoldShape,
  showPoints: flag(true, 'Show the points of each criterion.').meta(ON_ROWS),
  forbidMention: flag(true, 'Ask the model not to mention the criteria.').meta(ON_ROWS),
  place: choice(
    ['system', 'user'],
    'system',
    'Where criteria are shown: in a system message (`system`, as in the paper), or after the last request (`user`, for models that ignore system messages, as many small ones do).',
  ).meta(ON_ROWS),
  whenEmpty: orNull(
    z.string(),
    'System message of prompts that show no criteria and have none of their own, in training and evaluation; null: none.',
  ).meta(ON_ROWS),
})

const evaluationSchema = z.strictObject({
  ...sampledEvaluationShape,
  scaffolded: flag(true, 'Also evaluate with the whole rubric in the prompt.'),
})

/** Other ways to explore, as baselines. Clip-higher is the loss's, a higher temperature the rollout's setting. */
const explorationSchema = z.strictObject({
  entropyBonus: orNull(
    z.strictObject({
      kappa1: amount.default(0.4).describe('Weight of the entropy.'),
      kappa2: positive.default(2).describe('The bonus is at most |A| / kappa2.'),
    }),
    'Raise the advantage of tokens that the policy was unsure of: A + min(kappa1 H, |A| / kappa2).',
  ),
  dynamicSampling: orNull(
    z.strictObject({ rounds: natural.default(3).describe('Most further draws in a step.') }),
    'Replace groups of equal rewards by groups of further problems (DAPO); null: keep them.',
  ),
  curriculum: orNull(
    z.strictObject({ samples: natural.default(1).describe('Samples of each problem.') }),
    "Order problems from easy to hard by the starting policy's own scores, the same in every pass; null: shuffled.",
  ),
})

/** A judge has work early where few rollouts are decoded together; what is sampled ahead hides it anyway, and likes many. */
export const withJudgedRows = (raw: unknown): unknown => {
  if (!isRecord(raw) || !isRecord(raw.judge) || (raw.pipeline ?? false) !== false) return raw
  const { policy = {} } = raw
  return isRecord(policy) && policy.kind !== 'tinker' && policy.maxRows === undefined
    ? { ...raw, policy: { ...policy, maxRows: JUDGED_ROWS } }
    : raw
}

/** All settings, before those of the judge change the policy's. */
export const settingsSchema = z.strictObject({
  recipe: recipeSetting('ruscarl'),
  ...pipelinedShape,
  task: z
    .discriminatedUnion('kind', [packingSchema, conversationsSchema])
    .prefault({ kind: 'packing' })
    .describe('The task to train on.'),
  judge: heldOutJudge.shape.judge.meta(ON_ROWS),
  rules: orAbsent(
    ruleSettingsSchema,
    'Limits of the rules of a rubric on one response; absent: the defaults of these keys.',
  ),
  coldStart: coldStartSetting(packingPhaseSchema).meta({ only: 'task.kind: packing' }),
  sft: orNull(
    sftSchema,
    "Supervised learning on the teacher's demonstrations before the rewards, in the run's folder `sft`; null: none.",
  ),
  scaffold: scaffoldSchema.prefault({}).describe('How much of the rubric prompts show while sampling.'),
  memory: lessonMemorySchema.describe(
    'Lessons of earlier attempts as a scaffold, in place of the rubric or beside it.',
  ),
  ratio: scaffoldRatio,
  exploration: explorationSchema.prefault({}).describe('Further ways to explore.'),
  ...spoiltRewardsShape,
  ...rewardOptionsShape,
  loss: lossSetting('gradus:ruscarl'),
  rollout: rolloutSetting({ prompts: 64, samples: 8, maxTokens: 26 }),
  minibatches: reinforcementShape.minibatches
    .unwrap()
    .default(2)
    .describe('Optimiser steps in a pass over the rollouts.'),
  evaluation: evaluationSchema.prefault({}).describe('When and how the model is tested.'),
})

export const ruscarlSchema = z.preprocess(withJudgedRows, settingsSchema)

export type RuscarlConfig = z.output<typeof ruscarlSchema>
/** With a task of this kind. */
export type RuscarlOn<Kind extends RuscarlConfig['task']['kind']> = RuscarlConfig & {
  task: Extract<RuscarlConfig['task'], { kind: Kind }>
}

/** Whether any prompt ever shows its rubric. */
export const isScaffolded = ({ scaffold, evaluation }: RuscarlConfig): boolean =>
  scaffold.group.kind !== 'none' || evaluation.scaffolded
