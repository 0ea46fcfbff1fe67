/** @file Configuration of the distill recipe. */

import { z } from 'zod'
import { conversationsShape } from '../../tasks/conversation/settings.ts'
import { choice, kindSchema, lossSetting, orNull, recipeSetting, rolloutSetting } from '../../train/config.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { rewardOptionsShape, spoiltRewardsShape } from '../options/options.ts'
import { type RuscarlConfig, ruscarlSchema, settingsSchema, withJudgedRows } from '../ruscarl/config.ts'

/** All keys of a shape, to be omitted. */
const allOf = <Shape extends z.ZodRawShape>(shape: Shape) =>
  Object.fromEntries(Object.keys(shape).map(key => [key, true])) as { [Key in keyof Shape]: true }

const {
  recipe: _recipe,
  task: _task,
  scaffold,
  judge,
  rollout: _rollout,
  loss: _loss,
  ...settings
} = settingsSchema.omit({
  ...{ coldStart: true, sft: true, memory: true, ratio: true, exploration: true },
  ...{ ...allOf(spoiltRewardsShape), ...allOf(rewardOptionsShape) },
}).shape

const { operations, pool } = MINIATURES.arithmetic.settings.shape

/** Tasks whose prompts can show what a good response holds. */
const taskSchema = z
  .discriminatedUnion('kind', [
    kindSchema(
      'packing',
      'Packing lists for generated trips, with scores from 0 to 1.',
      MINIATURES.packing.settings.shape,
    ),
    kindSchema(
      'packing-thinking',
      'The same, with thinking before the list.',
      MINIATURES['packing-thinking'].settings.shape,
    ),
    kindSchema('arithmetic', 'Generated chains of operations, with right and wrong answers.', {
      operations,
      pool,
    }),
    kindSchema(
      'conversations',
      'Rows of files, each a conversation with a rubric, answered by a chat model.',
      conversationsShape,
    ),
  ])
  .prefault({ kind: 'packing' })

const distillSettings = z.strictObject({
  recipe: recipeSetting('distill'),
  ...settings,
  task: taskSchema.describe('The task to train on. Its prompts can show its rubric.'),
  judge: judge.describe(
    'The judge of criteria that no rule checks: in evaluations, and in training if `rewards` is set.',
  ),
  teacher: choice(
    ['start', 'policy'],
    'start',
    'Which model is shown the rubric and teaches. `start`: the one that the run starts from; `policy`: the policy of each step, which takes no further memory but may forget to follow a rubric.',
  ),
  baseline: choice(
    ['batch', 'none'],
    'batch',
    "What is subtracted from the tokens' advantages. `batch`: their mean over the step, which lowers the variance and changes no expectation; `none`: nothing.",
  ),
  rewards: orNull(
    z.strictObject({
      after: z.int().min(1).describe('Steps of distillation before the rewards.'),
    }),
    'Rubric rewards (GRPO on the plain prompt) after some steps of distillation; null: distillation alone.',
  ),
  scaffold: scaffold
    .unwrap()
    .omit({ group: true, decay: true })
    .prefault({})
    .describe('How the rubric is shown to the teacher.'),
  noise: spoiltRewardsShape.noise,
  loss: lossSetting('trl:dapo'),
  rollout: rolloutSetting({ prompts: 32, samples: 1, maxTokens: 128 }),
})

export const distillSchema = z.preprocess(withJudgedRows, distillSettings)

export type DistillConfig = z.output<typeof distillSchema>

/** The same as RuscaRL sees it, which checks, opens and evaluates its tasks: the whole rubric is shown to one reader of every sample. */
export const ruscarlFrame = ({
  recipe: _,
  task,
  teacher: _teacher,
  baseline: _baseline,
  rewards: _rewards,
  scaffold: shown,
  ...config
}: DistillConfig): RuscarlConfig =>
  ruscarlSchema.parse({
    ...config,
    recipe: 'ruscarl',
    task: task.kind === 'conversations' || task.kind === 'packing' ? task : { kind: 'packing' },
    scaffold: { ...shown, group: { kind: 'all' }, decay: { kind: 'constant' } },
  })
