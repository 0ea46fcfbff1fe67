/** @file The rlcer recipe as the command line knows it, with its presets: the miniature in minutes, the long run, the paper's numbers. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import type { Presets, RecipeEntry } from '../common/recipe.ts'
import { type RlcerConfig, rlcerSchema } from './config.ts'
import { planRlcer } from './plan.ts'

/** What the arithmetic task needs: about a million-fold less than the paper's, with the paper's N and alpha. */
const MINIATURE = {
  rollout: { prompts: 16, samples: 8, maxTokens: 96, temperature: 1 },
  rubricator: { maxTokens: 112 },
  optimizer: { learningRate: { kind: 'linear', peak: 3e-4, warmup: 5, floor: 0.1 }, beta2: 0.95 },
  // One norm clips the gradient of both: with the paper's weight the value's part leaves the policy little of it.
  critic: { coef: 0.05, learningRate: { kind: 'linear', peak: 3e-3, warmup: 5, floor: 0.1 } },
}

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const rlcerPresets: Presets = {
  quick: {
    summary:
      'arithmetic from a shipped start: thinking is paid for by rubrics that the policy proposes, minutes on 2 cores',
    config: {
      model: { folder: 'package:models/arithmetic-start' },
      ...MINIATURE,
      steps: 60,
      evaluation: { problems: 300, every: 20, problemsBetween: 150, rubrics: 50, temperature: 1 },
    },
  },
  full: {
    summary: 'the miniature of the experiments: a cold start of its own, 300 steps',
    config: {
      coldStart: {},
      ...MINIATURE,
      steps: 300,
      evaluation: { problems: 2048, every: 50, problemsBetween: 300, temperature: 1 },
    },
  },
  paper: {
    summary:
      "the paper's setting: DAPO mathematics, Qwen3-8B-Base after `sft --preset paper-rlcer`, a verifier of 4B (needs a cluster)",
    config: {
      model: { folder: 'models/Qwen3-8B-Base' },
      task: {
        kind: 'questions',
        format: 'dapo',
        file: 'data/dapo-math-17k.jsonl',
        testFile: 'data/aime24.jsonl',
        testFormat: 'aime',
        tests: {
          aime25: { file: 'data/aime25.jsonl', format: 'aime' },
          amc23: { file: 'data/amc23.jsonl', format: 'amc' },
          'gpqa-diamond': { file: 'data/gpqa-diamond.jsonl', format: 'gpqa' },
          'supergpqa-eng': { file: 'data/supergpqa-eng.jsonl', format: 'supergpqa' },
          'supergpqa-med': { file: 'data/supergpqa-med.jsonl', format: 'supergpqa' },
          'supergpqa-sci': { file: 'data/supergpqa-sci.jsonl', format: 'supergpqa' },
        },
        maxPromptTokens: 16_384,
        maxRubricatorTokens: 16_384,
      },
      verifier: {
        kind: 'judge',
        judge: {
          fleet: {
            endpoints: [{ url: 'http://127.0.0.1:8000/v1', model: 'Qwen/Qwen3-4B', concurrency: 512 }],
          },
        },
      },
      steps: 1500,
      rollout: { prompts: 32, samples: 8, maxTokens: 12_288, temperature: 1, topP: 1 },
      rubricator: { maxTokens: 12_288, format: { requireDomain: true } },
      overlong: { buffer: 4096 },
      policy: { microBatchTokens: 1024, recompute: true },
      // Warm-up is the actor's and the critic's.
      optimizer: {
        learningRate: { kind: 'constant', peak: 1e-6, warmup: 10 },
        beta2: 0.999,
        weightDecay: 0.1,
        maxGradNorm: 1,
      },
      critic: { learningRate: { kind: 'constant', peak: 1e-5, warmup: 10 }, own: {} },
      // A mini-batch of 64 prompts, both roles' of 32 questions, is one optimiser step.
      minibatches: 1,
      dropZero: false,
      evaluation: {
        every: 50,
        // Of each set; AIME has 30 problems, AMC 40, GPQA-Diamond 198, each part of SuperGPQA 100.
        problems: 198,
        problemsBetween: 40,
        samples: 16,
        temperature: 0.7,
        bestOf: [16],
        rubrics: 30,
      },
      checkpoint: { every: 50 },
    },
  },
}

export const rlcerEntry: RecipeEntry<RlcerConfig> = withDataFiles(
  {
    name: 'rlcer',
    summary:
      'thinking paid for by rubrics that the policy proposes itself, as far as they go with being right (RLCER)',
    schema: rlcerSchema,
    presets: rlcerPresets,
    plan: planRlcer,
    run: async (config, options) => (await import('./run.ts')).runRlcer(config, options),
  },
  ({ task, anchors, verifier }) => [
    ...taskFiles({ task }),
    { path: anchors?.file },
    { path: verifier.kind === 'rules' ? verifier.file : null },
  ],
)
