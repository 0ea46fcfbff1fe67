/** @file Rows of rubrics that evolve, made up, for tests of runs and reports. */

import { Rng } from '../util/rng.ts'
import type { RubricRow, RubricStatus } from './rows.ts'

export const rubricStatus = (changes: Partial<RubricStatus> = {}): RubricStatus => ({
  id: '1.1.1',
  stage: 1,
  sign: 'positive',
  title: 'both keys',
  weight: 2,
  since: 1,
  fate: 'kept',
  scored: 4,
  score: 0.5,
  variance: 0.125,
  ...changes,
})

export const rubricRow = (step: number, changes: Partial<RubricRow> = {}): RubricRow => ({
  step,
  question: 'q1',
  rollouts: 4,
  failedScorings: 0,
  rubrics: [rubricStatus()],
  refused: [],
  ...changes,
})

const TITLES = [
  [
    'Lists every key that is needed',
    'The plan names each key that has to be looked up, the dependent one too.',
  ],
  ['Second look-up follows the first', 'The second key is the one that the first look-up returned.'],
  ['Ticks off all keys', 'Each key of the plan is marked as found, with the value that was found.'],
  ['Cites the look-up', 'The claim is cited with the id of the look-up that states it.'],
  ['Invents a value', 'A value is stated that no look-up returned.'],
] as const

/** A course of questions whose rubrics come, stay for a while, and go. */
export const fakeRubricRows = (steps: number, questions: number, seed = 1): RubricRow[] => {
  const rng = new Rng(seed)
  const active = new Map<string, RubricStatus[]>()
  return Array.from({ length: steps }, (_, i) => i + 1).flatMap(step =>
    Array.from({ length: questions }, (_, q): RubricRow => {
      const question = `family 3, question ${q + 1}`
      const born = Array.from({ length: rng.int(4) }, (_, n): RubricStatus => {
        const stage = 1 + rng.int(4)
        const [title, description] = TITLES[stage === 4 && rng.next() < 0.5 ? 4 : stage - 1]
        const sign = title === TITLES[4][0] ? 'negative' : 'positive'
        const own = {
          id: `${step}.${stage}.${n + 1}`,
          stage,
          title,
          description,
          sign,
          since: step,
          born: true,
        } as const
        return rubricStatus({ ...own, weight: 1 + rng.int(3) })
      })
      const old = (active.get(question) ?? []).map(({ born: _born, description: _text, ...rest }) => rest)
      const rubrics = [...old, ...born].map((rubric): RubricStatus => {
        const variance = rng.next() < 0.2 ? 0 : rng.next() * 0.25
        const lives = rng.next() < 0.75
        const fate = variance === 0 ? 'inactive' : lives ? 'kept' : 'pruned'
        return { ...rubric, variance, score: rng.next(), fate }
      })
      active.set(
        question,
        rubrics.filter(({ fate }) => fate === 'kept'),
      )
      const refused = Array.from({ length: rng.int(2) }, () => ({
        stage: 2,
        title: 'Uses the tag',
        description: 'Closes the tag',
        rule: rng.pick(['tag-check', 'duplicate', 'mirrored']),
        reason: 'only asks whether a tag is there',
      }))
      return { step, question, rollouts: 8, failedScorings: 0, rubrics, refused }
    }),
  )
}
