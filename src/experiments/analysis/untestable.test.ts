import { expect, it } from 'vitest'
import type { Direction } from '../plan/registration.ts'
import { untestable } from './untestable.ts'

const at = (
  compared: number,
  direction: Direction = 'greater',
  metric = 'criterion',
  smallestEffect = 0.01,
) =>
  untestable(
    {
      metric: { name: metric, options: metric === 'criterion' ? { id: 'C3' } : {} },
      direction,
      smallestEffect,
    },
    compared,
  )?.at ?? null

it('a claim of more cannot show just below the ceiling, one of less just above the floor', () => {
  expect([0.9993, 0.995, 0.99, 0.95].map(value => at(value))).toEqual(['ceiling', 'ceiling', null, null])
  expect([0.002, 0.01, 0.3].map(value => at(value, 'less'))).toEqual(['floor', null, null])
  expect([at(0.999, 'less'), at(0.001, 'greater')]).toEqual([null, null])
})

it('a margin cannot be left where the scale ends before it', () => {
  expect([at(0.999, 'not-above'), at(0.001, 'not-below')]).toEqual(['ceiling', 'floor'])
  expect([at(0.999, 'not-below'), at(0.001, 'not-above')]).toEqual([null, null])
  // On one side it can.
  expect([at(0.999, 'equal'), at(0.001, 'equal')]).toEqual([null, null])
})

it('is not said of values without a known end: scores with penalties below 0, lengths', () => {
  expect([at(0.001, 'less', 'score'), at(0.999, 'greater', 'score')]).toEqual([null, 'ceiling'])
  expect(at(0, 'less', 'response-tokens')).toBeNull()
})

it('says where it stands and what would have to fit', () => {
  const claim = {
    metric: { name: 'criterion', options: { id: 'C3' } },
    direction: 'greater',
    smallestEffect: 0.01,
  } as const
  expect(untestable(claim, 0.9993)!.reason).toBe(
    'ceiling: what it is compared with is at 99.9%, 0.1% from the highest value there is; the registered 1.0% cannot show',
  )
})
