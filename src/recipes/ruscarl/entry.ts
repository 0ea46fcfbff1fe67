/** @file The ruscarl recipe as the command line knows it, with its presets: the miniature in minutes, the long run, the paper's numbers. */

import { taskFiles, withDataFiles } from '../common/data-files.ts'
import { miniature, type Presets, type RecipeEntry } from '../common/recipe.ts'
import { type RuscarlConfig, ruscarlSchema } from './config.ts'
import { planRuscarl } from './plan.ts'

/** What the packing task needs: about a million-fold less than the paper's, with the paper's schedule. */
const MINIATURE = miniature(26)
const LOSS = { loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } } }

/** The packing task in half a minute, of every method that learns it. @param more settings of the method's own */
export const quickPacking = (more: Record<string, unknown> = {}) => ({
  summary: '120 steps on the packing task from a shipped start, half a minute on 2 cores',
  config: {
    model: { folder: 'package:models/packing-start' },
    ...MINIATURE,
    ...more,
    steps: 120,
    evaluation: { problems: 300, every: 30, problemsBetween: 150 },
  },
})

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const ruscarlPresets: Presets = {
  quick: quickPacking(LOSS),
  full: {
    summary: 'the miniature of the experiments: a longer cold start, 300 steps',
    config: {
      coldStart: {},
      ...MINIATURE,
      ...LOSS,
      steps: 300,
      rollout: { ...MINIATURE.rollout, prompts: 32 },
      evaluation: { problems: 2048, every: 50, problemsBetween: 300 },
    },
  },
  paper: {
    summary: "the paper's setting: HealthBench, Qwen2.5-7B-Instruct, a judge of 32B (needs a cluster)",
    config: {
      model: { folder: 'models/Qwen2.5-7B-Instruct' },
      task: { kind: 'conversations', file: 'data/healthbench.jsonl', holdOut: 500, maxPromptTokens: 4096 },
      judge: {
        fleet: {
          endpoints: [
            {
              url: 'http://127.0.0.1:8000/v1',
              model: 'Qwen/Qwen3-32B',
              concurrency: 512,
              sendTopK: true,
              attemptTimeoutMs: 600_000,
              extraBody: { chat_template_kwargs: { enable_thinking: false } },
            },
          ],
          // The authors' code tries for ever, waiting min(2^k, 300) s; ours for a day.
          retries: 300,
          backoffMs: 2000,
          longestBackoffMs: 300_000,
          deadlineMs: 86_400_000,
          outageMs: 86_400_000,
        },
        // A server that refuses it is asked without, and that is logged.
        ask: { topK: 20 },
      },
      steps: 350,
      rollout: { prompts: 64, samples: 8, maxTokens: 4096, temperature: 0.7, topP: 0.8, topK: 20 },
      scaffold: { group: { kind: 'linear' }, decay: { kind: 'sigmoid', alpha: 125, t0: 0.2 } },
      ratio: 'plain',
      minibatches: 2,
      policy: { recompute: true },
      optimizer: {
        learningRate: { kind: 'constant', peak: 1e-6 },
        beta2: 0.999,
        weightDecay: 0.01,
        maxGradNorm: 1,
      },
      loss: 'gradus:ruscarl',
      dropZero: false,
      advantage: { scale: 'group', ddof: 1, epsilon: 1e-6 },
      // Appendix B.2: every evaluation of the paper samples as its training does.
      evaluation: {
        every: 5,
        problems: 500,
        problemsBetween: 500,
        samples: 1,
        temperature: 0.7,
        topP: 0.8,
        topK: 20,
        scaffolded: false,
      },
      checkpoint: { every: 20 },
    },
  },
}

export const ruscarlEntry: RecipeEntry<RuscarlConfig> = withDataFiles(
  {
    name: 'ruscarl',
    summary: 'rubrics as scaffolding while exploring, and as rewards (RuscaRL)',
    schema: ruscarlSchema,
    presets: ruscarlPresets,
    plan: planRuscarl,
    run: async (config, options) => (await import('./run.ts')).runRuscarl(config, options),
  },
  taskFiles,
)
