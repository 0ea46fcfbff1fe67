/** @file Configuration of the rit recipe; defaults are the paper's where it gives them, the miniature's sizes elsewhere. */

import { z } from 'zod'
import { groupSettingsSchema } from '../../grade/group/index.ts'
import { thinkingJudgeSchema } from '../../grade/thinking/index.ts'
import { adaptiveWeightSchema } from '../../rl/adaptive-weight.ts'
import { GATES } from '../../rl/fusion.ts'
import { questionTaskShape } from '../../tasks/questions/index.ts'
import {
  choice,
  kindSchema,
  lossSetting,
  madeProblemCount,
  orAbsent,
  orNull,
  pipelinedShape,
  recipeSetting,
  rolloutSetting,
  section,
  testSampleCount,
} from '../../train/config.ts'
import { fraction, natural } from '../../util/setting-shapes.ts'
import { criticSchema, lossBesideCritic } from '../common/critic.ts'
import { sampledEvaluationShape } from '../common/evaluation-config.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { scaffoldRatio, scaffoldShape } from '../common/scaffold.ts'
import { lessonMemorySchema } from '../options/memory.ts'
import { knownCriteriaShape } from '../options/options.ts'
import { coldStartSetting, thoughtPhaseSchema } from '../sft/config.ts'

const packingSchema = kindSchema(
  'packing',
  'Packing lists for generated trips, with scores from 0 to 1.',
  MINIATURES['packing-thinking'].settings.shape,
)

const arithmeticSchema = kindSchema(
  'arithmetic',
  'Generated chains of operations, with right and wrong answers.',
  {
    operations: MINIATURES.arithmetic.settings.shape.operations,
    pool: natural.default(4096).describe('Number of training questions, which recur.'),
  },
)

const questionsSchema = kindSchema(
  'questions',
  'Questions of files, answered by a chat model with thinking.',
  {
    ...questionTaskShape,
    thinkTags: questionTaskShape.thinkTags
      .unwrap()
      .default('required')
      .describe(
        '`required`: a response without `</think>` has no answer (RiT). `optional`: it is thinking and answer in one, and counts unless it was cut off (RLCER).',
      ),
    openReward: choice(
      ['criteria', 'score'],
      'criteria',
      'Reward of open answers in training: the share of criteria met (Eq. 5), or the score that evaluations report.',
    ),
  },
)

/** Where thinking rubrics come from, from nothing to the best that can be known (RIT-4). */
const RUBRIC_SOURCES = ['none', 'random', 'initial', 'refined', 'oracle', 'file'] as const

const rubricSchema = z.strictObject({
  source: choice(
    RUBRIC_SOURCES,
    'oracle',
    "Where the rubric comes from. `oracle`: from the task's author, who knows how it is solved. `initial`: from what separates a few good traces of the starting policy from poor ones. `refined`: from more traces, in rounds that drop repeated or unstable criteria and add missing ones. `random`: criteria drawn at random. `none`: no criteria (K = 0), so that only the response is rewarded. `file`: from `file`.",
  ),
  file: orNull(
    z.string(),
    'Rubric file of `source: file`. Of several rubrics each is used for the question whose id it has, or whose words are its prompt.',
  ),
  criteria: natural
    .default(7)
    .describe('Number of criteria of `random`; most criteria of `initial` and `refined`.'),
  traces: section('Number of good traces, and of as many poor ones.', {
    initial: natural.default(3).describe('Good traces that `initial` is written from.'),
    refined: natural.default(64).describe('Good traces that `refined` is written from.'),
  }),
  problems: madeProblemCount
    .default(128)
    .describe('Number of training problems that the starting policy answers for these traces.'),
  rounds: natural.default(3).describe('Rounds of refinement of `refined`.'),
})

const fusionSchema = z.strictObject({
  alpha: fraction
    .default(0.5)
    .describe(
      'Weight of thinking (RiT: 0.5 for open responses, 1 for right or wrong ones). With `adaptive` its starting value.',
    ),
  gate: choice(
    GATES,
    'min',
    "What limits the fused reward. `none`: nothing; `max`: it is at least the response's reward; `min`: at most that (RiT); `conditional`: it counts only if the response has its full reward.",
  ),
  nulls: choice(
    ['drop', 'as-false'],
    'drop',
    'How a criterion of thinking without a verdict counts: not at all (`drop`), or as unmet (`as-false`).',
  ),
  adaptive: orNull(
    adaptiveWeightSchema,
    'Let the weight follow the correlation of thinking and response within groups (future work in the paper); null: it stays.',
  ),
})

const scaffoldSchema = z.strictObject(scaffoldShape)

const evaluationSchema = z.strictObject({
  ...sampledEvaluationShape,
  samples: testSampleCount
    .default(8)
    .describe('Samples of each problem at the start and the end; pass@8 and max@8 need 8.'),
  samplesBetween: testSampleCount
    .default(1)
    .describe('Samples of each problem in evaluations between start and end.'),
})

export const ritSchema = z.strictObject({
  recipe: recipeSetting('rit'),
  ...pipelinedShape,
  task: z
    .discriminatedUnion('kind', [packingSchema, arithmeticSchema, questionsSchema])
    .prefault({ kind: 'packing' })
    .describe('The task to train on.'),
  coldStart: coldStartSetting(thoughtPhaseSchema).meta({ only: 'task.kind: packing' }),
  rubric: rubricSchema.prefault({}).describe('The rubric for the thinking.'),
  judge: orNull(
    thinkingJudgeSchema,
    'A language model that judges thinking and open answers. null: the task executes criteria; for questions, only the rules of `rubric.file` and of the rows count.',
  ),
  ...knownCriteriaShape,
  reward: choice(
    ['fused', 'response', 'thinking'],
    'fused',
    'What is rewarded: thinking and response (`fused`), the response alone (`response`, ORM), or thinking alone without a gate (`thinking`, w/o RR).',
  ),
  thinkingBy: choice(
    ['rubric', 'steps', 'group'],
    'rubric',
    'How thinking is judged. `rubric`: as a whole, by the rubric; `steps`: step by step, as by a process reward model (arm PRM); `group`: by the rubric, all thinking about a problem together in one call of `judge`.',
  ),
  group: orAbsent(
    groupSettingsSchema,
    'How a group is put to the judge, with `thinkingBy: group`; absent: the defaults of these keys.',
  ),
  fusion: fusionSchema.prefault({}).describe('How the rewards of thinking and answer become one.'),
  control: orAbsent(
    z.enum(['random', 'shuffled', 'flipped']),
    'Negative control: thinking is scored at random (`random`), as another response of its group (`shuffled`), or inverted (`flipped`). Absent: none.',
  ),
  normalise: choice(
    ['reward', 'part'],
    'reward',
    'What is normalised within a group: the fused reward (`reward`), or thinking and response separately before they are fused (`part`).',
  ),
  critic: orNull(
    criticSchema,
    'PPO with a critic, in place of comparing the rollouts of a group; null: GRPO.',
  ),
  scaffold: orNull(
    scaffoldSchema,
    "Show a part of the response's rubric (packing) or of lessons in the prompt while sampling, as RuscaRL does; null: none.",
  ),
  memory: lessonMemorySchema.describe(
    'Lessons of earlier attempts, shown as hints by the schedule of `scaffold`: in place of the rubric, or beside it (packing).',
  ),
  ratio: scaffoldRatio,
  loss: lossSetting({ preset: 'verl:grpo', kl: { kind: 'none', coef: 0 } }, lossBesideCritic),
  rollout: rolloutSetting({ prompts: 32, samples: 8, maxTokens: 56 }),
  evaluation: evaluationSchema.prefault({}).describe('When and how the model is tested.'),
})

export type RitConfig = z.output<typeof ritSchema>
