/** @file Named settings of rit: the miniature in minutes, the long run, the paper's numbers. */

/** What packing with thinking needs. */
const MINIATURE = {
  rollout: { prompts: 16, samples: 8, maxTokens: 56, temperature: 1 },
  minibatches: 2,
  optimizer: { learningRate: { kind: 'linear', peak: 1e-3, warmup: 5, floor: 0.1 }, beta2: 0.95 },
}

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const presets: Readonly<Record<string, { summary: string; config: Record<string, unknown> }>> = {
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
}
