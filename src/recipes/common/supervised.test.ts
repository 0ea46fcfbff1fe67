import { expect, it } from 'vitest'
import { lossesBefore } from './training.ts'

it('gives each step before its own loss, also where rows are missing or none is written', () => {
  const rows = [
    { step: 1, loss: 0.5 },
    { step: 3, loss: null },
    { step: 4, loss: 0.25 },
    { step: 5, loss: 0.125 },
  ]
  expect(lossesBefore(4, rows)).toEqual([0.5, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0.25])
})
