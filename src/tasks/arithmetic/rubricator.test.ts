import { describe, expect, it } from 'vitest'
import { follow } from '../../model/automaton.ts'
import { Rng } from '../../util/rng.ts'
import { rubricHabitsSchema } from '../thinking-grammar/rubricator.ts'
import { ARITHMETIC_GRAMMAR, evidenceOf } from './predicates.ts'
import { arithmeticProblem } from './problem.ts'
import { arithmeticRubricator, rubricAutomaton } from './rubricator.ts'
import { ARITHMETIC_PIECES, ARITHMETIC_TOKENS } from './vocabulary.ts'

const HABITS = rubricHabitsSchema.parse({})

describe('the grammar of rubrics', () => {
  it('lets every demonstration pass', () => {
    const automaton = rubricAutomaton()
    for (let i = 0; i < 300; i++) {
      const problem = arithmeticProblem('grammar', i)
      const { text } = arithmeticRubricator.demonstrate(
        problem,
        evidenceOf(problem, '', null),
        HABITS,
        new Rng(i),
      )!
      const end = follow(automaton, [...ARITHMETIC_PIECES.encode(text), ARITHMETIC_TOKENS.eos])
      expect(end, text).not.toBeNull()
      expect(automaton.states[end!].size).toBe(0)
    }
  })

  it('gives by every walk a rubric that can be read, of so many criteria', () => {
    const automaton = rubricAutomaton({ criteria: { min: 5, max: 7 } })
    const counts = new Set<number>()
    for (let i = 0; i < 300; i++) {
      const rng = new Rng(`walk/${i}`)
      const tokens: number[] = []
      for (let state = 0; automaton.states[state].size > 0; ) {
        const [token, next] = rng.pick([...automaton.states[state]])
        tokens.push(token)
        state = next
      }
      const { rubrics } = JSON.parse(ARITHMETIC_PIECES.decode(tokens))
      counts.add(rubrics.length)
      for (const { criterion } of rubrics)
        expect(ARITHMETIC_GRAMMAR.read(criterion), criterion).not.toBeNull()
    }
    expect([...counts].sort()).toEqual([5, 6, 7])
  })

  it('speaks of outcomes only where that is asked for', () => {
    const outcome = ARITHMETIC_PIECES.encode('every step is right')
    const tokens = (outcomes: boolean) =>
      new Set(rubricAutomaton({ outcomes }).states.flatMap(state => [...state.keys()]))
    expect(outcome.every(token => tokens(true).has(token))).toBe(true)
    expect(outcome.every(token => tokens(false).has(token))).toBe(false)
  })
})
