import { expect, it } from 'vitest'
import { joinedState } from './recipe-state.ts'

it('states joined by name come back each by its own, and a checkpoint that lacks one is refused', () => {
  const loaded: unknown[] = []
  const part = (value: number) => ({ save: () => value, load: (saved: unknown) => void loaded.push(saved) })
  const { state } = joinedState({ weight: part(1), none: null, memory: part(2) })
  expect(state!.save()).toEqual({ weight: 1, memory: 2 })
  state!.load({ memory: 4, weight: 3 })
  expect(loaded).toEqual([3, 4])
  for (const saved of [{ weight: 3 }, null, 'text'])
    expect(() => state!.load(saved)).toThrow(/expected (weight|memory) in it, got none/)
  expect(joinedState({ none: null })).toEqual({})
})
