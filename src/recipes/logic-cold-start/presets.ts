/** @file Named settings of logic-cold-start: what made the shipped models, and two plain curricula. */

type Source = Readonly<Record<string, unknown>>

/** A curriculum told by the names of its sources: at each place in the training, the weights of those that are drawn from. */
const curriculumOf = <Name extends string>(
  sources: Readonly<Record<Name, Source>>,
  knots: readonly (readonly [at: number, weights: Readonly<Partial<Record<Name, number>>>])[],
) => {
  const names = Object.keys(sources) as Name[]
  return {
    kind: 'custom',
    sources: names.map(name => sources[name]),
    knots: knots.map(([at, weights]) => ({ at, weights: names.map(name => weights[name] ?? 0) })),
  }
}

/**
 * Short chains first, then chains like the real rows; in the last eighth a sixth of the demonstrations have four or five hops,
 * so that a five-hop proof is rare but not unheard of when reinforcement begins.
 */
const START = {
  steps: 1500,
  curriculum: curriculumOf(
    {
      first2: { hops: 2, nodes: [3, 4] },
      first3: { hops: 3, nodes: [4, 5] },
      hops1: { hops: 1 },
      hops2: { hops: 2 },
      hops3: { hops: 3 },
      hops4: { hops: 4 },
      hops5: { hops: 5 },
    },
    [
      [0, { first2: 1, first3: 2 }],
      [0.25, { first2: 0.3, first3: 2, hops1: 0.1, hops2: 0.1, hops3: 0.5 }],
      [0.4, { first2: 0.1, first3: 0.5, hops1: 0.3, hops2: 0.4, hops3: 2 }],
      [0.86, { first3: 0.1, hops1: 0.3, hops2: 0.4, hops3: 2 }],
      [0.88, { hops1: 0.3, hops2: 0.4, hops3: 2, hops4: 0.3, hops5: 0.3 }],
      [1, { hops1: 0.3, hops2: 0.4, hops3: 2, hops4: 0.3, hops5: 0.3 }],
    ],
  ),
  optimizer: { learningRate: { kind: 'cosine', peak: 1.5e-3, warmup: 50, floor: 0.1 } },
  evaluation: { hops: [3, 5] },
}

/**
 * Proofs of at most three hops, never longer: what reinforcement then has to go beyond. Drills begin with ten kinds; then all
 * kinds, and up to twelve beside the path, so that problems are as long as those of many hops.
 */
export const THREE_HOPS = {
  steps: 3000,
  batch: 64,
  style: 'shortcut-free',
  vocabulary: 'long',
  kinds: 24,
  numberedTo: 33,
  model: { shape: { maxPositions: 448 } },
  curriculum: curriculumOf(
    {
      drill2: { hops: 1, recite: 2, kinds: 10 },
      drill4: { hops: 1, recite: 4, kinds: 10 },
      drill8: { hops: 1, recite: 8, kinds: 10 },
      drill16: { hops: 3, recite: 16, sideKinds: [1, 12] },
      drill24: { hops: 3, recite: 24, sideKinds: [4, 12] },
      hops1: { hops: 1, sideKinds: [1, 12] },
      hops2: { hops: 2, sideKinds: [1, 12] },
      hops3: { hops: 3, sideKinds: [1, 12] },
    },
    [
      [0, { drill2: 1 }],
      [0.07, { drill2: 1, drill4: 0.5 }],
      [0.12, { drill2: 0.3, drill4: 1, drill8: 0.5 }],
      [0.18, { drill4: 0.5, drill8: 1, drill16: 0.5 }],
      [0.25, { drill4: 0.2, drill8: 1, drill16: 1, drill24: 0.2, hops1: 0.3 }],
      [0.35, { drill8: 0.3, drill16: 1, drill24: 0.5, hops1: 1, hops2: 0.5, hops3: 0.2 }],
      [0.5, { drill16: 0.5, drill24: 0.5, hops1: 0.7, hops2: 1, hops3: 0.7 }],
      [0.7, { drill16: 0.2, drill24: 0.3, hops1: 0.4, hops2: 1, hops3: 1.5 }],
      [1, { drill16: 0.1, drill24: 0.2, hops1: 0.3, hops2: 1, hops3: 2 }],
    ],
  ),
  optimizer: { learningRate: { kind: 'cosine', peak: 1.5e-3, warmup: 50, floor: 0.05 } },
  evaluation: { every: 500, hops: [1, 3, 5, 8], problems: 200, samples: 0, maxTokens: 160 },
}

/** Changes to the defaults, by preset. The first is the one that a bare command runs. */
export const presets: Readonly<Record<string, { summary: string; config: Record<string, unknown> }>> = {
  short: {
    summary: 'proofs of one to three hops only, about a million parameters',
    config: { curriculum: { kind: 'short-proofs', maxHops: 3 } },
  },
  start: {
    summary:
      'what made models/logic-start: mostly proofs of up to three hops, a taste of longer ones at the end',
    config: START,
  },
  growing: {
    summary: 'proofs that grow to five hops',
    config: { curriculum: { kind: 'growing' }, steps: 3000 },
  },
  'three-hops': {
    summary: 'what made models/logic-short: without cues, in any order, at most three hops and never more',
    config: THREE_HOPS,
  },
}
