import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mathEqual } from './compare/equal.ts'

const RUNS = { numRuns: 300, seed: 5 }

const integer = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n })
const fraction = fc.record({ n: integer, d: fc.bigInt({ min: 1n, max: 10n ** 12n }) })

const written = (n: bigint, d: bigint) => `\\frac{${n}}{${d}}`

/** Random formulas in x, y: text that the parser must read. */
const formula: fc.Arbitrary<string> = fc.letrec<{ tree: string }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('x', 'y', '\\pi', '\\sqrt{2}'),
    fc.integer({ min: 1, max: 9 }).map(String),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a} + ${b})`),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a} - ${b})`),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => `(${a}) \\cdot (${b})`),
    tie('tree').map(a => `(${a})^{2}`),
    tie('tree').map(a => `\\sin(${a})`),
  ),
})).tree

describe('mathEqual, on random answers', () => {
  it('a fraction equals itself in other terms, and no other fraction', () => {
    fc.assert(
      fc.property(fraction, fc.bigInt({ min: 2n, max: 999n }), ({ n, d }, k) => {
        expect(mathEqual(written(n, d), `${n * k}/${d * k}`)).toBe(true)
        expect(mathEqual(written(n, d), written(n * d + 1n, d * d))).toBe(false)
      }),
      RUNS,
    )
  })

  it('thousands marks change nothing', () => {
    fc.assert(
      fc.property(integer, n => {
        expect(mathEqual(String(n), n.toLocaleString('en-US'))).toBe(true)
      }),
      RUNS,
    )
  })

  it('is symmetric', () => {
    fc.assert(
      fc.property(formula, formula, (a, b) => {
        expect(mathEqual(a, b)).toBe(mathEqual(b, a))
      }),
      RUNS,
    )
  })

  it('a formula equals itself doubled and halved, and differs from itself plus one', () => {
    fc.assert(
      fc.property(formula, a => {
        expect(mathEqual(a, `\\frac{${a} + ${a}}{2}`)).not.toBe(false)
        expect(mathEqual(a, `${a} + 1`)).not.toBe(true)
      }),
      RUNS,
    )
  })

  it('sets forget their order, tuples do not', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer(), { minLength: 2, maxLength: 6 }), items => {
        const turned = [...items].reverse()
        expect(mathEqual(`\\{${items.join(',\\ ')}\\}`, `\\{${turned.join(',\\ ')}\\}`)).toBe(true)
        expect(mathEqual(`(${items.join(', ')})`, `(${turned.join(', ')})`)).toBe(false)
      }),
      RUNS,
    )
  })

  it('never throws, whatever the text', () => {
    const piece = fc.constantFrom(
      ...[
        '\\frac',
        '\\boxed',
        '{',
        '}',
        '(',
        ')',
        '[',
        ']',
        '$',
        '\\(',
        '\\)',
        '^',
        '_',
        '1',
        '2.',
        ',',
        '|',
        '\\left',
        'x',
      ],
      ...[
        '\\begin{pmatrix}',
        '\\end{pmatrix}',
        '&',
        '\\\\',
        '\\text',
        '\\sum',
        '\\pm',
        '=',
        '<',
        '\\in',
        '%',
        '!',
        ':',
        'and',
      ],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.string(), (pieces, text) => {
        expect([true, false, null]).toContain(mathEqual(pieces.join(''), text))
        expect([true, false, null]).toContain(mathEqual('1', pieces.join(' ')))
      }),
      { numRuns: 1000, seed: 6 },
    )
  })
})
