/** @file What `gradus init train --model` writes: rows, rubric, settings and a page for a training of a public chat model. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { stringify } from 'yaml'
import { loadConfig } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import { loraModules } from '../../model/lora-files.ts'
import { modelNameOf } from '../../model/model-place.ts'
import { modelTensors } from '../../policy/local/parameters.ts'
import { estimateMemory, MEMORY_SHARE } from '../../recipes/common/feasible.ts'
import { planTime } from '../../recipes/common/step-time.ts'
import { instructionRows, SHARED_CRITERIA } from '../../tasks/instructions/index.ts'
import { formatBytes, formatCount, formatDuration, formatInteger, visible } from '../../util/format.ts'
import { shellWord } from '../../util/invocation.ts'
import { memoryHere } from '../../util/memory-failure.ts'

/** What a training begins with; the rest are the recipe's defaults. */
export interface FittedSettings {
  lora: { rank: number; alpha: number }
  learningRate: number
  steps: number
  maxTokens: number
  microBatchTokens: number
  recompute: boolean
  /** As estimated, of the largest that fits; of the smallest where nothing does. */
  memoryBytes: number
}

const ROLLOUTS = { prompts: 8, samples: 8, temperature: 0.8 } as const
/** Steps, and tokens of a response: demonstrations teach long answers to end, which rewards for short ones would undo. */
const AFTER = { nothing: { steps: 40, responses: 128 }, demonstrations: { steps: 30, responses: 256 } }

const RANK = 16
const LORA = { rank: RANK, alpha: 2 * RANK }
const LONGEST_PROMPT = 96

/** Adapters of larger models want smaller steps: 4e-4 is of pilots at 135 million weights, the rest a guess by width. */
const learningRateOf = (weights: number): number => (weights < 3e8 ? 4e-4 : weights < 1.2e9 ? 2e-4 : 1e-4)

/** The memory of a training with this micro-batch. */
const memoryOf = (
  config: ModelConfig,
  microBatchTokens: number,
  recompute: boolean,
  maxTokens: number,
  machineBytes: number,
): number => {
  const drawn = { promptTokens: LONGEST_PROMPT, newTokens: maxTokens, maxRows: 128 }
  return estimateMemory(config, {
    lora: { ...LORA, targetModules: [...loraModules] },
    ...{ reference: false, microBatchTokens, recompute, sequence: LONGEST_PROMPT + maxTokens },
    draws: [
      { ...drawn, rows: ROLLOUTS.prompts * ROLLOUTS.samples, prompts: ROLLOUTS.prompts },
      { ...drawn, rows: ROWS.test, prompts: ROWS.test },
    ],
    machineBytes,
  }).total
}

/** Large micro-batches first, then layers that are computed a second time. */
const CHOICES: readonly (readonly [microBatchTokens: number, recompute: boolean])[] = [
  [2048, false],
  [1024, false],
  [512, false],
  [1024, true],
  [512, true],
]

/** @param memoryBytes that this machine has @param after what the model has learnt before */
export const fittedSettings = (
  config: ModelConfig,
  memoryBytes: number,
  after: keyof typeof AFTER,
): FittedSettings => {
  const { steps, responses } = AFTER[after]
  const maxTokens = Math.min(responses, Math.floor(config.maxPositions / 2))
  const tried = CHOICES.map(([microBatchTokens, recompute]) => ({
    microBatchTokens,
    recompute,
    memoryBytes: memoryOf(config, microBatchTokens, recompute, maxTokens, memoryBytes),
  }))
  const fitting = tried.find(({ memoryBytes: need }) => need <= MEMORY_SHARE * memoryBytes) ?? tried.at(-1)!
  return {
    lora: LORA,
    learningRate: learningRateOf(modelTensors(config, null).total),
    ...{ steps, maxTokens },
    ...fitting,
  }
}

/** Files by their place in the new folder. */
export type Files = Map<string, string | Uint8Array>

/** Rows that are written, and how many of them are kept for the test. */
const ROWS = { instructions: 700, test: 60, example: 16 }
const settingsText = (model: string, fit: FittedSettings, tested: number): string => {
  const { prompts, samples, temperature } = ROLLOUTS
  return `# Trains on rows.jsonl by rubric.yaml. In this folder:   gradus train train.yaml
# Every key with its type, default and meaning:          gradus train grpo --settings
recipe: grpo
model:
  folder: ${JSON.stringify(model)} # a name on the hub, a folder, or a GGUF file
  lora: { rank: ${fit.lora.rank}, alpha: ${fit.lora.alpha} } # an adapter is trained; leave it out to train all weights, which wants a lower learning rate
task:
  file: rows.jsonl
  rubric: rubric.yaml # for all rows; criteria of a row come on top
  testFile: test.jsonl # rows that are never trained on; the model is tested on them
  maxPromptTokens: 256
# Who judges the criteria that have no verifier, behind any OpenAI-compatible server:
# judge:
#   fleet:
#     endpoints: [{ url: http://127.0.0.1:8001/v1, model: my-judge, apiKeyEnv: JUDGE_KEY }]
steps: ${fit.steps}
rollout: { prompts: ${prompts}, samples: ${samples}, maxTokens: ${fit.maxTokens}, temperature: ${temperature} } # hotter, small models write nonsense
minibatches: 1
loss: { preset: gradus:ruscarl, kl: { kind: none } }
optimizer:
  learningRate: { kind: constant, peak: ${fit.learningRate}, warmup: 3 }
policy: { microBatchTokens: ${fit.microBatchTokens}${fit.recompute ? ', recompute: true' : ''} } # what fits the memory of this machine
evaluation: { every: 20, problems: ${tested}, problemsBetween: ${tested}, samples: 1, temperature: 0.3 }
checkpoint: { every: 10 }
`
}

/** Evaluations at the start, in the middle and at the end. */
const EVALUATIONS = 3
/** Roughly, of a row. */
const PROMPT_TOKENS = 64

/** Hours of two cores and memory, as a plan foresees them. @param scorings of the criterion for language */
const costOf = (config: ModelConfig, fit: FittedSettings, tested: number, scorings: number): string => {
  const { prompts, samples } = ROLLOUTS
  const length = { promptTokens: PROMPT_TOKENS, newTokens: fit.maxTokens }
  const { hours } = planTime(
    {
      ...{ model: 'any', shape: config, lora: { ...fit.lora, targetModules: loraModules } },
      ...{ steps: fit.steps, epochs: 1, minibatches: 1, reference: false, scorings, supervised: false },
      ...{ recompute: fit.recompute, maxRows: prompts * samples },
      roles: [{ name: 'policy', groups: prompts, samples, ...length }],
    },
    { ...length, samples: EVALUATIONS * tested },
  )
  return `about ${formatDuration(3600 * hours)} of two cores and ${formatBytes(fit.memoryBytes)} of memory`
}

const INSTRUCTIONS = `The model is asked for short texts with one to three instructions each (no commas, two paragraphs, a title, at most 30 words, ...), and learns to follow them. The instructions are of the kinds of IFEval; none of its prompts is among the rows. Each row also pays for what makes an answer one: that what was asked for is there, that the request is not copied, that its length fits; and \`rubric.yaml\`, for all rows, that nothing is said again and again and that it is language. Without these the cheapest way to follow an instruction is to say nothing with it.`

const COLD_START = `gradus train cold-start.yaml         # learns demonstrations.jsonl: answers of its own, edited until they follow instructions
`

const COLD_START_FILES = `
| \`answers.jsonl\` | what the model answered to plain requests |
| \`demonstrations.jsonl\` | the same answers, edited until they follow instructions |
| \`cold-start.yaml\` | the settings that learn them; \`gradus train sft --settings\` explains each |`

const EXAMPLE = `The rows and the rubric are a small example: short answers and lists, with an offer of more help at the end. Put your own in their place.`

const pageText = (
  model: string,
  config: ModelConfig,
  fit: FittedSettings,
  { instructions, coldStart }: TrainingKind,
  tested: number,
): string => {
  const weights = formatCount(modelTensors(config, null).total)
  const word = shellWord(model)
  return `# A training of ${visible(model.replace(/\s+/g, ' '))}

\`\`\`sh
gradus train train.yaml --dry-run    # what it would do, how long, and whether this machine can
${coldStart ? COLD_START : ''}gradus train train.yaml${coldStart ? ' --from runs/cold-start-seed1' : '             '} # ${fit.steps} steps; Ctrl+C finishes the step, saves, and prints the command that goes on
\`\`\`

${instructions ? INSTRUCTIONS : EXAMPLE}

It takes ${costOf(config, fit, tested, Number(instructions))} if every response is as long as it may be (${weights} parameters, an adapter of rank ${fit.lora.rank}, ${fit.steps} steps of ${formatInteger(ROLLOUTS.prompts * ROLLOUTS.samples)} responses, evaluations included${coldStart ? '; the cold start comes on top: `gradus train cold-start.yaml --dry-run` says how long it takes' : ''}).

| file | what it is |
|---|---|
| \`rows.jsonl\` | prompts, one a line, with criteria of their own |
| \`test.jsonl\` | rows to test on, never trained on |
| \`rubric.yaml\` | the rubric of all rows |
| \`train.yaml\` | the settings; \`gradus train grpo --settings\` explains each |
| \`train.schema.json\` | lets editors complete and check \`train.yaml\` |${coldStart ? COLD_START_FILES : ''}

## Is it better?

\`\`\`sh
gradus eval --data test.jsonl --rubric rubric.yaml --model ${word} --adapter runs/train-seed1/checkpoints/step-0000${fit.steps} --against ${word} --html eval.html
\`\`\`

Read twenty answers before you believe a score. These rows are of the kind that was trained on; a benchmark by somebody else says more: \`gradus eval --task ifeval --data FILE\`.

## Make it yours

A row is \`{"prompt": "..."}\` or \`{"prompt": "...", "criteria": [...]}\`; a criterion has an \`id\`, a \`text\`, \`points\`, and a rule that checks it (\`gradus grade --rules\` lists them) or a judge. Say in criteria what must not be lost, too: what is not paid for is given up.
`
}

const linesOf = (file: string | Uint8Array): string[] =>
  Buffer.from(file).toString('utf8').trimEnd().split('\n')
const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`

const isPath = (model: string): boolean => modelNameOf(model) === null && !model.startsWith('package:')

const rubricText = (): string =>
  `# What every answer should be; rows have criteria of their own. gradus grade --rules lists the rules.\n${stringify({ criteria: SHARED_CRITERIA })}`

/** Whether rows are of instructions, in place of the example's, and whether demonstrations come first. */
export interface TrainingKind {
  instructions: boolean
  coldStart: boolean
}

export interface ModelTraining {
  files: Files
  /** As settings name it. */
  model: string
  fit: FittedSettings
}

/**
 * Files of a training of a model: settings for its size and this machine's memory, rows of instructions or the example's.
 * @param example files of the example that ships
 * @throws CheckpointError for a model that cannot be used
 */
export const modelTraining = async (
  named: string,
  { instructions, coldStart }: TrainingKind,
  example: Files,
): Promise<ModelTraining> => {
  const place = await fetchModel(named, { only: 'config' })
  // Trained from within the new folder: a path has to hold there too.
  const model = isPath(named) ? resolve(named) : named
  // The shape of a GGUF file stands in its header.
  const config = loadConfig(existsSync(place) ? place : await fetchModel(named))
  const fit = fittedSettings(config, memoryHere(), coldStart ? 'demonstrations' : 'nothing')
  const tested = instructions ? ROWS.test : ROWS.example
  const rows = instructions
    ? instructionRows(ROWS.instructions + ROWS.test, 1, fit.maxTokens).map(row => JSON.stringify(row))
    : linesOf(example.get('rows.jsonl')!)
  const files: Files = new Map([
    ['rows.jsonl', textOf(rows.slice(0, -tested))],
    ['test.jsonl', textOf(rows.slice(-tested))],
    ['rubric.yaml', instructions ? rubricText() : example.get('rubric.yaml')!],
    ['train.yaml', settingsText(model, fit, tested)],
    ['README.md', pageText(model, config, fit, { instructions, coldStart }, tested)],
  ])
  return { files, model, fit }
}
