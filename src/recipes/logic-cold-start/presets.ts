/** @file Named settings of logic-cold-start: for the shipped models, from look-ups to proofs, and plain curricula. */

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
 * Look-ups first: rules to say again, two of one sort, then more. Rules between kinds are found by their subject after some 300 steps
 * of two of them, properties only after some 600 more, and with heads of 16; proofs before that teach to guess them.
 * @param few of the drills with few rules
 * @param many of those with sixteen of both sorts
 */
const drillsOf = (few: Source, many: Source) => ({
  properties2: { hops: 1, recite: 2, reciteOnly: 'properties', ...few },
  properties4: { hops: 1, recite: 4, reciteOnly: 'properties', ...few },
  properties8: { hops: 3, recite: 8, reciteOnly: 'properties', ...few },
  properties16: { hops: 3, recite: 16, reciteOnly: 'properties', ...few },
  kinds2: { hops: 1, recite: 2, reciteOnly: 'kinds', ...few },
  kinds4: { hops: 1, recite: 4, reciteOnly: 'kinds', ...few },
  kinds8: { hops: 3, recite: 8, reciteOnly: 'kinds', ...few },
  rules8: { hops: 1, recite: 8, ...few },
  rules16: { hops: 3, recite: 16, ...many },
})

/**
 * Proofs of at most three hops, never longer: what reinforcement then has to go beyond. Drills begin with ten kinds; then all
 * kinds, and up to twelve beside the path, so that problems are as long as those of many hops. Where to stop is told by the
 * properties alone: one to four kinds are above.
 */
export const THREE_HOPS = {
  steps: 3100,
  batch: 64,
  style: 'shortcut-free',
  vocabulary: 'long',
  kinds: 24,
  numberedTo: 33,
  model: { shape: { maxPositions: 448, heads: 8 } },
  curriculum: curriculumOf(
    {
      ...drillsOf({ kinds: 10 }, { sideKinds: [1, 12] }),
      rules24: { hops: 3, recite: 24, sideKinds: [4, 12] },
      hops1: { hops: 1, sideKinds: [1, 12], above: [1, 4] },
      hops2: { hops: 2, sideKinds: [1, 12], above: [1, 4] },
      hops3: { hops: 3, sideKinds: [1, 12], above: [1, 4] },
    },
    [
      [0, { kinds2: 1 }],
      [0.0806, { kinds2: 1, kinds4: 0.3, properties2: 0.1 }],
      [0.1065, { kinds4: 0.5, properties2: 1 }],
      [0.1935, { kinds4: 0.4, properties2: 1, properties4: 0.2 }],
      [0.2581, { kinds4: 0.4, properties4: 1 }],
      [0.371, { kinds4: 0.3, properties4: 1, properties8: 0.2 }],
      [0.4032, { kinds8: 0.5, properties8: 1 }],
      [0.4355, { rules8: 0.5, kinds8: 0.5, properties16: 1 }],
      [0.4613, { properties16: 0.5, kinds8: 0.5, rules16: 1 }],
      [0.5, { properties16: 0.2, rules16: 1, rules24: 0.3, hops1: 1, hops2: 0.5 }],
      [0.5645, { rules16: 0.4, rules24: 0.3, hops1: 1, hops2: 1, hops3: 1 }],
      [0.7419, { rules16: 0.1, rules24: 0.2, hops1: 1, hops2: 1, hops3: 1.5 }],
      [1, { rules24: 0.1, hops1: 0.8, hops2: 1, hops3: 2 }],
    ],
  ),
  optimizer: { learningRate: { kind: 'cosine', peak: 1.5e-3, warmup: 50, floor: 0.03 } },
  evaluation: { every: 500, hops: [1, 2, 3, 4, 5, 8], problems: 200, samples: 0, maxTokens: 160 },
}

/** One to five hops, without cues and in the real rows' style, in their order and shuffled. Proofs say what they pass. */
const FULL = {
  steps: 3200,
  batch: 64,
  style: 'shortcut-free',
  vocabulary: 'long',
  proofs: 'looking',
  model: { shape: { maxPositions: 320, heads: 8 } },
  curriculum: curriculumOf(
    {
      ...drillsOf({}, {}),
      hops1: { hops: 1, above: [1, 3] },
      hops2: { hops: 2, above: [1, 3] },
      hops3: { hops: 3, above: [1, 3] },
      hops4: { hops: 4 },
      hops5: { hops: 5 },
      real1: { hops: 1, style: 'real' },
      real3: { hops: 3, style: 'real' },
      real5: { hops: 5, style: 'real' },
      shuffled1: { hops: 1, style: 'real', order: 'shuffled' },
      shuffled2: { hops: 2, style: 'real', order: 'shuffled' },
      shuffled3: { hops: 3, style: 'real', order: 'shuffled' },
      shuffled4: { hops: 4, style: 'real', order: 'shuffled' },
      shuffled5: { hops: 5, style: 'real', order: 'shuffled' },
    },
    [
      [0, { properties2: 1, kinds2: 1 }],
      [0.0938, { properties2: 1, kinds2: 1, properties4: 0.1, kinds4: 0.1 }],
      [0.1562, { properties2: 0.2, kinds2: 0.2, properties4: 1, kinds4: 0.7 }],
      [0.3438, { properties4: 1, kinds4: 0.7, properties8: 0.1 }],
      [0.4062, { properties4: 0.3, properties8: 1, kinds8: 1 }],
      [0.4531, { properties16: 1, kinds8: 1, rules16: 0.5 }],
      [0.5, { properties16: 0.2, rules16: 1, hops1: 1, hops2: 0.5, shuffled1: 0.3, shuffled2: 0.2 }],
      [
        0.5469,
        {
          ...{ properties8: 0.1, rules16: 0.2 },
          ...{ hops1: 0.5, hops2: 0.5, hops3: 1, hops4: 0.5, hops5: 0.5, real1: 0.1, real3: 0.1, real5: 0.2 },
          ...{ shuffled1: 0.3, shuffled2: 0.3, shuffled3: 0.5, shuffled4: 0.4, shuffled5: 0.5 },
        },
      ],
      [
        1,
        {
          ...{ hops1: 0.3, hops2: 0.3, hops3: 0.6, hops4: 0.8, hops5: 2, real1: 0.2, real3: 0.3, real5: 1 },
          ...{ shuffled1: 0.3, shuffled2: 0.3, shuffled3: 0.6, shuffled4: 0.7, shuffled5: 2 },
        },
      ],
    ],
  ),
  optimizer: { learningRate: { kind: 'cosine', peak: 1.5e-3, warmup: 50, floor: 0.02 } },
  evaluation: {
    ...{ every: 500, hops: [1, 3, 5], problems: 400, samples: 0, maxTokens: 150 },
    sets: ['shortcut-free', 'train-distribution', 'train-distribution-shuffled'],
  },
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
    summary: 'without cues, in any order, at most three hops and never more',
    config: THREE_HOPS,
  },
  full: {
    summary: 'one to five hops, with and without cues, in any order; about an hour of one core',
    config: FULL,
  },
}
