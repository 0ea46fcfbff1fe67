/** @file Named settings of learning logic: for the shipped models, from look-ups to proofs, and plain curricula. */

import type { KeyframeWait } from '../../tasks/logic/curriculum-clock.ts'

type Source = Readonly<Record<string, unknown>>

/** A curriculum told by the names of its sources: at each place in the training, the weights of those that are drawn from. */
const curriculumOf = <Name extends string>(
  sources: Readonly<Record<Name, Source>>,
  keyframes: readonly (readonly [
    at: number,
    weights: Readonly<Partial<Record<Name, number>>>,
    until?: KeyframeWait,
  ])[],
) => {
  const names = Object.keys(sources) as Name[]
  return {
    kind: 'custom',
    sources: names.map(name => sources[name]),
    keyframes: keyframes.map(([at, weights, until]) => ({
      at,
      weights: names.map(name => weights[name] ?? 0),
      ...(until && { until }),
    })),
  }
}

/**
 * Short chains first, then chains like the real rows; in the last eighth a sixth of the demonstrations have four or five hops,
 * so that a five-hop proof is rare but not unheard of when reinforcement begins.
 */
const START = {
  steps: 1500,
  task: {
    tests: { hops: [3, 5] },
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
  },
  optimizer: { learningRate: { kind: 'cosine', peak: 1.5e-3, warmup: 50, floor: 0.1 } },
}

/** Ten kinds while rules are few, as the real rows have; then all. */
const [FEW, ALL] = [{ kinds: 10 }, { kinds: 24 }]

/**
 * Rules to say again, two of one sort, then more; and with a question, until the property that it asks about. Each is a look-up by
 * one word.
 * @param many of the drills with sixteen of both sorts
 */
const drillsOf = (many: Source) => ({
  properties2: { hops: 1, recite: 2, reciteOnly: 'properties', ...FEW },
  properties4: { hops: 1, recite: 4, reciteOnly: 'properties', ...FEW },
  properties8: { hops: 3, recite: 8, reciteOnly: 'properties', ...FEW },
  properties16: { hops: 3, recite: 16, reciteOnly: 'properties', ...FEW },
  kinds2: { hops: 1, recite: 2, reciteOnly: 'kinds', ...FEW },
  kinds4: { hops: 1, recite: 4, reciteOnly: 'kinds', ...FEW },
  kinds8: { hops: 3, recite: 8, reciteOnly: 'kinds', ...FEW },
  rules16: { hops: 3, recite: 16, ...many },
  asked2: { hops: 1, recite: 2, reciteOnly: 'properties', reciteAsked: 'reached', ...ALL },
  asked4: { hops: 1, recite: 4, reciteOnly: 'properties', reciteAsked: 'reached', ...ALL },
  asked8: { hops: 3, recite: 8, reciteOnly: 'properties', reciteAsked: 'reached', ...many },
})

type Weights<Name extends string> = Readonly<Partial<Record<Name, number>>>
type Keyframes<Name extends string> = readonly (readonly [share: number, weights: Weights<Name>])[]
type Drill = keyof ReturnType<typeof drillsOf>

/**
 * Look-ups first, a drill after the other; each waits until its loss is below so many nats a token, at most until the step that is
 * named, because the step at which a model finds rules by their subject differs from seed to seed (550 to beyond 900 for the first
 * of them), and what comes before its time teaches to guess.
 */
const DRILLS: readonly (readonly [weights: Weights<Drill>, loss: number, latest: number])[] = [
  [{ properties2: 1, properties4: 0.3 }, 0.015, 1400],
  [{ properties2: 0.2, properties4: 1 }, 0.01, 1600],
  [{ properties4: 0.3, properties8: 1 }, 0.012, 1900],
  [{ properties8: 0.5, properties16: 1, kinds2: 0.2 }, 0.02, 2300],
  [{ properties16: 0.5, kinds2: 0.5, kinds4: 0.7 }, 0.02, 2900],
  [{ properties16: 0.5, kinds8: 1, rules16: 1 }, 0.015, 3400],
  [{ asked2: 1, asked4: 1, properties16: 0.2, rules16: 0.5 }, 0.012, 4000],
  [{ asked4: 1, asked8: 1, rules16: 0.4 }, 0.012, 4500],
]

/** Steps that a drill's mean loss is taken over. */
const WINDOW = 40

/**
 * The drills, a step each beside their waiting, then keyframes of one's own.
 * @param steps of the whole training @param keyframes by their share of what is left of it behind the drills
 */
const afterDrills = <Name extends string>(steps: number, keyframes: Keyframes<Name | Drill>) => {
  const placeOf = (step: number) => Math.round(1e5 * (step / steps)) / 1e5
  const behind = placeOf(DRILLS.length)
  const waiting = DRILLS.map(
    ([weights, loss, latest], i) =>
      [
        placeOf(i),
        weights as Weights<Name | Drill>,
        { loss, window: WINDOW, atMost: placeOf(latest) },
      ] as const,
  )
  return [
    ...waiting,
    ...keyframes.map(([share, weights]) => [behind + share * (1 - behind), weights] as const),
  ]
}

/** What trains a model of 0.8 million parameters with heads of 16 to look rules up and to prove. */
const LOOKING = { style: 'shortcut-free', vocabulary: 'long', proofs: 'looking', numberedTo: 45 }

/**
 * Proofs of at most three hops, never longer: what reinforcement then has to go beyond. Up to twelve kinds are beside the path, so that
 * problems are as long as those of many hops, and one to four above: where to stop is told by the question alone.
 */
export const THREE_HOPS = {
  ...{ steps: 7500, batch: 64 },
  model: { shape: { maxPositions: 448, heads: 8 } },
  // At a falling rate kinds and questions are not learnt before their time is up, and the model guesses where to stop.
  optimizer: { learningRate: { kind: 'cosine', peak: 1.5e-3, warmup: 50, hold: 0.4, floor: 0.02 } },
  task: {
    ...{ ...LOOKING, kinds: 24, tests: { hops: [1, 2, 3, 4, 5, 8], greedy: 'only' } },
    curriculum: curriculumOf(
      {
        ...drillsOf({ sideKinds: [1, 12], ...ALL }),
        rules24: { hops: 3, recite: 24, sideKinds: [4, 12] },
        hops1: { hops: 1, sideKinds: [1, 12], above: [1, 4] },
        hops2: { hops: 2, sideKinds: [1, 12], above: [1, 4] },
        hops3: { hops: 3, sideKinds: [1, 12], above: [1, 4] },
      },
      afterDrills(7500, [
        [0, { asked4: 0.5, asked8: 0.5, rules16: 0.7, hops1: 1, hops2: 0.5 }],
        [0.1, { asked8: 0.3, rules16: 0.3, rules24: 0.3, hops1: 1, hops2: 1, hops3: 1 }],
        [1, { rules24: 0.1, asked8: 0.1, hops1: 0.8, hops2: 1, hops3: 2 }],
      ]),
    ),
  },
  evaluation: { every: 2500, problems: 200, maxTokens: 230 },
}

/** Problems without cues of so many hops: neither their size nor the place of the last kind tells where to stop. */
const cueFree = (hops: number) => ({ hops, ...ALL, sideKinds: [1, 8], above: [1, 4] })

/** Problems of one to five hops without cues, in the real rows' style, and in that shuffled. */
const STYLES = {
  hops: cueFree,
  real: (hops: number) => ({ hops, style: 'real' }),
  shuffled: (hops: number) => ({ hops, style: 'real', order: 'shuffled' }),
}
/** What of each style is drawn by its hops: most of them are long. */
const EVERYTHING = {
  hops: [0.6, 0.6, 0.6, 1, 2],
  real: [0.3, 0.3, 0.3, 0.4, 0.8],
  shuffled: [0.4, 0.4, 0.4, 0.5, 1],
}

/** By the name of style and hops: `real3`. */
const byHops = <Value>(of: (style: keyof typeof STYLES, hops: number) => Value): Record<string, Value> =>
  Object.fromEntries(
    (['hops', 'real', 'shuffled'] as const).flatMap(style =>
      [1, 2, 3, 4, 5].map(hops => [`${style}${hops}`, of(style, hops)]),
    ),
  )

/**
 * One to five hops, without cues and in the real rows' style, in their order and shuffled: what models/logic-full has learnt beyond the
 * proofs of three hops that it began with.
 */
const FULL = {
  ...{ steps: 600, batch: 64, model: { folder: 'package:models/logic-short' } },
  task: {
    ...LOOKING,
    curriculum: curriculumOf<string>(
      byHops((style, hops) => STYLES[style](hops)),
      [[0, byHops((style, hops) => EVERYTHING[style][hops - 1])]],
    ),
    tests: {
      ...{ hops: [1, 3, 5], greedy: 'only' },
      sets: ['shortcut-free', 'train-distribution', 'train-distribution-shuffled'],
    },
  },
  optimizer: { learningRate: { kind: 'cosine', peak: 8e-4, warmup: 30, floor: 0.02 } },
  evaluation: { every: 200, problems: 400, maxTokens: 150 },
}

/** By their names beside `logic-cold-start`; the first is what that means alone. */
export const logicPresets = {
  short: {
    summary:
      'proofs of one to three hops only, about a million parameters: what rubric-as-reward starts from',
    config: {},
  },
  start: {
    summary:
      'what made models/logic-start: mostly proofs of up to three hops, a taste of longer ones at the end',
    config: START,
  },
  growing: {
    summary: 'proofs that grow to five hops',
    config: { task: { curriculum: { kind: 'growing' } }, steps: 3000 },
  },
  'three-hops': {
    summary: 'proofs without cues, in any order, at most three hops and never more',
    config: THREE_HOPS,
  },
  full: {
    summary:
      'what made models/logic-full: one to five hops in every style, from models/logic-short; a quarter of an hour of one core',
    config: FULL,
  },
}

const GROWN = { model: { folder: 'package:models/logic-start' } }

/** The same beside `logic-rubric-start`. */
export const logicRubricPresets = {
  start: {
    summary:
      'proofs of models/logic-start and rubrics about them, of three to five hops: what rlcer starts from on the logic task',
    config: GROWN,
  },
  short: {
    summary: 'the same of two and three hops on short chains, a few minutes on one core',
    config: {
      ...{ ...GROWN, steps: 300 },
      task: { problems: { hops: [2, 3], nodes: [4, 5] }, reasoners: { problems: 500 } },
      evaluation: { problems: 150 },
    },
  },
}
