import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { parseSentence } from './english.ts'
import { atom, type Formula, forall, implies, not } from './formula.ts'
import { GroundTheory, groundStatus, shortestDerivation } from './ground.ts'
import { parseFormula } from './parse.ts'
import { LogicSolver } from './solver.ts'

const parse = (text: string) => parseFormula(text).formula
const all = (...texts: string[]) => texts.map(parse)

describe('groundStatus', () => {
  const chain = all('∀x (A(x) → B(x))', '∀x (B(x) → ¬C(x))', 'A(s)')

  it.each([
    ['B(s)', 'entailed'],
    ['¬C(s)', 'entailed'],
    ['C(s)', 'contradicted'],
    ['D(s)', 'consistent'],
    ['A(t)', 'consistent'],
    ['∀x (A(x) → ¬C(x))', 'entailed'],
    ['∀x (C(x) → ¬A(x))', 'entailed'],
    ['∀x (B(x) → A(x))', 'consistent'],
    ['∃x ¬C(x)', 'entailed'],
    ['∀x C(x)', 'contradicted'],
    ['false', 'contradicted'],
    ['true', 'entailed'],
  ])('%s is %s', (text, status) => expect(groundStatus(chain, parse(text))).toBe(status))

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('%s is a name like any other', name => {
    const rule = all('∀x (P(x) → Q(x))', `P(${name})`)
    expect(groundStatus(rule, parse(`Q(${name})`))).toBe('entailed')
    expect(groundStatus(rule, parse('Q(a)'))).toBe('consistent')
    expect(shortestDerivation(rule, parse(`Q(${name})`))).toEqual([0, 1])
    expect(groundStatus([], parse(`∀${name} P(${name}) → P(a)`))).toBe(
      groundStatus([], parse('∀x P(x) → P(a)')),
    )
  })

  it('splits cases where chaining alone is not enough', () => {
    const premises = all('A(s) ∨ B(s)', '∀x (A(x) → C(x))', '∀x (B(x) → C(x))')
    expect(groundStatus(premises, parse('C(s)'))).toBe('entailed')
    expect(groundStatus(all('A(s) ⊕ B(s)', 'A(s) ↔ C(s)'), parse('B(s) ∨ C(s)'))).toBe('entailed')
  })

  it('knows inconsistent premises, and what is outside its fragment', () => {
    expect(groundStatus(all('A(s)', '¬A(s)'), parse('B(s)'))).toBe('inconsistent-premises')
    expect(groundStatus(all('∀x ∃y R(x, y)'), parse('R(s, s)'))).toBeNull()
    expect(groundStatus(all('s = t'), parse('A(s)'))).toBeNull()
    expect(groundStatus([], parse('∃x ∀y (R(x, y) ∨ ¬R(x, y))'))).toBeNull()
  })

  it('takes existential premises by a name of their own', () => {
    expect(groundStatus(all('∃x (A(x) ∧ B(x))', '∃x C(x)'), parse('∃x A(x)'))).toBe('entailed')
    expect(groundStatus(all('∃x A(x)', '∃x C(x)'), parse('∃x (A(x) ∧ C(x))'))).toBe('consistent')
    expect(groundStatus(all('∃x A(x)'), parse('∀x A(x)'))).toBe('consistent')
  })

  it('needs constants to be announced', () => {
    expect(GroundTheory.of(chain)?.status(parse('A(t)'))).toBeNull()
    expect(GroundTheory.of(chain, ['t'])?.status(parse('A(t)'))).toBe('consistent')
  })
})

describe('shortestDerivation', () => {
  it('takes the fewest rules, contrapositives included', () => {
    const premises = all('∀x (A(x) → B(x))', '∀x (B(x) → C(x))', '∀x (A(x) → C(x))', 'A(s)', '¬C(t)')
    expect(shortestDerivation(premises, parse('C(s)'))).toEqual([2, 3])
    expect(shortestDerivation(premises, parse('¬B(t)'))).toEqual([1, 4])
    expect(shortestDerivation(premises, parse('B(t)'))).toBeNull()
    expect(shortestDerivation(premises, parse('A(s) ∧ B(s)'))).toBeNull()
  })
})

/** Random monadic problems: rules between literals, facts, and steps of every kind. */
const randomProblem = (rng: Rng) => {
  const predicates = ['A', 'B', 'C', 'D', 'E', 'F', 'G'].slice(0, 4 + rng.int(4))
  const names = rng.int(3) === 0 ? ['s', 't'] : ['s']
  const literal = (name: string): Formula => {
    const formula = atom(rng.pick(predicates), name)
    return rng.int(3) === 0 ? not(formula) : formula
  }
  const rule = (): Formula => forall('x', implies(literal('x'), literal('x')))
  const premises = [...Array.from({ length: 3 + rng.int(6) }, rule), literal('s')]
  if (rng.int(2) === 0) premises.push(literal(rng.pick(names)))
  const step = () => (rng.int(3) === 0 ? rule() : rng.int(8) === 0 ? not(rule()) : literal(rng.pick(names)))
  return { premises, steps: Array.from({ length: 10 }, step) }
}

describe('cross-check', () => {
  let spelt: LogicSolver
  let quantified: LogicSolver
  beforeAll(async () => {
    spelt = await LogicSolver.start({ backend: 'z3' })
    quantified = await LogicSolver.start({ backend: 'z3', encoding: 'quantified', timeoutMs: 5000 })
  })
  afterAll(() => Promise.all([spelt.close(), quantified.close()]))

  it('agrees with Z3, spelt out and quantified, on 400 generated steps', async () => {
    const rng = new Rng('cross-check')
    const queries = Array.from({ length: 40 }, () => randomProblem(rng)).flatMap(({ premises, steps }) =>
      steps.map(formula => ({ premises, formula })),
    )
    const expected = queries.map(({ premises, formula }) => groundStatus(premises, formula))
    expect(await spelt.checkSteps(queries)).toEqual(expected)
    expect(await quantified.checkSteps(queries)).toEqual(expected)
    // Every outcome occurs often enough for the agreement to mean something.
    for (const status of ['entailed', 'contradicted', 'consistent', 'inconsistent-premises']) {
      expect(expected.filter(found => found === status).length, status).toBeGreaterThan(12)
    }
  })

  it('agrees with Z3 on wider formulas', async () => {
    const premises = all(
      '∀x (A(x) ∧ ¬B(x) → C(x) ∨ D(x))',
      'A(s) ⊕ D(s)',
      '∃x (C(x) ∧ B(x))',
      '∀x ∀y (R(x, y) → R(y, x))',
      'R(s, t)',
    )
    const steps = all(
      'R(t, s)',
      '∃x B(x)',
      'A(s) → (B(s) ∨ C(s) ∨ D(s))',
      'D(s) ↔ ¬A(s)',
      '∀x (A(x) → C(x))',
      '∃x (C(x) ∧ R(x, x))',
      '¬∃x C(x)',
      '∀x ∀y R(x, y)',
    )
    const queries = steps.map(formula => ({ premises, formula }))
    const expected = queries.map(({ formula }) => groundStatus(premises, formula))
    expect(expected).not.toContain(null)
    expect(await spelt.checkSteps(queries)).toEqual(expected)
    expect(await quantified.checkSteps(queries)).toEqual(expected)
  })

  it('agrees with Z3 on sentences of a real kind', async () => {
    const premises = ['Tumpuses are rompuses.', 'Every rompus is not kind.', 'Stella is a tumpus.'].map(
      parseSentence,
    )
    const steps = ['Stella is not kind.', 'Stella is kind.', 'Tumpuses are not kind.', 'Stella is red.'].map(
      parseSentence,
    )
    const statuses = await spelt.checkSteps(steps.map(formula => ({ premises, formula })))
    expect(statuses).toEqual(['entailed', 'contradicted', 'entailed', 'consistent'])
  })
})
