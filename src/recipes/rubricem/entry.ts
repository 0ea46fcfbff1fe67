/** @file The rubricem recipe as the command line knows it, with its presets: the miniature in minutes, the long run, the paper's numbers. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { Presets, RecipeEntry } from '../common/recipe.ts'
import { PLACEHOLDERS, type RubricemConfig, rubricemSchema } from './config.ts'
import { planRubricem } from './plan.ts'

const MINIATURE = {
  rollout: { prompts: 16, samples: 8, maxTokens: 48, temperature: 1 },
  optimizer: { learningRate: { kind: 'linear', peak: 5e-4, warmup: 5, floor: 0.1 }, beta2: 0.95 },
  evolving: { refuse: { similarity: null, tagChecks: false, otherStages: false, orders: false } },
  loss: { preset: 'gradus:rubricem', kl: { kind: 'none', coef: 0 } },
}

/** Any endpoint that speaks the chat API; the paper's judge is Gemini Flash. */
const CHAT_JUDGE = {
  kind: 'chat',
  fleet: { endpoints: [{ url: PLACEHOLDERS.judge, model: 'judge', concurrency: 64 }] },
}

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const rubricemPresets: Presets = {
  quick: {
    summary:
      'look-ups that depend on each other, from a shipped start: credit by stage and a memory of lessons',
    config: {
      model: { folder: 'package:models/records-start' },
      ...MINIATURE,
      steps: 60,
      evaluation: { problems: 300, every: 20, problemsBetween: 150 },
    },
  },
  full: {
    summary: 'the miniature of the experiments: a cold start of its own, 300 steps',
    config: {
      coldStart: {},
      ...MINIATURE,
      steps: 300,
      evaluation: { problems: 2048, every: 50, problemsBetween: 300 },
    },
  },
  research: {
    summary:
      'your questions, your tools, your judge, any chat model: sizes for one machine, all paths to be set',
    config: {
      model: { folder: 'models/chat', lora: {} },
      task: { kind: 'research', file: 'data/questions.jsonl', maxPromptTokens: 6144, maxTokens: 10_240 },
      judge: CHAT_JUDGE,
      credit: { failed: 'answer' },
      steps: 60,
      rollout: { prompts: 8, samples: 8, maxTokens: 2048, temperature: 1 },
      reflection: { maxTokens: 1024 },
      optimizer: { learningRate: { kind: 'constant', peak: 1e-5, warmup: 5 } },
      policy: { microBatchTokens: 1024 },
      evaluation: { every: 20, problems: 100, problemsBetween: 50, reuse: false },
      checkpoint: { every: 5 },
    },
  },
  paper: {
    summary: "the paper's setting: Qwen3-8B, 1400 steps (600 in its ablations), web tools (needs a cluster)",
    config: {
      model: { folder: 'models/Qwen3-8B' },
      task: {
        kind: 'research',
        file: 'data/research-questions.jsonl',
        testFile: 'data/research-test.jsonl',
        rules: { maxCalls: 10 },
        maxPromptTokens: 8192,
        maxTokens: 18_432,
        maxReflectorTokens: 26_624,
      },
      judge: CHAT_JUDGE,
      evolving: { caps: [3, 2, 2, 3], shownCharacters: { generate: null, score: null } },
      credit: { mode: 'stages', failed: 'answer' },
      steps: 1400,
      rollout: { prompts: 32, samples: 8, maxTokens: 18_432, temperature: 1, topP: 1 },
      reflection: { candidates: 8, temperature: 0.7, maxTokens: 2048, utility: 'd62' },
      memory: {
        kind: 'bank',
        top: 2,
        writeEverySteps: 10,
        embedder: {
          kind: 'endpoint',
          url: PLACEHOLDERS.embedder,
          model: 'Qwen/Qwen3-Embedding-0.6B',
        },
      },
      window: { steps: 3 },
      policy: { microBatchTokens: 1024, recompute: true },
      optimizer: {
        learningRate: { kind: 'constant', peak: 5e-7, warmup: 0 },
        beta2: 0.999,
        weightDecay: 0,
        maxGradNorm: 1,
      },
      dropZero: false,
      pipeline: true,
      // Main evaluations use no memory; reuse is a study of its own.
      evaluation: { every: 100, problems: 100, problemsBetween: 100, reuse: false },
      checkpoint: { every: 10 },
    },
  },
}

export const rubricemEntry: RecipeEntry<RubricemConfig> = withDataFiles(
  {
    name: 'rubricem',
    summary:
      'research agents with credit by stage, a judge whose rubrics evolve, reflection and memory (RubricEM)',
    schema: rubricemSchema,
    presets: rubricemPresets,
    plan: planRubricem,
    run: async (config, options) => (await import('./run.ts')).runRubricem(config, options),
  },
  config => [
    ...taskFiles(config),
    { path: config.anchors?.file },
    { path: config.task.kind === 'research' ? config.task.articles : null },
  ],
)
