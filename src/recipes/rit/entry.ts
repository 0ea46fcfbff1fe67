/** @file The rit recipe as the command line knows it, with its presets: the miniature in minutes, the long run, the paper's numbers. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import { miniature, type Presets, type RecipeEntry } from '../common/recipe.ts'
import { type RitConfig, ritSchema } from './config.ts'
import { planRit } from './plan.ts'

/** What packing with thinking needs. */
const MINIATURE = miniature(56)

/** What both kinds of tasks have in the paper (appendix A.1); lengths and temperature of judging are not in it. */
const PAPER = {
  model: { folder: 'models/Qwen3-8B' },
  judge: {
    fleet: {
      endpoints: [
        {
          url: 'http://127.0.0.1:8000/v1',
          model: 'Qwen/Qwen3-235B-A22B-Instruct-2507',
          concurrency: 256,
          attemptTimeoutMs: 600_000,
        },
      ],
    },
  },
  rollout: { samples: 8, maxTokens: 8192, temperature: 1 },
  optimizer: {
    learningRate: { kind: 'constant', peak: 2e-6 },
    beta2: 0.999,
    weightDecay: 0.01,
    maxGradNorm: 1,
  },
  loss: { preset: 'verl:grpo', kl: { kind: 'none', coef: 0 } },
  policy: { recompute: true },
  dropZero: false,
  advantage: { scale: 'group', ddof: 1, epsilon: 1e-6 },
  evaluation: { every: 20, problems: 500, samples: 8, problemsBetween: 60, samplesBetween: 1 },
  checkpoint: { every: 20 },
}

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const ritPresets: Presets = {
  quick: {
    summary: '80 steps on packing lists with thinking, from a shipped start, about three minutes on 2 cores',
    config: {
      model: { folder: 'package:models/packing-thinking-start' },
      ...MINIATURE,
      steps: 80,
      evaluation: { problems: 200, every: 40, problemsBetween: 150 },
    },
  },
  arithmetic: {
    summary: '80 steps on arithmetic, whose answers are right or wrong, from a shipped start',
    config: {
      model: { folder: 'package:models/arithmetic-start' },
      task: { kind: 'arithmetic' },
      // As the paper has it for answers that are right or wrong.
      fusion: { alpha: 1 },
      ...MINIATURE,
      rollout: { ...MINIATURE.rollout, maxTokens: 96 },
      steps: 80,
      evaluation: { problems: 200, every: 40, problemsBetween: 150 },
    },
  },
  full: {
    summary: 'the miniature of the experiments: 300 steps of twice as many prompts',
    config: {
      model: { folder: 'package:models/packing-thinking-start' },
      ...MINIATURE,
      steps: 300,
      rollout: { ...MINIATURE.rollout, prompts: 32 },
      evaluation: { problems: 2048, every: 50, problemsBetween: 300 },
    },
  },
  paper: {
    summary:
      "the paper's setting for open answers: LongBench-Write, Qwen3-8B, a judge of 235B (needs a cluster)",
    config: {
      ...PAPER,
      task: { kind: 'questions', format: 'longbench-write', file: 'data/longbench-write.jsonl' },
      rubric: { source: 'file', file: 'package:examples/thinking/longbench-write.yaml' },
      fusion: { alpha: 0.5, gate: 'min' },
      steps: 200,
      // Rows ask for up to 12,000 words (English), some 16,000 tokens, and are thought about before; Qwen3 writes up to this.
      rollout: { ...PAPER.rollout, prompts: 32, maxTokens: 32_768 },
    },
  },
  'paper-reasoning': {
    summary: "the paper's setting for right or wrong answers: StrategyQA, Qwen3-8B (needs a cluster)",
    config: {
      ...PAPER,
      // The official development set is the paper's test set.
      task: {
        ...{ kind: 'questions', format: 'strategyqa' },
        ...{ file: 'data/strategyqa-train.jsonl', testFile: 'data/strategyqa-dev.jsonl' },
      },
      rubric: { source: 'file', file: 'package:examples/thinking/strategyqa.yaml' },
      fusion: { alpha: 1, gate: 'min' },
      steps: 500,
      rollout: { ...PAPER.rollout, prompts: 128 },
    },
  },
}

export const ritEntry: RecipeEntry<RitConfig> = withDataFiles(
  {
    name: 'rit',
    summary: 'rubrics for the thinking before an answer, fused with the answer’s reward through a gate (RiT)',
    schema: ritSchema,
    presets: ritPresets,
    plan: planRit,
    run: async (config, options) => (await import('./run.ts')).runRit(config, options),
  },
  config => [{ path: config.rubric.file }, ...taskFiles(config)],
)
