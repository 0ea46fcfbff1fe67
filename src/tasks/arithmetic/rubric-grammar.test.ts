import { describe, expect, it } from 'vitest'
import { follow } from '../../model/automaton.ts'
import { Rng } from '../../util/rng.ts'
import { evidenceOf, readCriterion } from './predicates.ts'
import { arithmeticProblem } from './problem.ts'
import { rubricAutomaton } from './rubric-grammar.ts'
import { DEFAULT_RUBRICATOR, demonstrateRubric } from './rubricator.ts'
import { ARITHMETIC_TOKENS, decodeText, encodeText } from './vocabulary.ts'

describe('the grammar of rubrics', () => {
  it('lets every demonstration pass', () => {
    const automaton = rubricAutomaton()
    for (let i = 0; i < 300; i++) {
      const problem = arithmeticProblem('grammar', i)
      const { text } = demonstrateRubric(
        problem,
        evidenceOf(problem, '', null),
        DEFAULT_RUBRICATOR,
        new Rng(i),
      )!
      const end = follow(automaton, [...encodeText(text), ARITHMETIC_TOKENS.eos])
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
      const { rubrics } = JSON.parse(decodeText(tokens))
      counts.add(rubrics.length)
      for (const { criterion } of rubrics) expect(readCriterion(criterion), criterion).not.toBeNull()
    }
    expect([...counts].sort()).toEqual([5, 6, 7])
  })

  it('speaks of outcomes only where that is asked for', () => {
    const outcome = encodeText('every step is right')
    const tokens = (outcomes: boolean) =>
      new Set(rubricAutomaton({ outcomes }).states.flatMap(state => [...state.keys()]))
    expect(outcome.every(token => tokens(true).has(token))).toBe(true)
    expect(outcome.every(token => tokens(false).has(token))).toBe(false)
  })
})
