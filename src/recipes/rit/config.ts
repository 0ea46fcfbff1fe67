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
import { lessonMemorySchema } from '../common/lessons-config.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { scaffoldRatio, scaffoldShape } from '../common/scaffold.ts'
import { criteriaOptionsShape } from '../options/options.ts'
import { coldStartSetting, thoughtPhaseSchema } from '../sft/config.ts'

/** Lists with a score between 0 and 1. */
const packingSchema = kindSchema('packing', MINIATURES['packing-thinking'].settings.shape)

/** Answers that are right or wrong. */
const arithmeticSchema = kindSchema('arithmetic', {
  operations: MINIATURES.arithmetic.settings.shape.operations,
  pool: natural.default(4096).describe('Questions to train on, which recur.'),
})

/** Rows of a file, answered by a chat model. */
const questionsSchema = kindSchema('questions', {
  ...questionTaskShape,
  thinkTags: questionTaskShape.thinkTags
    .unwrap()
    .default('required')
    .describe('Without `</think>` there is no answer.'),
  openReward: choice(
    ['criteria', 'score'],
    'criteria',
    'What training pays for open answers: the share of criteria met (Eq. 5), or as evaluation does.',
  ),
})

/** Where thinking rubrics come from, from nothing to the best that can be known (RIT-4). */
const RUBRIC_SOURCES = ['none', 'random', 'initial', 'refined', 'oracle', 'file'] as const

const rubricSchema = z.strictObject({
  source: choice(
    RUBRIC_SOURCES,
    'oracle',
    "- `oracle`: how the task is really won, written by whoever made it - `initial`: what separates a few good traces of the start from a few poor ones - `refined`: from more traces, then rounds that drop what repeats or wavers and add what is missing - `random`: criteria drawn at random - `none`: no criteria (K = 0), the response's reward alone - `file`: the rubric of `file`; of several each is for the question whose id it has, or whose words are its prompt",
  ),
  file: orNull(z.string(), 'The rubric, or rubrics, of `source: file`.'),
  criteria: natural.default(7).describe('Criteria of `random`; most of `initial` and `refined`.'),
  traces: section('Good traces, and as many poor ones, that `initial` and `refined` see.', {
    initial: natural.default(3).describe('Traces that a first rubric is written from.'),
    refined: natural.default(64).describe('Traces that it is refined with.'),
  }),
  problems: madeProblemCount
    .default(128)
    .describe('Training problems whose responses by the start are looked through for them.'),
  rounds: natural.default(3).describe('Rounds of refinement.'),
})

const fusionSchema = z.strictObject({
  alpha: fraction
    .default(0.5)
    .describe(
      'Weight of thinking (RiT: 0.5 where responses are open, 1 where they are right or wrong); a start, where it adapts.',
    ),
  gate: choice(GATES, 'min', 'When the thinking counts.'),
  nulls: choice(
    ['drop', 'as-false'],
    'drop',
    'A criterion of thinking without a verdict is left out, or counts as unmet.',
  ),
  adaptive: orNull(
    adaptiveWeightSchema,
    "The weight follows how far thinking goes with the response within groups (the paper's future work); null: it stays.",
  ),
})

const scaffoldSchema = z.strictObject(scaffoldShape)

const evaluationSchema = z.strictObject({
  ...sampledEvaluationShape,
  samples: testSampleCount
    .default(8)
    .describe('Samples of each problem at the start and the end: pass@8 and max@8 need 8.'),
  samplesBetween: testSampleCount.default(1).describe('Samples of each problem in the tests in between.'),
})

export const ritSchema = z.strictObject({
  recipe: recipeSetting('rit'),
  ...pipelinedShape,
  task: z
    .discriminatedUnion('kind', [packingSchema, arithmeticSchema, questionsSchema])
    .prefault({ kind: 'packing' })
    .describe('What is trained on.'),
  coldStart: coldStartSetting(thoughtPhaseSchema).meta({ only: 'task.kind: packing' }),
  rubric: rubricSchema.prefault({}).describe('The rubric for the thinking.'),
  judge: orNull(
    thinkingJudgeSchema,
    "A language model that judges thinking, and open answers; null: the task's own, which executes criteria; with questions rules alone, those of `rubric.file` and of the rows.",
  ),
  ...criteriaOptionsShape,
  reward: choice(
    ['fused', 'response', 'thinking'],
    'fused',
    'What is paid: both fused; the response alone (ORM); thinking alone (w/o RR), without a gate.',
  ),
  thinkingBy: choice(
    ['rubric', 'steps', 'group'],
    'rubric',
    'Thinking is judged by the rubric, step by step as a process reward model does (the arm PRM), or, by the rubric, all thinking about a problem in one call of `judge`, relative to each other.',
  ),
  group: orAbsent(
    groupSettingsSchema,
    'How a group is put to the judge, with `thinkingBy: group`; absent: as the schema has it.',
  ),
  fusion: fusionSchema
    .prefault({})
    .describe('How the reward of the thinking and that of the answer become one.'),
  control: orAbsent(
    z.enum(['random', 'shuffled', 'flipped']),
    'A negative control: thinking is scored at random, as another response of its group, or inverted. Absent: as it is.',
  ),
  normalise: choice(
    ['reward', 'part'],
    'reward',
    '`part`: thinking and response are normalised apart before they are mixed; `reward`: the fused reward is.',
  ),
  critic: orNull(criticSchema, 'PPO with a value head in place of comparing a group; null: GRPO.'),
  scaffold: orNull(
    scaffoldSchema,
    "Part of the response's rubric in the prompt while exploring, as RuscaRL does (packing), or of lessons; null: none.",
  ),
  memory: lessonMemorySchema.describe(
    'Lessons of earlier attempts as hints, by the schedule of `scaffold`: in place of the rubric or beside it (packing).',
  ),
  ratio: scaffoldRatio,
  loss: lossSetting({ preset: 'verl:grpo', kl: { kind: 'none', coef: 0 } }, lossBesideCritic),
  rollout: rolloutSetting({ prompts: 32, samples: 8, maxTokens: 56 }),
  evaluation: evaluationSchema.prefault({}).describe('When and how the model is tested.'),
})

export type RitConfig = z.output<typeof ritSchema>
