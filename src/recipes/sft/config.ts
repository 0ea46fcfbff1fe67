/** @file Configuration of the sft recipe, alone and as a phase of another recipe. */

import { z } from 'zod'
import { policySchema } from '../../policy/open.ts'
import { arithmeticStartSchema } from '../../tasks/arithmetic/cold-start.ts'
import { packingStartSchema } from '../../tasks/checklist/cold-start.ts'
import { logicStartSchema } from '../../tasks/logic/start-settings.ts'
import { logicRubricsStartSchema } from '../../tasks/logic/thinking/cold-start.ts'
import { recordsStartSchema } from '../../tasks/records/cold-start.ts'
import { requestsStartSchema } from '../../tasks/requests/cold-start.ts'
import { DEFAULT_OBSERVATION_TOKENS } from '../../tasks/research/index.ts'
import {
  batchSize,
  choice,
  commonShape,
  type ModelShape,
  madeProblemCount,
  modelSchema,
  modelShapeSchema,
  optimizerSchema,
  orNull,
  recipeSetting,
  section,
  supervisedOptimizerSchema,
  supervisedSteps,
  testSampleCount,
} from '../../train/config.ts'
import type { MonitorSettings } from '../../train/monitors/config.ts'
import { columnsSchema } from '../../util/columns.ts'
import { natural, whole } from '../../util/setting-shapes.ts'

/** Defaults that differ with what is learnt. */
interface Usual {
  steps: number
  batch: number
  shape: Partial<ModelShape>
  evaluation: { problems: number; maxTokens: number }
}

/** Keys of everything that is learnt from demonstrations. */
const learningShape = <Optimizer extends z.ZodType>(
  { steps, batch, shape, evaluation }: Usual,
  optimizer: Optimizer,
) => ({
  ...commonShape,
  steps: commonShape.steps
    .unwrap()
    .default(steps)
    .describe('Number of training steps; 0 tests the start and saves it.'),
  model: modelSchema
    .extend({
      shape: modelShapeSchema
        .prefault(shape)
        .describe('Shape of a model with fresh weights; only a task may start from one.'),
    })
    .prefault({})
    .describe('The model to start from; for rows of a file a chat model with tokenizer and template.'),
  batch: batchSize(batch).describe('Rows or demonstrations in a step.'),
  optimizer: optimizer.describe('AdamW and its learning rate.'),
  evaluation: section('When and how the model is tested.', {
    every: whole
      .default(0)
      .describe(
        'Steps between evaluations, besides those at the end and, unless weights are fresh, at the start; 0: only these.',
      ),
    problems: madeProblemCount.default(evaluation.problems).describe('Number of test problems, with a task.'),
    samples: testSampleCount.default(1).describe('Samples of each test problem, with a task.'),
    maxTokens: natural.default(evaluation.maxTokens).describe('Most tokens of a response, with a task.'),
  }),
})

/** What each task is learnt with, as its preset has it. */
const USUAL = {
  logic: {
    ...{ steps: 2000, batch: 32, shape: {}, evaluation: { problems: 200, maxTokens: 96 } },
    learningRate: { peak: 1.5e-3, kind: 'cosine', warmup: 50, floor: 0.02 },
  },
  'logic-rubrics': {
    ...{ steps: 600, batch: 32, evaluation: { problems: 300, maxTokens: 96 } },
    shape: { maxPositions: 320 },
    learningRate: { peak: 1e-3, kind: 'cosine', warmup: 30, floor: 0.05 },
  },
  packing: {
    ...{ steps: 5000, batch: 96, evaluation: { problems: 500, maxTokens: 26 } },
    shape: { hiddenSize: 96, layers: 2, maxPositions: 96, initializerRange: 0.1 },
    learningRate: { peak: 2e-3, kind: 'cosine', warmup: 50, floor: 0.05 },
  },
  arithmetic: {
    ...{ steps: 7000, batch: 64, evaluation: { problems: 500, maxTokens: 96 } },
    shape: { hiddenSize: 64, layers: 2, maxPositions: 256, initializerRange: 0.1 },
    learningRate: { peak: 4e-3, kind: 'cosine', warmup: 50, floor: 0.05 },
  },
  records: {
    ...{ steps: 3000, batch: 64, evaluation: { problems: 500, maxTokens: 200 } },
    shape: { hiddenSize: 128, layers: 2, maxPositions: 320, initializerRange: 0.1 },
    learningRate: { peak: 3e-3, kind: 'cosine', warmup: 50, floor: 0.05 },
  },
  requests: {
    ...{ steps: 3600, batch: 32, evaluation: { problems: 600, maxTokens: 100 } },
    shape: {
      ...{ hiddenSize: 192, layers: 4, heads: 6, maxPositions: 512 },
      ...{ tieEmbeddings: true, initializerRange: 0.07, embeddingStd: 0.07 },
    },
    learningRate: { peak: 3e-3, kind: 'cosine', warmup: 60, floor: 0.05 },
  },
} as const

interface Changes {
  task?: object
  model?: { folder?: string; shape?: object }
  optimizer?: object
  evaluation?: object
  steps?: number
  batch?: number
}

/** The settings of a preset that learns a task, with changes of its own. */
export const taskPreset = (
  kind: keyof typeof USUAL,
  { task, model, optimizer, evaluation, ...own }: Changes = {},
): Record<string, unknown> => {
  const { shape, learningRate, ...usual } = USUAL[kind]
  return {
    ...{ ...usual, ...own, task: { kind, ...task } },
    model: { ...model, shape: { ...shape, ...model?.shape } },
    // As supervisedOptimizerSchema has it.
    optimizer: { learningRate, beta2: 0.98, weightDecay: 0.05, ...optimizer },
    evaluation: { ...usual.evaluation, ...evaluation },
  }
}

/** Learning a task as a phase of another recipe, whose monitors it has; by default as the task's preset does. */
const phaseSchema = <Kind extends keyof typeof USUAL, Shape extends z.core.$ZodLooseShape>(
  kind: Kind,
  task: z.ZodObject<Shape, z.core.$strict>,
) => {
  const {
    out: _out,
    monitors: _monitors,
    trackers: _trackers,
    ...shape
  } = learningShape(USUAL[kind], supervisedOptimizerSchema({ ...USUAL[kind].learningRate }))
  const only = z
    .literal(kind)
    .default(kind as never)
    .describe('The task, which the method decides.')
  return z.strictObject({
    ...shape,
    steps: supervisedSteps(USUAL[kind].steps).describe('Number of training steps.'),
    task: task
      .extend({ kind: only })
      .prefault({} as never)
      .describe('The task whose demonstrations are learnt.'),
  })
}

/** A phase that makes the model which a method starts from. */
export const coldStartSetting = <Phase extends z.ZodType>(phase: Phase) =>
  orNull(
    phase,
    "Supervised learning before all else, in the run's folder `cold-start`; null: start from `model.folder`.",
  )

export const packingPhaseSchema = phaseSchema('packing', packingStartSchema)
/** The same with thinking before the lists. */
export const thoughtPhaseSchema = phaseSchema(
  'packing',
  packingStartSchema.extend({
    thinking: z.literal(true).default(true).describe('Lists with thinking before them, of varying quality.'),
  }),
)
export const arithmeticPhaseSchema = phaseSchema('arithmetic', arithmeticStartSchema)
export const recordsPhaseSchema = phaseSchema('records', recordsStartSchema)
export const logicPhaseSchema = phaseSchema('logic', logicStartSchema)

export const sftRecipeSchema = z.strictObject({
  recipe: recipeSetting('sft'),
  ...learningShape(
    { steps: 200, batch: 16, shape: {}, evaluation: { problems: 500, maxTokens: 96 } },
    z
      .strictObject({
        ...optimizerSchema.shape,
        learningRate: optimizerSchema.shape.learningRate
          .unwrap()
          .prefault({ peak: 1e-5, kind: 'cosine' })
          .describe('Learning rate over the steps.'),
      })
      .prefault({}),
  ),
  policy: policySchema.prefault({}).describe('Where and how the model is sampled and trained.'),
  task: orNull(
    z.discriminatedUnion('kind', [
      logicStartSchema,
      logicRubricsStartSchema,
      packingStartSchema,
      arithmeticStartSchema,
      recordsStartSchema,
      requestsStartSchema,
    ]),
    'The task whose demonstrations are learnt, from fresh weights or by a model with its vocabulary; null: learn `data`.',
  ),
  data: orNull(
    z.string(),
    'File of rows `{messages: [{role, content}]}`; rows of agents also have `question`, `tools` and `rules`. The messages of the role assistant are learnt.',
  ),
  columns: columnsSchema.optional(),
  holdOut: whole.default(0).describe('Number of rows of the file kept for evaluation, always the same ones.'),
  calls: choice(
    ['auto', 'xml', 'template'],
    'auto',
    "How tool calls are written. `template`: as the model's chat template writes them; `xml`: in tags of our own; `auto`: by the template if it has such a form, else in tags.",
  ),
  maxTokens: natural
    .default(16_384)
    .describe("Most tokens of a row, within the model's context. Longer rows are left out and counted."),
  maxObservationTokens: natural
    .default(DEFAULT_OBSERVATION_TOKENS)
    .describe("Most tokens of a tool's output; the rest is cut."),
})
export type SftConfig = z.output<typeof sftRecipeSchema>

/** A phase as the recipe reads it. */
export const phaseConfig = (phase: object, monitors: MonitorSettings | null = null): SftConfig =>
  sftRecipeSchema.parse({ ...phase, monitors })
