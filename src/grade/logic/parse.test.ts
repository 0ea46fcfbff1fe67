import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import {
  type Formula,
  formulaKey,
  freeVariables,
  normaliseFormula,
  printFormula,
  sameFormula,
} from './formula.ts'
import { FormulaSyntaxError, parseFormula } from './parse.ts'

const parse = (text: string) => parseFormula(text).formula
const shape = (text: string) => printFormula(parse(text))

describe('parseFormula', () => {
  it('binds ¬ before ∧ before ∨ and ⊕ before → before ↔', () => {
    expect(shape('p | q & ~r -> s <-> t')).toBe('((p ∨ (q ∧ ¬r)) → s) ↔ t')
    expect(shape('A(x) ⊕ B(x) → C(x) ⊕ D(x)')).toBe('(A(x) ⊕ B(x)) → (C(x) ⊕ D(x))')
  })

  it('reads → to the right, ∨ and ⊕ to the left', () => {
    expect(shape('p → q → r')).toBe('p → (q → r)')
    expect(shape('p ∨ q ⊕ r')).toBe('(p ∨ q) ⊕ r')
  })

  it('reads quantifiers with and without a point', () => {
    for (const text of ['∀x (A(x) → B(x))', 'forall x. (A(x) -> B(x))', '∀x. (A(x) → B(x))']) {
      expect(shape(text)).toBe('∀x (A(x) → B(x))')
    }
    expect(shape('∀x ∃y (R(x, y) ∧ ¬S(y))')).toBe('∀x ∃y (R(x, y) ∧ ¬S(y))')
  })

  it('reads equations, inequations and the odd ⟷', () => {
    expect(parse('a = b')).toEqual({ kind: 'eq', left: 'a', right: 'b' })
    expect(shape('a ≠ b')).toBe('¬(a = b)')
    expect(shape('p ⟷ q')).toBe('p ↔ q')
  })

  it('turns names into ASCII and keeps their case', () => {
    expect(parse('Świątek(michałWołodyjowski)')).toEqual({
      kind: 'atom',
      name: 'Swiatek',
      args: ['michalWolodyjowski'],
    })
    expect(parse('Likes(marvin’s, y42.3billion)')).toEqual({
      kind: 'atom',
      name: 'Likes',
      args: ['marvins', 'y42.3billion'],
    })
    expect(parse('P(a)')).not.toEqual(parse('p(a)'))
    expect(parse('In(c++, the-anU.S.Office)')).toEqual({
      kind: 'atom',
      name: 'In',
      args: ['c++', 'the-anU.S.Office'],
    })
    expect(shape('∀x.P(x)')).toBe('∀x P(x)')
  })

  it.each([
    ['', 'expected a formula'],
    ['P(a', '"," or ")"'],
    ['P(a))', 'an operator or the end'],
    ['P(a) Q(b)', 'an operator or the end'],
    ['∀ (P(x))', 'a variable'],
    ['P(a) § Q', 'got "§"'],
    ['p ->', 'expected a formula'],
  ])('refuses %j, saying what was expected', (text, message) => {
    expect(() => parse(text)).toThrow(FormulaSyntaxError)
    expect(() => parse(text)).toThrow(message)
  })

  it('refuses deep nesting instead of overflowing the stack', () => {
    expect(() => parse('('.repeat(100_000))).toThrow(FormulaSyntaxError)
    expect(() => parse('~'.repeat(100_000))).toThrow(FormulaSyntaxError)
  })

  it('mends data only when asked, and says what it mended', () => {
    expect(() => parse('P(a) ∧ Q(b))')).toThrow(FormulaSyntaxError)
    const mended = parseFormula('∀x (P(x), R(x, y) → Q(x)', { repair: true })
    expect(printFormula(mended.formula)).toBe('∀x ((P(x) ∧ R(x, y)) → Q(x))')
    expect(mended.repairs).toEqual(['supplied 1 missing ")"', 'read a comma as "and"'])
    expect(() => parse('Hero(captain america)')).toThrow(FormulaSyntaxError)
    expect(parseFormula('Hero(captain america)', { repair: true })).toEqual({
      formula: { kind: 'atom', name: 'Hero', args: ['captain_america'] },
      repairs: ['joined "captain america" to one name'],
    })
  })

  it('reads nearly all formulas of the FOLIO training rows', ctx => {
    const path = sharedData('folio/train.jsonl')
    if (!path) return ctx.skip()
    const rows = readJsonl<{ 'premises-FOL': string[] }>(path)
    const texts = rows.flatMap(row => row['premises-FOL'])
    const read = texts.filter(text => {
      try {
        return parseFormula(text, { repair: true })
      } catch {
        return false
      }
    })
    expect(read.length / texts.length).toBeGreaterThan(0.995)
  })
})

const names = fc.constantFrom('a', 'b', 'x', 'y')
const formulas = fc.letrec<{ formula: Formula }>(tie => ({
  formula: fc.oneof(
    { maxDepth: 4 },
    fc.record({
      kind: fc.constant('atom' as const),
      name: fc.constantFrom('P', 'Q'),
      args: fc.array(names, { maxLength: 2 }),
    }),
    fc.record({ kind: fc.constant('eq' as const), left: names, right: names }),
    fc.record({ kind: fc.constant('not' as const), body: tie('formula') }),
    fc.record({
      kind: fc.constantFrom(
        'and' as const,
        'or' as const,
        'xor' as const,
        'implies' as const,
        'iff' as const,
      ),
      left: tie('formula'),
      right: tie('formula'),
    }),
    fc.record({
      kind: fc.constantFrom('forall' as const, 'exists' as const),
      variable: fc.constantFrom('x', 'y'),
      body: tie('formula'),
    }),
  ),
})).formula

describe('formulas', () => {
  it('survive printing and parsing', () => {
    fc.assert(
      fc.property(formulas, formula => {
        expect(parse(printFormula(formula))).toEqual(formula)
      }),
    )
  })

  it('have a key that ignores names of bound variables, order of operands and double negation', () => {
    const same = (a: string, b: string) => sameFormula(parse(a), parse(b))
    expect(same('∀x (P(x) → Q(x))', '∀y (P(y) → Q(y))')).toBe(true)
    expect(same('p & (q & r)', '(r & p) & q')).toBe(true)
    expect(same('~~p', 'p')).toBe(true)
    expect(same('a = b', 'b = a')).toBe(true)
    expect(same('p -> q', 'q -> p')).toBe(false)
    expect(same('∀x ∃y R(x, y)', '∀x ∃y R(y, x)')).toBe(false)
    expect(same('∀x P(x)', 'P(x)')).toBe(false)
    expect(same('∀x ∃x P(x)', '∀x ∃y P(x)')).toBe(false)
    expect(formulaKey(parse('P(a)'))).not.toBe(formulaKey(parse('P(A)')))
  })

  it('know their free names', () => {
    expect([...freeVariables(parse('∀x (R(x, a) → x = b)'))]).toEqual(['a', 'b'])
    expect(normaliseFormula({ kind: 'atom', name: 'É', args: ['ß'] })).toEqual(parse('E(ss)'))
  })
})
