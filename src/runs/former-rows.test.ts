import { expect, it } from 'vitest'
import { upgradeEval, upgradeRollout } from './former-rows.ts'
import type { EvalRow, RolloutRow } from './rows.ts'

const LOGIC = {
  step: 4,
  set: 'real',
  n: 2,
  samples: 2,
  accuracy: 0.75,
  accuracyInterval: [0.5, 1],
  correctAndValid: 0.5,
  correctAndValidInterval: [0.25, 0.75],
  validProofs: 0.6,
  correctAndProved: 0.25,
  greedyAccuracy: 1,
  greedyAccuracyInterval: [1, 1],
  greedyCorrectAndValid: 0.5,
  criteria: { C1: 0.75 },
  byLabel: { True: { n: 2, accuracy: 0.75, correctAndValid: 0.5 } },
  baselines: { 'query negation': { accuracy: 0.4, accuracyInterval: [0.2, 0.6], n: 2, note: 'a cue' } },
  items: [
    { id: 'a', accuracy: 1, correctAndValid: 1, greedyAccuracy: 1, criteria: { C1: 1 } },
    { id: 'b', accuracy: 0.5, correctAndValid: 0 },
  ],
}

it('gives an evaluation of logic its scores by name, what is proved first', () => {
  const row = upgradeEval(LOGIC)
  expect(row).toEqual({
    step: 4,
    set: 'real',
    n: 2,
    samples: 2,
    primary: 'correctAndProved',
    scores: {
      correctAndProved: { value: 0.25 },
      accuracy: { value: 0.75, interval: [0.5, 1] },
      correctAndValid: { value: 0.5, interval: [0.25, 0.75] },
      validProofs: { value: 0.6 },
      'greedy.accuracy': { value: 1, interval: [1, 1] },
      'greedy.correctAndValid': { value: 0.5 },
    },
    scoreNames: {
      correctAndProved: 'correct and proved',
      accuracy: 'answers right',
      correctAndValid: 'correct and valid',
      validProofs: 'valid proofs',
    },
    criteria: { C1: 0.75 },
    byLabel: { True: { n: 2, scores: { accuracy: 0.75, correctAndValid: 0.5 } } },
    baselines: {
      'query negation': { scores: { accuracy: { value: 0.4, interval: [0.2, 0.6] } }, n: 2, note: 'a cue' },
    },
    items: [
      {
        id: 'a',
        scores: { accuracy: 1, correctAndValid: 1, 'greedy.accuracy': 1 },
        criteria: { C1: 1 },
      },
      { id: 'b', scores: { accuracy: 0.5, correctAndValid: 0 } },
    ],
  })
  expect(upgradeEval(row)).toBe(row)
})

it.each([
  ['rubric score', 'rubric'],
  ['agreement with labels', 'agreement'],
  ['trips packed well', 'accuracy'],
])('calls what was "%s" %s', (scoreName, name) => {
  const former = { step: 0, set: 's', n: 1, scoreName, accuracy: 0.4, wellFormed: 1, greedyAccuracy: 0.5 }
  const items = [{ id: 'a', accuracy: 0.4 }]
  const row = upgradeEval({ ...former, items })
  expect(row).toMatchObject({ primary: name, items: [{ id: 'a', scores: { [name]: 0.4 } }] })
  expect(row.scores).toEqual({
    [name]: { value: 0.4 },
    wellFormed: { value: 1 },
    [`greedy.${name}`]: { value: 0.5 },
  })
  expect(row.scoreNames?.[name]).toBe(scoreName)
  expect(row).not.toHaveProperty('scoreName')
})

it('puts answers first where nothing was said of proofs', () => {
  expect(upgradeEval({ step: 0, set: 's', n: 1, accuracy: 0.5 })).toMatchObject({ primary: 'accuracy' })
  const valid = { step: 0, set: 's', n: 1, accuracy: 0.5, correctAndValid: 0.4 }
  expect(upgradeEval(valid)).toMatchObject({ primary: 'correctAndValid' })
})

const rollout = (more: Partial<RolloutRow>): RolloutRow => ({
  step: 1,
  problemId: 'p',
  prompt: '',
  response: '',
  reward: 0.9,
  ...more,
})

it.each(['solver-failed', 'inconsistent-premises'])('knows a rollout that was left out (%s)', explanation => {
  const parts = { C1: 1, C2: 0, C3: 1 }
  const verdicts = [
    { criterionId: 'C1', met: true, credit: 1 },
    { criterionId: 'C2', met: null, explanation },
  ]
  const row = upgradeRollout(rollout({ parts, verdicts }))
  expect(row).toMatchObject({ reward: null, parts: { C1: 1, C2: null, C3: 1 }, verdicts })
})

it('knows a rollout that no judge had a word on, and leaves others as they are', () => {
  const unjudged = rollout({ reward: 0, flags: { unjudged: 1 } })
  expect(upgradeRollout(unjudged).reward).toBeNull()
  const missing = [{ criterionId: 'one', met: null, explanation: 'time-out' }]
  const others = [rollout({}), rollout({ reward: 0, parts: { C1: 0 } }), rollout({ verdicts: missing })]
  expect(others.map(upgradeRollout)).toEqual(others)
})

it('leaves evaluations of today alone', () => {
  const row: EvalRow = { step: 0, set: 's', n: 1, scores: { rubric: { value: null } }, primary: 'rubric' }
  expect(upgradeEval(row)).toBe(row)
})
