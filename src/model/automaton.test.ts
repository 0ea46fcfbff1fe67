import { describe, expect, it } from 'vitest'
import { AutomatonBuilder, checkAutomaton, fewestTokens, follow } from './automaton.ts'

/** 1, then any number of 2 or 3, then 4. */
const automaton = () => {
  const builder = new AutomatonBuilder()
  const middle = builder.after(0, 1)
  for (const token of [2, 3]) builder.edge(middle, token, middle)
  builder.after(middle, 4)
  return builder.build()
}

describe('automata over tokens', () => {
  it('know their shortest way to an end', () => {
    const builder = new AutomatonBuilder()
    const loop = builder.after(0, 1)
    builder.edge(loop, 1, loop)
    expect(fewestTokens(builder.build())).toBe(Number.POSITIVE_INFINITY)
    builder.after(builder.after(loop, 2), 3)
    expect(fewestTokens(builder.build())).toBe(3)
    builder.after(loop, 4)
    expect(fewestTokens(builder.build())).toBe(2)
    expect(fewestTokens({ states: [new Map()] })).toBe(0)
  })

  it('let pass what they describe, and nothing else', () => {
    expect(follow(automaton(), [1, 2, 3, 3, 4])).toBe(2)
    expect(follow(automaton(), [])).toBe(0)
    expect(follow(automaton(), [4], 1)).toBe(2)
    for (const tokens of [[2], [1, 5], [1, 4, 4], [1, 1]]) expect(follow(automaton(), tokens)).toBeNull()
  })

  it('use a state twice for the same token, and lead it to one place', () => {
    const builder = new AutomatonBuilder()
    expect(builder.after(0, 7)).toBe(builder.after(0, 7))
    expect(() => builder.edge(0, 7, 0)).toThrow(/token 7 of state 0 leads to 1 and to 0/)
  })

  it('are refused where they cannot be followed', () => {
    expect(() => checkAutomaton(automaton(), 5)).not.toThrow()
    expect(() => checkAutomaton(automaton(), 4)).toThrow(/token 4 of state 1 is outside the vocabulary of 4/)
    expect(() => checkAutomaton({ states: [] }, 4)).toThrow(/expected a state to start in/)
    expect(() => checkAutomaton({ states: [new Map([[1, 3]])] }, 4)).toThrow(
      /leads to state 3, which is not there/,
    )
  })
})
