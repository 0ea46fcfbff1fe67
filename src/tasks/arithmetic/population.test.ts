import { describe, expect, it } from 'vitest'
import { pearson } from '../../util/descriptive.ts'
import { Rng } from '../../util/rng.ts'
import { DEFAULT_ERRORS, demonstrate, drawHabits } from './demonstrations.ts'
import { answeredDigit, readResponse } from './format.ts'
import { populationCorrelations, worthOf } from './population.ts'
import { ARITHMETIC_GRAMMAR, evidenceOf, isMet, PREDICATES } from './predicates.ts'
import { answerOf, arithmeticProblem } from './problem.ts'
import { ARITHMETIC_PIECES } from './vocabulary.ts'

/** What the scripted reasoner does, so many times a problem. */
const population = (problems: number, samples: number) =>
  Array.from({ length: problems }, (_, i) => {
    const problem = arithmeticProblem('population', i)
    const responses = Array.from({ length: samples }, (_, g) => {
      const rng = new Rng(`population/${i}/${g}`)
      const { text } = demonstrate(problem, drawHabits(rng), DEFAULT_ERRORS, rng)
      const response = readResponse(ARITHMETIC_PIECES.encode(text))
      return { thinking: response.thinking, answer: answeredDigit(response) }
    })
    return { problem, responses }
  })

describe('what predicates are worth in a population', () => {
  it('is the plain correlation where there is one problem', () => {
    const [group] = population(1, 60)
    const correlations = populationCorrelations([group])
    const right = group.responses.map(({ answer }) => Number(answer === answerOf(group.problem)))
    for (const sentence of [
      'does one operation a step',
      'states a result without a calculation',
      'checks a step',
    ]) {
      const met = group.responses.map(({ thinking }) =>
        Number(isMet(ARITHMETIC_GRAMMAR.read(sentence)!, evidenceOf(group.problem, thinking, null))),
      )
      expect(correlations.get(sentence)).toBeCloseTo(pearson(met, right)!, 10)
    }
  })

  it('tells the good from the bad from the rest, as their author meant', () => {
    const correlations = populationCorrelations(population(150, 12))
    expect(correlations.size).toBe(PREDICATES.length)
    const of = (sentence: string) => correlations.get(sentence)!
    expect(of('does one operation a step')).toBeGreaterThan(0.1)
    expect(of('step {place} is right')).toBeGreaterThan(0.1)
    expect(of('states a result without a calculation')).toBeLessThan(-0.1)
    expect(of('leaves an operation out')).toBeLessThan(-0.1)
    for (const sentence of ['says clearly', 'uses the digit {digit}', 'restates the question'])
      expect(Math.abs(of(sentence))).toBeLessThan(0.15)
    // The question alone decides it: within a problem it cannot vary.
    expect(of('has more additions than multiplications')).toBeNull()
  })

  it('counts a penalty the other way round, and knows nothing of other sentences', () => {
    const correlations = new Map([['checks a step', 0.3]])
    expect(worthOf({ text: 'Checks a step.', points: 2 }, correlations)).toBe(0.3)
    expect(worthOf({ text: 'checks a step', points: -5 }, correlations)).toBe(-0.3)
    expect(worthOf({ text: 'is nice', points: 1 }, correlations)).toBeNull()
    expect(worthOf({ text: 'repeats a step', points: 1 }, correlations)).toBeNull()
  })
})
