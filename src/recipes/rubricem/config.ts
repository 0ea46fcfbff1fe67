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
  /** `stages`: SS-GRPO. `terminal`: answer-only GRPO, the answer's reward for every token (Baseline-RL). */
  mode: z.enum(['stages', 'terminal']).default('stages'),
  /** How much stage k hears of the reward of stage j (spec 5.3). */
  lambda: lambdaSchema.default(DEFAULT_LAMBDA.map(row => [...row])),
  /**
   * Rollouts of which only the answer's reward is known: its share of that beside the others' whole returns (spec 5.3), the
   * answer's advantage for all stages, or nothing.
   */
  failed: z.enum(['terminal', 'answer', 'leave-out']).default('terminal'),
})

const reflectionSchema = z.strictObject({
  /** False: no reflections at all. */
  enabled: z.boolean().default(true),
  /** Candidates a question (m). */
  candidates: size.default(8),
  temperature: z.number().positive().default(0.7),
  /** The default is for records; text needs several hundred. */
  maxTokens: size.default(40),
  /** What makes one number of a judge's scores: the prompt's weights, or Algorithm 1's (spec 5.4). */
  utility: z.enum(UTILITIES).default('d62'),
  /** Least utility that goes into the bank. */
  acceptThreshold: z.number().default(ACCEPT_THRESHOLD),
  /** Learn from reflections at all; false: they fill the bank, by the policy as it is. */
  learn: z.boolean().default(true),
  /** Learn from a step's reflections in the step after it, while that samples (spec 5.5); false: at once. */
  deferred: z.boolean().default(true),
  /** A negative control: lessons that are kept say nothing that is true but by chance. */
  placebo: z.boolean().default(false),
})

const recordsTaskSchema = z.strictObject({
  kind: z.literal('records'),
  /** Fewest and most look-ups that a question needs. */
  hops: hopsSchema.prefault({}),
  /** Look-ups that an agent may make. */
  calls: size.default(8),
  /** Questions of training; null: new ones without end. */
  pool: size.nullable().default(null),
})

const researchTaskSchema = z.strictObject({
  kind: z.literal('research'),
  ...researchFilesShape,
  /** What an agent may call: MCP servers, local search indexes, search over HTTP. */
  tools: toolsSchema.default([]),
  /** Deadline of a call, calls under way at a time, most characters of what is said to one. */
  toolBox: z
    .strictObject({
      timeoutMs: z.number().positive().default(TOOL_BOX_DEFAULTS.timeoutMs),
      concurrency: size.default(TOOL_BOX_DEFAULTS.concurrency),
      maxChars: z.int().min(200).default(TOOL_BOX_DEFAULTS.maxChars),
    })
    .prefault({}),
  /** Calls that an agent may make, and breaks of a rule that are answered with a reminder. */
  rules: turnRulesSchema.prefault({}),
  /** How calls are written: as the model's chat template has it where that can be read (`auto`, `template`), or in tags of our own. */
  callForm: z.enum(['auto', 'xml', 'template']).default('auto'),
  /** False: agents without plan and review. */
  scaffold: z.boolean().default(true),
  /** Questions with longer prompts are left out; lessons that make one longer are cut. */
  maxPromptTokens: size.default(8192),
  /** Tokens of an attempt in all, tool output included; `rollout.maxTokens` is for a turn. */
  maxTokens: size.default(18_432),
  /** Tokens of what a tool says. */
  maxOutputTokens: size.default(2048),
  /** Longest prompt of a reflector: of an attempt that is too long for it, the middle of its parts is left out. */
  maxReflectorTokens: size.default(26_624),
  /** Characters of each part of a lesson (question, rubrics, takeaways) that are shown. */
  referenceCharacters: size.default(4000),
})

const scriptedJudgeSchema = z.strictObject({
  kind: z.literal('scripted'),
  /** Chance that a proposed rubric is a sound one. */
  sound: share.default(0.7),
  /** Chance that it is one on which the rollouts differ. */
  discerning: share.default(0.7),
  /** Chances that a level is turned round, and that it moves by one; of the stages named. */
  flipRate: share.default(0),
  levelRate: share.default(0),
  noisyStages: z.array(z.literal([1, 2, 3, 4])).default([1, 2, 3, 4]),
  /** Chance that the scoring of a rollout fails. */
  failRate: share.default(0),
})

/** A chat model that judges stages, and reflections too unless another one is named for that. */
const chatJudgeSchema = z
  .strictObject({
    kind: z.literal('chat'),
    ...stageJudgeShape,
    /** How it is asked about reflections (preset `stages`). */
    reflect: askSchema.prefault({}),
    /** Another judge for reflections. */
    reflections: judgeSchema('stages').nullable().default(null),
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
  /** Also with memory at the start and the end: lessons of a first attempt, of similar questions, and (records) of nothing. */
  reuse: z.boolean().default(true),
})

export const rubricemSchema = z.strictObject({
  recipe: z.literal('rubricem').default('rubricem'),
  ...reinforcementShape,
  policy: pipelinedPolicySchema.prefault({}),
  model: modelSchema.omit({ shape: true }).prefault({}),
  /** Supervised learning before everything, in the run's folder `cold-start`; null: start from `model.folder`. */
  coldStart: recordsPhaseSchema.nullable().default(null),
  task: z.discriminatedUnion('kind', [recordsTaskSchema, researchTaskSchema]).prefault({ kind: 'records' }),
  /** `scripted` for records, `chat` for research. */
  judge: z.discriminatedUnion('kind', [scriptedJudgeSchema, chatJudgeSchema]).prefault({ kind: 'scripted' }),
  evolving: evolvingSchema.prefault({}),
  /** Leave rubrics of each stage out of its reward by chance, drawn for each question and step; absent: none. */
  rubricDropout: rubricDropoutSchema.optional(),
  credit: creditSchema.prefault({}),
  /** A negative control: rewards of stages by chance, of other attempts at the question, or turned round. */
  control: z.enum(CONTROLS).nullable().default(null),
  advantage: advantageSchema.prefault({}),
  reflection: reflectionSchema.prefault({}),
  memory: memorySchema.prefault({ kind: 'bank' }),
  /** Fresh batches of a window, which are then repeated (spec 5.5). */
  window: z
    .strictObject({ steps: size.default(WINDOW_STEPS), reflectOnRepeat: z.boolean().default(false) })
    .prefault({}),
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
