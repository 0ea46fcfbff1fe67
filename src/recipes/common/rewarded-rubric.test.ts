import { describe, expect, it } from 'vitest'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { loggedCriteria, rewardedRubric } from './rewarded-rubric.ts'

const short: Criterion = {
  id: 'short',
  text: 'Is short.',
  points: 2,
  verifier: { kind: 'rule', fn: 'length', params: { max: 15 } },
}
const kind: Criterion = { id: 'kind', text: 'Is kind.', points: 1 }
const right = (city: string): Criterion => ({
  id: 'right',
  text: `Says ${city}.`,
  points: 3,
  verifier: { kind: 'rule', fn: 'contains', params: { any: [city] } },
})
const alone: Criterion = { id: 'alone', text: 'Only here.', points: -1 }
const row = (...criteria: Criterion[]): { rubric: Rubric } => ({ rubric: { criteria } })

const named = new Set(['short', 'kind', 'right'])
const rubric = rewardedRubric({
  train: [row(short, kind, right('Tokyo'), alone), row(short, kind)],
  test: [row(short, kind, right('Rome'))],
  named,
})

describe('the rubric of a run', () => {
  it('tells what criteria say and weigh, and what decides them', () => {
    expect(rubric.criteria).toEqual([
      { id: 'short', text: 'Is short.', points: 2, check: 'rule length (max: 15)' },
      { id: 'kind', text: 'Is kind.', points: 1, check: null },
      { id: 'right', text: null, points: 3, check: 'rules that differ by row', rows: 2 },
    ])
    expect(rubric.ofRows).toBe(1)
    expect([...loggedCriteria(rubric)]).toEqual(['short', 'kind'])
  })

  it('has a hash of the criteria of the test rows alone, in whatever order', () => {
    const same = rewardedRubric({ train: [], test: [row(right('Rome'), kind), row(kind, short)], named })
    expect(same.sha256).toBe(rubric.sha256)
    const heavier = rewardedRubric({
      train: [],
      test: [row({ ...short, points: 3 }, kind, right('Rome'))],
      named,
    })
    expect(heavier.sha256).not.toBe(rubric.sha256)
    const tree = { id: 'all', children: [] } as unknown as Rubric['tree']
    const grown = [row(short, kind), { rubric: { ...row(right('Rome')).rubric, tree } }]
    expect(rewardedRubric({ train: [], test: grown, named }).sha256).not.toBe(rubric.sha256)
  })
})
