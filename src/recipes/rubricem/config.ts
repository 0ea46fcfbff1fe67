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
    "How credit is assigned: by stage (`stages`, SS-GRPO), or the answer's reward for every token (`terminal`, answer-only GRPO, Baseline-RL).",
  ),
  lambda: lambdaSchema
    .default(DEFAULT_LAMBDA.map(row => [...row]))
    .describe('Weight of the reward of stage j (column) in the return of stage k (row).'),
  failed: choice(
    ['terminal', 'answer', 'leave-out'],
    'terminal',
    "Credit of rollouts of which only the answer's reward is known. `terminal`: its part of the returns, compared with the others' whole returns; `answer`: the answer's advantage in all stages; `leave-out`: none.",
  ),
  missing: choice(
    ['next', 'none'],
    'next',
    'Where the advantage of a stage without tokens goes: to the first token of the next stage (`next`), or nowhere (`none`).',
  ),
})

const reflectionSchema = z.strictObject({
  enabled: flag(true, 'Sample reflections on attempts; false: none.'),
  candidates: natural.default(8).describe('Reflections sampled for a question (m).'),
  temperature: positive.default(0.7).describe('Sampling temperature of reflections.'),
  maxTokens: natural
    .default(40)
    .describe('Most tokens of a reflection. The default is for records; text needs several hundred.'),
  utility: choice(
    UTILITIES,
    'd62',
    "How a judge's scores of a reflection become one number: by the weights of the prompt (`d62`), or by those of Algorithm 1 (`alg1`).",
  ),
  acceptThreshold: z
    .number()
    .default(ACCEPT_THRESHOLD)
    .describe('Least utility of a reflection that goes into the bank.'),
  learn: flag(true, 'Train the policy on reflections. false: they only fill the bank.'),
  deferred: flag(
    true,
    "Learn from a step's reflections in the next step, while that samples; false: at once.",
  ),
  placebo: flag(false, 'Negative control: the lessons that are kept are true only by chance.'),
})

const recordsTaskSchema = kindSchema('records', 'Look-ups in generated archives.', {
  ...recordsShape,
  pool: orNull(natural, 'Number of training questions, which recur; null: new ones without end.'),
})

const scriptedJudgeSchema = z.strictObject({
  kind: z.literal('scripted').describe('A script, for the task records.'),
  sound: fraction.default(0.7).describe('Probability that a proposed rubric is useful.'),
  discerning: fraction
    .default(0.7)
    .describe('Probability that a proposed rubric is one on which the rollouts differ.'),
  oracle: flag(
    false,
    "Judge stages and reflections with the right answer and the archive's field names; false: only with what the attempts show.",
  ),
  flipRate: fraction.default(0).describe('Probability that a level is inverted.'),
  levelRate: fraction.default(0).describe('Probability that a level is moved by one.'),
  noisyStages: z
    .array(z.literal([1, 2, 3, 4]))
    .default([1, 2, 3, 4])
    .describe('Stages whose levels have these errors.'),
  failRate: fraction.default(0).describe('Probability that scoring a rollout fails.'),
})

/** A chat model that judges stages, and reflections too unless another one is named for that. */
const chatJudgeSchema = z
  .strictObject({
    kind: z.literal('chat').describe('A language model, for the task research.'),
    ...stageJudgeShape,
    reflect: askSchema
      .prefault({})
      .describe('How the judge is asked about reflections (default preset: `stages`).'),
    reflections: orNull(judgeSchema('stages'), 'Another judge for reflections; null: the same one.'),
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
  every: sampled.every
    .unwrap()
    .default(20)
    .describe('Steps between evaluations, besides those at the start and the end; 0: only these.'),
  reuse: flag(
    true,
    'At the start and the end, also evaluate with memory: lessons of a first attempt, of similar questions, and (records) lessons that say nothing.',
  ),
})

export const rubricemSchema = z.strictObject({
  recipe: recipeSetting('rubricem'),
  ...pipelinedShape,
  coldStart: coldStartSetting(recordsPhaseSchema),
  task: z
    .discriminatedUnion('kind', [recordsTaskSchema, researchTaskSchema])
    .prefault({ kind: 'records' })
    .describe('The task to train on.'),
  judge: z
    .discriminatedUnion('kind', [scriptedJudgeSchema, chatJudgeSchema])
    .prefault({ kind: 'scripted' })
    .describe('The judge of stages and reflections.'),
  evolving: evolvingSchema.prefault({}).describe('How rubrics are proposed, scored and pruned.'),
  anchors: anchorsSetting,
  ...criteriaOptionsShape,
  credit: creditSchema.prefault({}).describe('How rewards become credit of tokens.'),
  control: orNull(
    z.enum(['random', 'shuffled', 'flipped']),
    'Negative control: rewards of stages at random (`random`), of other attempts at the question (`shuffled`), or inverted (`flipped`); null: none.',
  ),
  advantage: advantageSchema.prefault({}).describe('How rewards become advantages.'),
  reflection: reflectionSchema
    .prefault({})
    .describe('How the policy reflects on attempts, and learns from it.'),
  memory: memorySchema.prefault({ kind: 'bank' }).describe('Lessons of earlier attempts.'),
  window: section('A window: fresh batches, then the same ones once more.', {
    steps: natural.default(WINDOW_STEPS).describe('A window: fresh batches, then the same ones once more.'),
    reflectOnRepeat: flag(false, 'Also reflect on the repeated batches.'),
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
