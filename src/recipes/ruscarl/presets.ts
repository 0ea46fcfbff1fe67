/** @file Named settings of ruscarl: the miniature in minutes, the long run. */

/** What the packing task needs: about a million-fold less than the paper's, with the paper's schedule. */
const MINIATURE = {
  rollout: { prompts: 16, samples: 8, maxTokens: 26, temperature: 1 },
  minibatches: 2,
  optimizer: { learningRate: { kind: 'linear', peak: 1e-3, warmup: 5, floor: 0.1 }, beta2: 0.95 },
  loss: { preset: 'gradus:ruscarl', kl: { kind: 'none', coef: 0 } },
}

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const presets: Readonly<Record<string, { summary: string; config: Record<string, unknown> }>> = {
  quick: {
    summary: 'cold start and 120 steps on the packing task, some minutes on 2 cores',
    config: {
      coldStart: { steps: 800 },
      ...MINIATURE,
      steps: 120,
      evaluation: { problems: 300, every: 30, problemsBetween: 150 },
    },
  },
  full: {
    summary: 'the miniature of the experiments: a longer cold start, 300 steps',
    config: {
      coldStart: {},
      ...MINIATURE,
      steps: 300,
      rollout: { ...MINIATURE.rollout, prompts: 32 },
      evaluation: { problems: 2048, every: 50, problemsBetween: 300 },
    },
  },
}
