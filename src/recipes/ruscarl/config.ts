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
import { lessonMemorySchema } from '../common/lessons-config.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { scaffoldRatio, scaffoldShape } from '../common/scaffold.ts'
import { trainingJudgeSchema } from '../options/held-out-judge.ts'
import { rewardOptionsShape, spoiltRewardsShape } from '../options/options.ts'
import { coldStartSetting, packingPhaseSchema } from '../sft/config.ts'

/** Supervised learning on what a teacher writes when it is shown the whole rubric (arms SFT, SFT + RL, SFT + RuscaRL). */
const sftSchema = z.strictObject({
  teacher: orNull(
    z.string(),
    'Checkpoint that writes the demonstrations, with the same tokenizer; null: the starting policy itself.',
  ),
  problems: natural.default(512).describe('Training problems that it writes about, and how often.'),
  samples: natural.default(4).describe('Samples of each problem.'),
  ...samplingShape,
  best: natural
    .default(1)
    .describe(
      'Kept: the best so many a problem, of those that ended by themselves and score at least so much.',
    ),
  minScore: z.number().default(0.5).describe('Least score of a demonstration.'),
  steps: z.int().min(1).default(100).describe('Optimiser steps.'),
  batch: natural.default(32).describe('Demonstrations a step.'),
  optimizer: optimizerSchema.prefault({}).describe('AdamW and its learning rate.'),
})

export type SftPhaseConfig = z.output<typeof sftSchema>

/** The miniature. */
const packingSchema = kindSchema('packing', {
  ...MINIATURES.packing.settings.shape,
  carelessJudge: orAbsent(
    z.literal(true),
    'Training goes by a judge that can be gamed: it takes one unusual thing for another and overlooks what is too much.',
  ),
})

/** Rows of a file, each a conversation and a rubric, answered by a chat model. */
const conversationsSchema = kindSchema('conversations', conversationsShape)

/** Of settings outside of `task`; the packing refuses them. */
const ON_ROWS = { only: 'task.kind: conversations' }

const scaffoldSchema = z.strictObject({
  ...scaffoldShape,
  showPoints: flag(true, 'Say what each criterion is worth.').meta(ON_ROWS),
  forbidMention: flag(true, 'Ask the model not to speak of the criteria.').meta(ON_ROWS),
  place: choice(
    ['system', 'user'],
    'system',
    '`system`: criteria stand in a system message, as in the paper; `user`: after the last request, for models that do not heed a system message, as many small ones.',
  ).meta(ON_ROWS),
  whenEmpty: orNull(
    z.string(),
    'System message of prompts that show nothing and have none, in training and evaluation; null for none.',
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
    z.strictObject({ rounds: natural.default(3).describe('Further draws at most.') }),
    'Replace groups of equal rewards by groups of further problems, at most so often a step (DAPO).',
  ),
  curriculum: orNull(
    z.strictObject({ samples: natural.default(1).describe('Samples of each problem.') }),
    "Problems from easy to hard by the starting policy's own scores, the same order in every pass; null: shuffled.",
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
    .describe('What is trained on.'),
  judge: orNull(trainingJudgeSchema, 'Who judges criteria that no rule checks.').meta(ON_ROWS),
  rules: orAbsent(
    ruleSettingsSchema,
    'What the rules of a rubric may take on one response; absent: as the schema has it.',
  ),
  coldStart: coldStartSetting(packingPhaseSchema).meta({ only: 'task.kind: packing' }),
  sft: orNull(sftSchema, "Then supervised learning on scaffolded demonstrations, in the run's folder `sft`."),
  scaffold: scaffoldSchema.prefault({}).describe('What of a rubric is shown in the prompt while exploring.'),
  memory: lessonMemorySchema.describe(
    'Lessons of earlier attempts as a scaffold, in place of the rubric or beside it.',
  ),
  ratio: scaffoldRatio,
  exploration: explorationSchema.prefault({}).describe('Further ways to explore.'),
  ...spoiltRewardsShape,
  ...rewardOptionsShape,
  loss: lossSetting('gradus:ruscarl'),
  rollout: rolloutSetting({ prompts: 64, samples: 8, maxTokens: 26 }),
  minibatches: reinforcementShape.minibatches.unwrap().default(2).describe('Optimiser steps a pass.'),
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
