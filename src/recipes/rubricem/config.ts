/** @file Configuration of the rubricem recipe; defaults are those of the paper where it gives them, of spec 5 where it is silent. */

import { z } from 'zod'
import { evolvingSchema, stageJudgeOf, stageJudgeShape } from '../../grade/evolving/index.ts'
import { askOf, askSchema } from '../../grade/judge/ask-config.ts'
import { judgeSchema } from '../../grade/judge/judge-config.ts'
import { ACCEPT_THRESHOLD, memorySchema, UTILITIES, WINDOW_STEPS } from '../../memory/index.ts'
import { pipelinedPolicySchema } from '../../policy/open.ts'
import { DEFAULT_LAMBDA, lambdaSchema } from '../../rl/stage-credit.ts'
import { rubricDropoutSchema } from '../../rubric/dropout.ts'
import { researchFilesShape, TOOL_BOX_DEFAULTS, turnRulesSchema } from '../../tasks/research/index.ts'
import { toolsSchema } from '../../tools/index.ts'
import {
  advantageSchema,
  lossSettingSchema,
  modelSchema,
  pipelineSchema,
  reinforcementShape,
  rolloutSchema,
} from '../../train/config.ts'
import { hopsSchema, recordsPhaseSchema } from '../records-cold-start/config.ts'
import { CONTROLS } from './control.ts'

const share = z.number().min(0).max(1)
const size = z.int().positive()

const creditSchema = z.strictObject({
  mode: z
    .enum(['stages', 'terminal'])
    .default('stages')
    .describe(
      "`stages`: SS-GRPO. `terminal`: answer-only GRPO, the answer's reward for every token (Baseline-RL).",
    ),
  lambda: lambdaSchema
    .default(DEFAULT_LAMBDA.map(row => [...row]))
    .describe('How much stage k hears of the reward of stage j (spec 5.3).'),
  failed: z
    .enum(['terminal', 'answer', 'leave-out'])
    .default('terminal')
    .describe(
      "Rollouts of which only the answer's reward is known: its share of that beside the others' whole returns (spec 5.3), the answer's advantage for all stages, or nothing.",
    ),
})

const reflectionSchema = z.strictObject({
  enabled: z.boolean().default(true).describe('False: no reflections at all.'),
  candidates: size.default(8).describe('Candidates a question (m).'),
  temperature: z.number().positive().default(0.7),
  maxTokens: size.default(40).describe('The default is for records; text needs several hundred.'),
  utility: z
    .enum(UTILITIES)
    .default('d62')
    .describe(
      "What makes one number of a judge's scores: the prompt's weights, or Algorithm 1's (spec 5.4).",
    ),
  acceptThreshold: z.number().default(ACCEPT_THRESHOLD).describe('Least utility that goes into the bank.'),
  learn: z
    .boolean()
    .default(true)
    .describe('Learn from reflections at all; false: they fill the bank, by the policy as it is.'),
  deferred: z
    .boolean()
    .default(true)
    .describe(
      "Learn from a step's reflections in the step after it, while that samples (spec 5.5); false: at once.",
    ),
  placebo: z
    .boolean()
    .default(false)
    .describe('A negative control: lessons that are kept say nothing that is true but by chance.'),
})

const recordsTaskSchema = z.strictObject({
  kind: z.literal('records'),
  hops: hopsSchema.prefault({}).describe('Fewest and most look-ups that a question needs.'),
  calls: size.default(8).describe('Look-ups that an agent may make.'),
  pool: size.nullable().default(null).describe('Questions of training; null: new ones without end.'),
})

const researchTaskSchema = z.strictObject({
  kind: z.literal('research'),
  ...researchFilesShape,
  tools: toolsSchema
    .default([])
    .describe('What an agent may call: MCP servers, local search indexes, search over HTTP.'),
  toolBox: z
    .strictObject({
      timeoutMs: z.number().positive().default(TOOL_BOX_DEFAULTS.timeoutMs),
      concurrency: size.default(TOOL_BOX_DEFAULTS.concurrency),
      maxChars: z.int().min(200).default(TOOL_BOX_DEFAULTS.maxChars),
    })
    .prefault({})
    .describe('Deadline of a call, calls under way at a time, most characters of what is said to one.'),
  rules: turnRulesSchema
    .prefault({})
    .describe('Calls that an agent may make, and breaks of a rule that are answered with a reminder.'),
  callForm: z
    .enum(['auto', 'xml', 'template'])
    .default('auto')
    .describe(
      "How calls are written: as the model's chat template has it where that can be read (`auto`, `template`), or in tags of our own.",
    ),
  scaffold: z.boolean().default(true).describe('False: agents without plan and review.'),
  maxPromptTokens: size
    .default(8192)
    .describe('Questions with longer prompts are left out; lessons that make one longer are cut.'),
  maxTokens: size
    .default(18_432)
    .describe('Tokens of an attempt in all, tool output included; `rollout.maxTokens` is for a turn.'),
  maxOutputTokens: size.default(2048).describe('Tokens of what a tool says.'),
  maxReflectorTokens: size
    .default(26_624)
    .describe(
      'Longest prompt of a reflector: of an attempt that is too long for it, the middle of its parts is left out.',
    ),
  referenceCharacters: size
    .default(4000)
    .describe('Characters of each part of a lesson (question, rubrics, takeaways) that are shown.'),
})

const scriptedJudgeSchema = z.strictObject({
  kind: z.literal('scripted'),
  sound: share.default(0.7).describe('Chance that a proposed rubric is a sound one.'),
  discerning: share.default(0.7).describe('Chance that it is one on which the rollouts differ.'),
  flipRate: share
    .default(0)
    .describe('Chances that a level is turned round, and that it moves by one; of the stages named.'),
  levelRate: share.default(0),
  noisyStages: z.array(z.literal([1, 2, 3, 4])).default([1, 2, 3, 4]),
  failRate: share.default(0).describe('Chance that the scoring of a rollout fails.'),
})

/** A chat model that judges stages, and reflections too unless another one is named for that. */
const chatJudgeSchema = z
  .strictObject({
    kind: z.literal('chat'),
    ...stageJudgeShape,
    reflect: askSchema.prefault({}).describe('How it is asked about reflections (preset `stages`).'),
    reflections: judgeSchema('stages').nullable().default(null).describe('Another judge for reflections.'),
  })
  .transform(({ reflect, ...judge }) => ({
    ...stageJudgeOf(judge),
    reflect: askOf(
      reflect,
      'stages',
      judge.fleet.endpoints.every(({ sendTopK }) => sendTopK === true),
    ),
  }))

const evaluationSchema = z.strictObject({
  every: z.int().min(0).default(20),
  problems: size.default(500),
  problemsAtStart: size.optional(),
  problemsBetween: size.default(200),
  samples: size.default(1),
  temperature: z.number().min(0).default(1),
  reuse: z
    .boolean()
    .default(true)
    .describe(
      'Also with memory at the start and the end: lessons of a first attempt, of similar questions, and (records) of nothing.',
    ),
})

export const rubricemSchema = z.strictObject({
  recipe: z.literal('rubricem').default('rubricem'),
  ...reinforcementShape,
  policy: pipelinedPolicySchema.prefault({}),
  model: modelSchema.omit({ shape: true }).prefault({}),
  coldStart: recordsPhaseSchema
    .nullable()
    .default(null)
    .describe(
      "Supervised learning before everything, in the run's folder `cold-start`; null: start from `model.folder`.",
    ),
  task: z.discriminatedUnion('kind', [recordsTaskSchema, researchTaskSchema]).prefault({ kind: 'records' }),
  judge: z
    .discriminatedUnion('kind', [scriptedJudgeSchema, chatJudgeSchema])
    .prefault({ kind: 'scripted' })
    .describe('`scripted` for records, `chat` for research.'),
  evolving: evolvingSchema.prefault({}),
  rubricDropout: rubricDropoutSchema
    .optional()
    .describe(
      'Leave rubrics of each stage out of its reward by chance, drawn for each question and step; absent: none.',
    ),
  credit: creditSchema.prefault({}),
  control: z
    .enum(CONTROLS)
    .nullable()
    .default(null)
    .describe(
      'A negative control: rewards of stages by chance, of other attempts at the question, or turned round.',
    ),
  advantage: advantageSchema.prefault({}),
  reflection: reflectionSchema.prefault({}),
  memory: memorySchema.prefault({ kind: 'bank' }),
  window: z
    .strictObject({ steps: size.default(WINDOW_STEPS), reflectOnRepeat: z.boolean().default(false) })
    .prefault({})
    .describe('Fresh batches of a window, which are then repeated (spec 5.5).'),
  loss: lossSettingSchema.prefault('gradus:rubricem'),
  rollout: rolloutSchema.prefault({ prompts: 16, samples: 8, maxTokens: 48 }),
  pipeline: pipelineSchema.default(false),
  evaluation: evaluationSchema.prefault({}),
})

export type RubricemConfig = z.output<typeof rubricemSchema>
export type RecordsTaskConfig = z.output<typeof recordsTaskSchema>
export type ResearchTaskConfig = z.output<typeof researchTaskSchema>
export type ScriptedJudgeConfig = z.output<typeof scriptedJudgeSchema>
export type ChatJudgeConfig = z.output<typeof chatJudgeSchema>

/** Similar questions whose lessons are shown. */
export const topOf = ({ memory }: Pick<RubricemConfig, 'memory'>): number | undefined =>
  memory.kind === 'bank' ? memory.top : undefined
