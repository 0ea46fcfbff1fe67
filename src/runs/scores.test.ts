import { expect, it } from 'vitest'
import type { EvalRow } from './rows.ts'
import { describeScore, headlineScores, scoreNamesOf, scoreValue } from './scores.ts'

const rowOf = (primary: string, names: string[], scoreNames?: Record<string, string>): EvalRow => ({
  step: 0,
  set: 's',
  n: 1,
  scores: Object.fromEntries(names.map((name, i) => [name, { value: i / 10 }])),
  primary,
  ...(scoreNames && { scoreNames }),
})

it('stand primary first, greedy last, otherwise as the row has them', () => {
  const row = rowOf('proved', ['greedy.valid', 'accuracy', 'greedy.proved', 'valid', 'proved'])
  expect(scoreNamesOf([row])).toEqual(['proved', 'accuracy', 'valid', 'greedy.proved', 'greedy.valid'])
  expect(headlineScores([row])).toEqual(['proved', 'accuracy'])
  expect(headlineScores([rowOf('rubric', ['rubric', 'wellFormed'])])).toEqual(['rubric'])
  expect(headlineScores([rowOf('accuracy', ['valid', 'accuracy'])])).toEqual(['accuracy'])
})

it('are in words what the rows call them', () => {
  const rubric = rowOf('rubric', ['rubric'], { rubric: 'rubric score' })
  const other = rowOf('rubric', ['greedy.rubric'], { rubric: 'points' })
  expect(describeScore('rubric', [rubric])).toBe('rubric score')
  expect(describeScore('greedy.rubric', [other, rubric])).toBe('greedy: points and rubric score')
  expect([describeScore('plain', [rubric]), describeScore('rubric', [])]).toEqual(['plain', 'rubric'])
  const silent = rowOf('other', ['other'])
  expect(describeScore('rubric', [rubric, silent])).toBe('rubric score')
})

it('have no value where a row lacks them', () => {
  expect([scoreValue(rowOf('a', ['a', 'b']), 'b'), scoreValue(rowOf('a', ['a']), 'b')]).toEqual([0.1, null])
  expect(scoreValue(undefined, 'a')).toBeNull()
})
