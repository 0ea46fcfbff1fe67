import { expect, it } from 'vitest'
import type { EvalRow } from '../../runs/rows.ts'
import { evaluationDifference } from './same-evaluation.ts'

const row = (values: readonly (number | null)[] | null, more: Partial<EvalRow> = {}): EvalRow => ({
  step: 0,
  set: 'unseen',
  n: 4,
  scores: { accuracy: { value: 0.5 } },
  primary: 'accuracy',
  responseTokens: 11,
  ...(values && { items: values.map((value, i) => ({ id: `p${i}`, scores: { accuracy: value } })) }),
  ...more,
})

it('evaluations are the same when every shared problem is scored alike, whatever was made of the mean', () => {
  const before = [row([1, 0, 1, null])]
  expect(evaluationDifference(before, [row([1, 0, 1, null], { scores: { accuracy: { value: 0.6 } } })])).toBe(
    null,
  )
  expect(evaluationDifference(before, [row([1, 0])])).toBe(null)
  expect(evaluationDifference(before, [row([1, 1, 0, null])])).toBe(
    'accuracy on unseen was 0.667 and is 0.667, with 2 of 4 problems scored otherwise',
  )
})

it('without problems by name scores are compared, and lengths always, where as many problems were asked', () => {
  const before = [row(null)]
  const other = { scores: { accuracy: { value: 0.501 } } }
  expect(evaluationDifference(before, [row(null, other)])).toBe('accuracy on unseen was 0.50 and is 0.501')
  expect(evaluationDifference(before, [row(null, { ...other, n: 5, responseTokens: 12 })])).toBe(null)
  expect(evaluationDifference(before, [row(null, { responseTokens: 11.5 })])).toBe(
    'responses on unseen had 11 tokens and have 11.5',
  )
  expect(evaluationDifference(before, [row(null, { ...other, set: 'hinted' })])).toBe(null)
})
