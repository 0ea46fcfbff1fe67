/** @file The sft recipe as the command line knows it. */

import { isRemote, recomputes } from '../../policy/open.ts'
import { formatInteger } from '../../util/format.ts'
import { mean } from '../../util/statistics.ts'
import { withDataFiles } from '../common/data-files.ts'
import { knownShape, modelPlace } from '../common/known-models.ts'
import type { RecipeEntry, RunPlan } from '../common/recipe.ts'
import { assertSupervisedActions } from '../common/refuse.ts'
import { describeRemoteModel, shapeFolder } from '../common/remote.ts'
import { remoteLines, supervisedWork } from '../common/remote-plan.ts'
import type { StepWork } from '../common/step-work.ts'
import { fewRows, meanRowTokens, supervisedMachine } from '../common/supervised-plan.ts'
import { type Checked, checkSft } from './check.ts'
import { type SftConfig, sftRecipeSchema, taskPreset } from './config.ts'
import { logicPresets, logicRubricPresets } from './logic-presets.ts'
import type { SftRow, SftRows } from './rows.ts'

const lengthOf = ({ promptTokens, responseTokens }: SftRow) => promptTokens.length + responseTokens.length

/** At the start, at the end, and between. */
const evaluationsOf = ({ steps, evaluation: { every } }: SftConfig): number =>
  2 + (every > 0 ? Math.max(0, Math.ceil(steps / every) - 1) : 0)

/** Rows are learnt from as they are; without the file they are taken to be as long as they may be. */
const workOf = (config: SftConfig, rows: readonly SftRow[] | null): StepWork => {
  const { steps, batch, policy, model, maxTokens } = config
  const folder = shapeFolder(config)
  const promptTokens = rows === null ? 0 : mean(rows.map(row => row.promptTokens.length))
  const newTokens = rows === null ? maxTokens : mean(rows.map(row => row.responseTokens.length))
  return {
    model: isRemote(policy) ? describeRemoteModel(policy) : modelPlace(model.folder!),
    shape: folder === null ? null : knownShape(folder),
    lora: model.lora,
    ...{ reference: false, critic: false, scorings: 0, steps, minibatches: 1, epochs: 1, judges: [] },
    roles: [{ name: 'row', groups: batch, samples: 1, promptTokens, newTokens }],
    maxRows: isRemote(policy) ? batch : policy.maxRows,
    microBatchTokens: isRemote(policy) ? maxTokens : policy.microBatchTokens,
    recompute: recomputes(policy),
    supervised: true,
  }
}

/** The longest row that is there, or that there may be: memory goes by it. */
const longestOf = ({ maxTokens }: SftConfig, rows: { train: readonly SftRow[] } | null): number =>
  rows === null ? maxTokens : rows.train.reduce((most, row) => Math.max(most, lengthOf(row)), 1)

const planTask = (config: SftConfig, { task, shape: known }: Checked): RunPlan => {
  const { steps, batch, model } = config
  const { shape, folder, lora } = model
  const { training, evaluation, more = [] } = task!.words
  const machine = supervisedMachine(config, {
    ...{ shape: known ?? knownShape(folder!), lora, sampledTokens: task!.grown?.sampledTokens },
    rowTokens: meanRowTokens(step => task!.draw(step, []), steps),
  })
  const fresh = `fresh weights, ${shape.layers} layers of ${shape.hiddenSize}, ${known?.vocabSize} tokens`
  return {
    lines: [
      `model        ${folder === null ? fresh : modelPlace(folder)}`,
      `training     ${steps} steps of ${batch} demonstrations, ${training}`,
      ...more,
      `evaluation   ${evaluation}`,
      ...machine.lines,
    ],
    json: { steps, batch, ...machine.json },
  }
}

const plan = (config: SftConfig): RunPlan => {
  assertSupervisedActions(config)
  if (config.task === null) return planRows(config, checkSft(config, 'plan').rows)
  return planTask(config, checkSft(fewRows(config), 'plan'))
}

const planRows = (config: SftConfig, rows: SftRows | null): RunPlan => {
  const { steps, batch, data, model, policy } = config
  const dataWords =
    rows === null
      ? `${data} (not there yet, or its model is not)`
      : `${data}: ${formatInteger(rows.train.length)} rows to learn from, ${rows.test.length} held out; ${formatInteger(mean(rows.train.map(lengthOf)))} tokens a row, ${formatInteger(mean(rows.train.map(({ learnt }) => learnt.reduce((sum, own) => sum + own, 0))))} of them learnt`
  const remote =
    isRemote(policy) && rows !== null
      ? supervisedWork(policy, {
          ...{ steps, batch, rowTokens: mean(rows.train.map(lengthOf)) },
          scoredRows: rows.test.length * evaluationsOf(config),
        })
      : null
  const work = workOf(config, rows?.train ?? null)
  const [{ promptTokens, newTokens }] = work.roles
  const machine = supervisedMachine(config, {
    ...{ shape: work.shape, lora: model.lora, longest: longestOf(config, rows) },
    ...{ rowTokens: promptTokens + newTokens, atMost: rows === null },
  })
  return {
    lines: [
      `model        ${isRemote(policy) ? describeRemoteModel(policy) : modelPlace(model.folder!)}`,
      `data         ${dataWords}`,
      `training     ${steps} steps of ${batch} rows`,
      ...(rows?.notes ?? []).map(note => `             ${note}`),
      ...(remote ? remoteLines(remote) : []),
      ...machine.lines,
    ],
    json: {
      ...{ steps, batch },
      ...machine.json,
      ...(remote && { remote }),
      rows: rows && { train: rows.train.length, test: rows.test.length, notes: rows.notes },
    },
    work,
  }
}

/** Presets of a start: the first has its name, the others theirs behind it. */
const startPresets = (
  start: string,
  kind: Parameters<typeof taskPreset>[0],
  presets: Readonly<Record<string, { summary: string; config: Parameters<typeof taskPreset>[1] }>>,
) =>
  Object.fromEntries(
    Object.entries(presets).map(([name, { summary, config }], i) => [
      i === 0 ? start : `${start}-${name}`,
      { summary, config: taskPreset(kind, config) },
    ]),
  )

export const sftEntry: RecipeEntry<SftConfig> = withDataFiles(
  {
    name: 'sft',
    summary:
      'supervised learning on conversations of a file (what the assistant says, never what tools say) or on the demonstrations of a task',
    schema: sftRecipeSchema,
    presets: {
      chat: {
        summary: 'a chat model on rows of messages; name yours in model.folder and data',
        config: { model: { folder: 'Qwen/Qwen2.5-0.5B-Instruct' }, data: 'data/sft.jsonl' },
      },
      // Five passes over about 11,000 accepted trajectories; tools' words are masked always.
      paper: {
        summary: "RubricEM's cold start: Qwen3-8B, five passes, tools' words masked (needs a cluster)",
        config: {
          model: { folder: 'models/Qwen3-8B' },
          data: 'data/sft.jsonl',
          maxTokens: 16_384,
          steps: 430,
          batch: 128,
          optimizer: { learningRate: { peak: 4e-5, kind: 'cosine', warmup: 43 }, weightDecay: 0 },
        },
      },
      // Table 2 (arXiv 2602.10885): 20,000 rows of each role, five passes, one sequence a device; eight devices are our guess.
      'paper-rlcer': {
        summary:
          "RLCER's cold start for both roles: Qwen3-8B-Base on rows of `gradus trajectories roles`, five passes (needs a cluster)",
        config: {
          model: { folder: 'models/Qwen3-8B-Base' },
          data: 'data/two-roles.jsonl',
          maxTokens: 32_768,
          steps: 25_000,
          batch: 8,
          optimizer: {
            learningRate: { peak: 2e-5, kind: 'cosine', warmup: 250, floor: 0.1 },
            weightDecay: 0.1,
          },
        },
      },
      ...startPresets('logic-cold-start', 'logic', logicPresets),
      ...startPresets('logic-rubric-start', 'logic-rubrics', logicRubricPresets),
      'checklist-cold-start': {
        summary:
          'packing lists, habit and following hints: what ruscarl starts from, about ten minutes on one core',
        config: taskPreset('packing'),
      },
      'arithmetic-cold-start': {
        summary:
          'chains of arithmetic of mixed habits, and rubrics for them: what rlcer starts from, about twenty minutes on one core',
        config: taskPreset('arithmetic'),
      },
      'records-cold-start': {
        summary: 'look-ups that depend on each other, and reflections on them: what rubricem starts from',
        config: taskPreset('records'),
      },
      'chat-cold-start': {
        summary: 'short requests and verdicts about answers: the shipped small chat model, models/chat-start',
        config: taskPreset('requests'),
      },
    },
    plan,
    async run(config, options) {
      assertSupervisedActions(config)
      return (await import('./run.ts')).runSftRecipe(config, options)
    },
  },
  ({ data, columns, task }) => [
    { path: data, columns },
    { path: task?.kind === 'logic' ? task.tests.realFile : null },
  ],
)
