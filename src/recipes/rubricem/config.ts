/** @file Configuration of the rubricem recipe; defaults are those of the paper where it gives them, ours where it is silent. */

import { z } from 'zod'
import { evolvingSchema, stageJudgeOf, stageJudgeShape } from '../../grade/evolving/index.ts'
import { askOf, askSchema } from '../../grade/judge/ask-config.ts'
import { judgeSchema } from '../../grade/judge/judge-config.ts'
import { ACCEPT_THRESHOLD, memorySchema, UTILITIES, WINDOW_STEPS } from '../../memory/index.ts'
import { DEFAULT_LAMBDA, lambdaSchema } from '../../rl/stage-credit.ts'
import { recordsShape } from '../../tasks/records/world.ts'
import { researchTaskSchema } from '../../tasks/research/index.ts'
import {
  advantageSchema,
  choice,
  flag,
  kindSchema,
  lossSetting,
  orNull,
  pipelinedShape,
  recipeSetting,
  rolloutSetting,
  section,
} from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { fraction, natural, positive } from '../../util/setting-shapes.ts'
import { anchorsSetting } from '../common/anchors.ts'
import { sampledEvaluationShape } from '../common/evaluation-config.ts'
import { criteriaOptionsShape } from '../options/options.ts'
import { coldStartSetting, recordsPhaseSchema } from '../sft/config.ts'

const creditSchema = z.strictObject({
  mode: choice(
    ['stages', 'terminal'],
    'stages',
    "`stages`: SS-GRPO. `terminal`: answer-only GRPO, the answer's reward for every token (Baseline-RL).",
  ),
  lambda: lambdaSchema
    .default(DEFAULT_LAMBDA.map(row => [...row]))
    .describe('Weight of the reward of stage j in the return of stage k.'),
  failed: choice(
    ['terminal', 'answer', 'leave-out'],
    'terminal',
    "Rollouts of which only the answer's reward is known: its share of that beside the others' whole returns, the answer's advantage for all stages, or nothing.",
  ),
  missing: choice(
    ['next', 'none'],
    'next',
    'Where the advantage of a stage that is left out falls: on the first token of the next, or on none.',
  ),
})

const reflectionSchema = z.strictObject({
  enabled: flag(true, 'False: no reflections at all.'),
  candidates: natural.default(8).describe('Candidates a question (m).'),
  temperature: positive
    .default(0.7)
    .describe('Of sampling; 1 samples as the model is, 0 takes the likeliest token where that is allowed.'),
  maxTokens: natural.default(40).describe('The default is for records; text needs several hundred.'),
  utility: choice(
    UTILITIES,
    'd62',
    "What makes one number of a judge's scores: the prompt's weights, or Algorithm 1's.",
  ),
  acceptThreshold: z.number().default(ACCEPT_THRESHOLD).describe('Least utility that goes into the bank.'),
  learn: flag(true, 'Learn from reflections at all; false: they fill the bank, by the policy as it is.'),
  deferred: flag(
    true,
    "Learn from a step's reflections in the step after it, while that samples; false: at once.",
  ),
  placebo: flag(false, 'A negative control: lessons that are kept say nothing that is true but by chance.'),
})

const recordsTaskSchema = kindSchema('records', {
  ...recordsShape,
  pool: orNull(natural, 'Questions of training; null: new ones without end.'),
})

const scriptedJudgeSchema = z.strictObject({
  kind: z.literal('scripted').describe('A script, for records.'),
  sound: fraction.default(0.7).describe('Chance that a proposed rubric is a sound one.'),
  discerning: fraction.default(0.7).describe('Chance that it is one on which the rollouts differ.'),
  oracle: flag(
    false,
    "Knows the answer and the archive's field names, in judging stages and reflections; false: what stands in the attempts.",
  ),
  flipRate: fraction.default(0).describe('Chance that a level is inverted.'),
  levelRate: fraction.default(0).describe('Chance that a level is moved by one.'),
  noisyStages: z
    .array(z.literal([1, 2, 3, 4]))
    .default([1, 2, 3, 4])
    .describe('Stages whose levels are noisy.'),
  failRate: fraction.default(0).describe('Chance that the scoring of a rollout fails.'),
})

/** A chat model that judges stages, and reflections too unless another one is named for that. */
const chatJudgeSchema = z
  .strictObject({
    kind: z.literal('chat').describe('A language model, for research.'),
    ...stageJudgeShape,
    reflect: askSchema.prefault({}).describe('How it is asked about reflections (preset `stages`).'),
    reflections: orNull(judgeSchema('stages'), 'Another judge for reflections.'),
  })
  .transform(({ reflect, ...judge }) => ({
    ...stageJudgeOf(judge),
    reflect: askOf(
      reflect,
      'stages',
      judge.fleet.endpoints.every(({ sendTopK }) => sendTopK === true),
    ),
  }))

const { topK: _topK, topP: _topP, ...sampled } = sampledEvaluationShape

const evaluationSchema = z.strictObject({
  ...sampled,
  every: sampled.every.unwrap().default(20).describe('Every so many steps; 0: only at the end.'),
  reuse: flag(
    true,
    'Also with memory at the start and the end: lessons of a first attempt, of similar questions, and (records) of nothing.',
  ),
})

export const rubricemSchema = z.strictObject({
  recipe: recipeSetting('rubricem'),
  ...pipelinedShape,
  coldStart: coldStartSetting(recordsPhaseSchema),
  task: z
    .discriminatedUnion('kind', [recordsTaskSchema, researchTaskSchema])
    .prefault({ kind: 'records' })
    .describe('What is trained on.'),
  judge: z
    .discriminatedUnion('kind', [scriptedJudgeSchema, chatJudgeSchema])
    .prefault({ kind: 'scripted' })
    .describe('Who judges stages and reflections.'),
  evolving: evolvingSchema.prefault({}).describe('Rubrics that the judge proposes, scores and prunes.'),
  anchors: anchorsSetting,
  ...criteriaOptionsShape,
  credit: creditSchema.prefault({}).describe('How rewards become credit of tokens.'),
  control: orNull(
    z.enum(['random', 'shuffled', 'flipped']),
    'A negative control: random rewards of stages, those of other attempts at the question, or inverted.',
  ),
  advantage: advantageSchema.prefault({}).describe('How rewards become advantages.'),
  reflection: reflectionSchema
    .prefault({})
    .describe('Reflections on attempts, and what is learnt from them.'),
  memory: memorySchema.prefault({ kind: 'bank' }).describe('Lessons of earlier attempts.'),
  window: section('Fresh batches of a window, which are then repeated.', {
    steps: natural.default(WINDOW_STEPS).describe('Fresh batches of a window, which are then repeated.'),
    reflectOnRepeat: flag(false, 'Reflect also when a window repeats its questions.'),
  }),
  loss: lossSetting('gradus:rubricem'),
  rollout: rolloutSetting({ prompts: 16, samples: 8, maxTokens: 48 }),
  evaluation: evaluationSchema.prefault({}).describe('When and how the model is tested.'),
})

export type RubricemConfig = z.output<typeof rubricemSchema>
export type RecordsTaskConfig = z.output<typeof recordsTaskSchema>
export type RecordsJudgeConfig = z.output<typeof scriptedJudgeSchema>
export type ChatJudgeConfig = z.output<typeof chatJudgeSchema>

/** The task with its kind of judge. @throws ConfigError where the two do not go together */
export const taskSettings = ({ task, judge }: Pick<RubricemConfig, 'task' | 'judge'>) => {
  if (task.kind === 'records' && judge.kind === 'scripted') return { kind: task.kind, task, judge }
  if (task.kind === 'research' && judge.kind === 'chat') return { kind: task.kind, task, judge }
  throw task.kind === 'records'
    ? new ConfigError(
        `task.kind: expected records with judge.kind scripted, got records with ${judge.kind}`,
        { hint: 'records have a judge by script, and research a chat model' },
      )
    : new ConfigError(`judge.kind: expected chat with task.kind research, got ${judge.kind} with research`, {
        hint: 'name a chat model in judge.fleet.endpoints; judges by script know the records task alone',
      })
}

/** Similar questions whose lessons are shown. */
export const topOf = ({ memory }: Pick<RubricemConfig, 'memory'>): number | undefined =>
  memory.kind === 'bank' ? memory.top : undefined

/** Addresses that stand in presets because there must be one; a plan says that they are to be replaced, or served there. */
export const PLACEHOLDERS = {
  judge: 'http://127.0.0.1:8000/v1',
  embedder: 'http://127.0.0.1:8001/v1',
} as const
