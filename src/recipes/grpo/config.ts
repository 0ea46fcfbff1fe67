/** @file Configuration of the grpo recipe: conversations of one's own, graded by rubrics, learnt by GRPO and nothing else. */

import { z } from 'zod'
import { conversationsShape } from '../../tasks/conversation/settings.ts'
import { recipeSetting, rolloutSetting, section } from '../../train/config.ts'
import { type RuscarlConfig, ruscarlSchema, settingsSchema, withJudgedRows } from '../ruscarl/config.ts'

const {
  recipe: _recipe,
  task: _task,
  rollout: _rollout,
  evaluation,
  ...settings
} = settingsSchema.omit({
  ...{ coldStart: true, sft: true },
  ...{
    scaffold: true,
    memory: true,
    ratio: true,
    exploration: true,
    noise: true,
    reward: true,
    flipRate: true,
  },
}).shape

const grpoSettings = z.strictObject({
  recipe: recipeSetting('grpo'),
  ...settings,
  judge: settings.judge.meta({ only: undefined }),
  task: section('The rows to train on, each a conversation with a rubric.', conversationsShape),
  rollout: rolloutSetting({ prompts: 8, samples: 8, maxTokens: 128 }),
  evaluation: evaluation
    .unwrap()
    .omit({ scaffolded: true })
    .prefault({})
    .describe('When and how the model is tested.'),
})

export const grpoSchema = z.preprocess(withJudgedRows, grpoSettings)

export type GrpoConfig = z.output<typeof grpoSchema>

/** The same as ruscarl without its scaffold: nothing of a rubric is shown, rewards are all that is left of it. */
export const asRuscarl = ({ recipe: _, task, evaluation: tested, ...config }: GrpoConfig): RuscarlConfig =>
  ruscarlSchema.parse({
    ...config,
    recipe: 'ruscarl',
    task: { kind: 'conversations', ...task },
    scaffold: { group: { kind: 'none' } },
    evaluation: { ...tested, scaffolded: false },
  })
