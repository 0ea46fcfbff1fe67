/** @file Named settings of rubricem: the miniature in minutes, the long run. */

const MINIATURE = {
  rollout: { prompts: 16, samples: 8, maxTokens: 48, temperature: 1 },
  optimizer: { learningRate: { kind: 'linear', peak: 5e-4, warmup: 5, floor: 0.1 }, beta2: 0.95 },
  evolving: { refuse: { similarity: null, tagChecks: false, otherStages: false, orders: false } },
}

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const presets: Readonly<Record<string, { summary: string; config: Record<string, unknown> }>> = {
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
}
