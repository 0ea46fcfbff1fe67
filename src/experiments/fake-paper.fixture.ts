/** @file A made-up paper: a registration and runs whose effects are known, for tests of analysis and report. */

import type { EvalRow, MetricsRow } from '../runs/rows.ts'
import { Rng } from '../util/rng.ts'
import { RULE } from './analysis/rules.ts'
import type { FinishedRun } from './metrics/index.ts'
import { allSeeds, blocksOf } from './plan/blocks.ts'
import { parseRegistration } from './plan/read.ts'
import type { Registration } from './plan/registration.ts'
import type { PaperContext } from './results/paper.ts'

const STEPS = 60

/** Content of the registration; change what a test is about. */
export const fakeContent = (changes: object = {}): Record<string, unknown> => ({
  paper: 'made-up',
  title: 'A made-up paper',
  summary: 'Scaffolding is said to help. Every value here comes from a random number generator.',
  recipe: 'ruscarl',
  preset: 'full',
  settings: { coldStart: null },
  steps: STEPS,
  test: { problems: 2048 },
  seeds: [1, 2, 3, 4, 5],
  starts: [
    { name: 'a', recipe: 'checklist-cold-start', seed: 1 },
    { name: 'b', recipe: 'checklist-cold-start', seed: 2 },
  ],
  arms: {
    better: { summary: 'what the paper proposes' },
    plain: { summary: 'without it', settings: { scaffold: { group: { kind: 'none' } } } },
    worse: { summary: 'always on', settings: { scaffold: { group: { kind: 'all' } } } },
    random: { settings: { reward: 'random' } },
  },
  controls: {
    of: 'better',
    metric: 'score',
    smallestEffect: 0.03,
    'random-reward': { arm: 'random' },
    'shuffled-rubrics': { absent: 'the made-up generator has no rubrics that could be shuffled' },
    'flipped-verdicts': { absent: 'the made-up generator has no verdicts that could be flipped' },
  },
  claims: [
    {
      id: 'FAKE-1',
      statement: 'With it, the score is higher than without, and without is higher than always on.',
      arms: ['better', 'plain', 'worse'],
      metric: { name: 'score', set: 'unseen' },
      smallestEffect: 0.01,
    },
    {
      id: 'FAKE-2',
      statement: 'It does not need more tokens.',
      arms: { a: 'better', b: 'plain' },
      metric: { name: 'score', set: 'unseen' },
      smallestEffect: 0.01,
      equal: 'tokens',
    },
    {
      id: 'FAKE-3',
      statement: 'Entropy rises and then falls.',
      arms: { a: 'better' },
      metric: { name: 'rises-then-falls', window: 5 },
      test: 'share',
      atLeast: 0.8,
      smallestEffect: 0,
    },
    {
      id: 'FAKE-4',
      statement: 'Responses do not get longer.',
      arms: { a: 'better', b: 'start' },
      metric: { name: 'response-tokens', set: 'unseen' },
      direction: 'not-above',
      smallestEffect: 1,
      note: 'A length effect would make the score hard to read.',
    },
    {
      id: 'FAKE-5',
      statement: 'It learns more of criterion one.',
      arms: { a: 'worse', b: 'plain' },
      metric: { name: 'criterion', id: 'one', set: 'unseen' },
      smallestEffect: 0.02,
    },
  ],
  charts: [
    { title: 'Score on unseen problems', set: 'unseen', unit: 'share', arms: ['better', 'plain', 'worse'] },
    { title: 'Entropy', curve: 'entropy', arms: ['better', 'plain', 'worse'] },
    { title: 'Best of N', probe: 'best-of-n', arms: ['better', 'plain'] },
    { title: 'Criteria', criteria: true, set: 'unseen', arms: ['better', 'plain', 'worse'] },
  ],
  cut: ['Only four arms, because nobody would believe more made-up ones.'],
  ...changes,
})

export const fakeRegistration = (changes: object = {}): Registration =>
  parseRegistration(fakeContent(changes), 'made-up.yaml')

/** Gain of each arm over the run, in score; runs scatter around it. */
const FAKE_GAINS: Readonly<Record<string, number>> = {
  better: 0.3,
  plain: 0.22,
  worse: 0.12,
  random: 0,
}

const metricsOf = (arm: string, rng: Rng): MetricsRow[] =>
  Array.from({ length: STEPS }, (_, i) => {
    const t = i / (STEPS - 1)
    const hump = arm === 'better' ? Math.exp(-((t - 0.2) ** 2) / 0.02) : 0
    return {
      step: i + 1,
      entropy: 2 + 0.5 * hump - 0.6 * t + 0.02 * rng.normal(),
      tokens: arm === 'better' ? 1000 : 1100,
      time: { total: 0.4 },
    }
  })

const evalsOf = (gain: number, rng: Rng): EvalRow[] =>
  [0, 20, 40, STEPS].map(step => {
    const share = 1 - Math.exp((-3 * step) / STEPS)
    return {
      step,
      set: 'unseen',
      n: 2048,
      scores: { accuracy: { value: 0.3 + gain * share + (step === 0 ? 0 : 0.015 * rng.normal()) } },
      primary: 'accuracy',
      responseTokens: 11 + 0.1 * rng.normal(),
      criteria: { one: 0.5 + (step === 0 ? 0 : 0.01 * rng.normal()), two: 0.4 },
    }
  })

const bestOf = (gain: number, rng: Rng) => ({
  'best-of-n': {
    samples: 64,
    problems: 24,
    curve: [1, 4, 16, 64].map(n => ({ n, score: 0.3 + gain + 0.05 * Math.log2(n) + 0.01 * rng.normal() })),
  },
})

/** A run of every arm, start and seed, those of later blocks included. */
export const fakeRuns = (registration: Registration): FinishedRun[] =>
  Object.keys(registration.arms).flatMap(arm =>
    registration.starts.flatMap(({ name: start }) =>
      allSeeds(registration).map(seed => {
        const rng = new Rng(`${arm}/${start}/${seed}`)
        return {
          arm,
          start,
          seed: String(seed),
          steps: STEPS,
          metrics: metricsOf(arm, rng),
          evals: evalsOf((FAKE_GAINS[arm] ?? 0) + (start === 'b' ? 0.02 : 0), rng),
          probes: bestOf(FAKE_GAINS[arm] ?? 0, rng),
          seconds: 24 + 3 * rng.next(),
        }
      }),
    ),
  )

/** What results of the made-up paper name beside what was worked out. */
export const fakeContext = (registration: Registration, rule = RULE.version): PaperContext => {
  const [first, ...later] = blocksOf(registration).map(({ sha256 }) => ({
    sha256,
    registeredAt: '2026-01-01T00:00:00.000Z',
    rule,
    versions: { gradus: '0.1.0', commit: 'abc' },
    seal: null,
  }))
  return {
    registered: { ...first, blocks: later },
    failed: [],
    trainedWith: [],
    analysedWith: { versions: { gradus: '0.1.0' }, machine: { node: process.version }, command: 'a test' },
  }
}
