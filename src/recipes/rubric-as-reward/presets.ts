/** @file Named settings of rubric-as-reward: what `npm start` runs, the long run, and the paper's numbers. */

/** What gained in the experiments: five-hop proofs, all or nothing, two updates a step at a falling rate, no KL. */
const VERIFIED_PROOFS = {
  task: { hops: 5, style: 'real' },
  condition: 'proof',
  minibatches: 2,
  optimizer: { learningRate: { kind: 'linear', peak: 3e-4, warmup: 5, floor: 0.1 }, beta2: 0.95 },
  loss: { preset: 'gradus:rar5', kl: { kind: 'none', coef: 0 } },
}

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const presets: Readonly<Record<string, { summary: string; config: Record<string, unknown> }>> = {
  quick: {
    summary: 'a small shipped model learns five-hop proofs by verification, a few minutes on 2 cores',
    config: {
      model: { folder: 'package:models/logic-start' },
      ...VERIFIED_PROOFS,
      steps: 80,
      rollout: { prompts: 32, samples: 8 },
      evaluation: { problems: 250, samples: 2, every: 20, problemsBetween: 100 },
    },
  },
  full: {
    summary: 'cold start and reinforcement from nothing, up to 90 minutes on 2 cores',
    config: {
      coldStart: { steps: 11_000, curriculum: { kind: 'growing' }, evaluation: { hops: [5], every: 2000 } },
      ...VERIFIED_PROOFS,
      steps: 140,
      // After so long a cold start most groups agree at temperature 1; a higher one shows where the policy wavers.
      rollout: { prompts: 96, samples: 8, temperature: 1.4 },
      optimizer: {
        ...VERIFIED_PROOFS.optimizer,
        learningRate: { ...VERIFIED_PROOFS.optimizer.learningRate, peak: 6e-4 },
      },
      evaluation: { problems: 500, samples: 2 },
      checkpoint: { every: 50 },
    },
  },
  paper: {
    summary: "the paper's setting: Qwen2.5-3B-Instruct with LoRA, 250 steps (needs far more than a laptop)",
    config: {
      model: { folder: 'models/Qwen2.5-3B-Instruct', lora: { rank: 32, alpha: 64 } },
      // The paper says what it tests on (109 FOLIO and 57 ProntoQA problems) and nothing of what it trains on: FOLIO's own
      // training rows, and ProntoQA's generator, in the same proportion. ProntoQA has no Unknown.
      task: {
        prompt: 'chat',
        hops: 5,
        style: 'real',
        sources: [
          { kind: 'folio', path: 'folio-train.jsonl', weight: 109 },
          { kind: 'generated', name: 'prontoqa', weight: 57 },
        ],
      },
      condition: 'rubric',
      steps: 250,
      // The paper gives no length; a five-hop proof takes about 250 tokens. One sequence at a time is the least memory.
      rollout: { prompts: 8, samples: 8, maxTokens: 512 },
      policy: { microBatchTokens: 1024 },
      optimizer: { learningRate: { kind: 'constant', peak: 5e-6 }, beta2: 0.999 },
      loss: { preset: 'gradus:rar5', kl: { kind: 'k3', coef: 0.04 } },
      dropZero: false,
      evaluation: {
        sources: [
          { kind: 'folio', path: 'folio-validation.jsonl', weight: 109 },
          { kind: 'prontoqa', path: 'prontoqa-dev.jsonl', weight: 57 },
        ],
        sets: [],
        problems: 166,
        problemsBetween: 166,
        samples: 1,
        every: 50,
      },
      checkpoint: { every: 25 },
    },
  },
}
