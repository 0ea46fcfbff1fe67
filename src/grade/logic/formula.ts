/** @file First-order formulas: the tree, printing, normal form, names. */

/** A formula. `args` are names: a variable where a quantifier around the atom binds it, else a constant. */
export type Formula =
  | { kind: 'atom'; name: string; args: string[] }
  | { kind: 'eq'; left: string; right: string }
  | { kind: 'not'; body: Formula }
  | { kind: 'and' | 'or' | 'xor' | 'implies' | 'iff'; left: Formula; right: Formula }
  | { kind: 'forall' | 'exists'; variable: string; body: Formula }
  | { kind: 'true' }
  | { kind: 'false' }

export type BinaryKind = 'and' | 'or' | 'xor' | 'implies' | 'iff'

/** An atom: a predicate applied to names; no arguments makes a proposition. */
export const atom = (name: string, ...args: string[]): Formula => ({ kind: 'atom', name, args })

/** Negation, exactly as written: two negations stay two. */
export const not = (body: Formula): Formula => ({ kind: 'not', body })

/** A binary connective. */
export const binary = (kind: BinaryKind, left: Formula, right: Formula): Formula => ({ kind, left, right })

/** left -> right. */
export const implies = (left: Formula, right: Formula): Formula => binary('implies', left, right)

/** A universally quantified formula. */
export const forall = (variable: string, body: Formula): Formula => ({ kind: 'forall', variable, body })

/** An existentially quantified formula. */
export const exists = (variable: string, body: Formula): Formula => ({ kind: 'exists', variable, body })

/** Conjunction of all, nested to the left; `true` for none. */
export const conjunction = (parts: readonly Formula[]): Formula =>
  parts.length === 0 ? { kind: 'true' } : parts.reduce((left, right) => binary('and', left, right))

/** The negation without a double negation: not(not p) gives p. */
export const negate = (formula: Formula): Formula => (formula.kind === 'not' ? formula.body : not(formula))

const SYMBOLS = { and: '∧', or: '∨', xor: '⊕', implies: '→', iff: '↔' } as const
const QUANTIFIERS = { forall: '∀', exists: '∃' } as const

const printTight = (formula: Formula): string =>
  'left' in formula && formula.kind !== 'eq' ? `(${printFormula(formula)})` : printFormula(formula)

/** Prints in the step grammar (FOLIO's operators); `parseFormula` reads it back to the same tree. */
export const printFormula = (formula: Formula): string => {
  switch (formula.kind) {
    case 'atom':
      return formula.args.length > 0 ? `${formula.name}(${formula.args.join(', ')})` : formula.name
    case 'eq':
      return `(${formula.left} = ${formula.right})`
    case 'not':
      return `¬${printTight(formula.body)}`
    case 'forall':
    case 'exists':
      return `${QUANTIFIERS[formula.kind]}${formula.variable} ${printTight(formula.body)}`
    case 'true':
    case 'false':
      return formula.kind
    default:
      return `${printTight(formula.left)} ${SYMBOLS[formula.kind]} ${printTight(formula.right)}`
  }
}

/** Visits every atom and equation with the variables bound around it. */
export const visitAtoms = (
  formula: Formula,
  visit: (leaf: Extract<Formula, { kind: 'atom' | 'eq' }>, bound: ReadonlySet<string>) => void,
  bound: ReadonlySet<string> = new Set(),
): void => {
  switch (formula.kind) {
    case 'atom':
    case 'eq':
      visit(formula, bound)
      return
    case 'not':
      visitAtoms(formula.body, visit, bound)
      return
    case 'forall':
    case 'exists':
      visitAtoms(formula.body, visit, new Set([...bound, formula.variable]))
      return
    case 'true':
    case 'false':
      return
    default:
      visitAtoms(formula.left, visit, bound)
      visitAtoms(formula.right, visit, bound)
  }
}

/** Names in argument places that no quantifier binds: constants, or free variables of an open formula. */
export const freeVariables = (formula: Formula): Set<string> => {
  const free = new Set<string>()
  visitAtoms(formula, (leaf, bound) => {
    const names = leaf.kind === 'eq' ? [leaf.left, leaf.right] : leaf.args
    for (const name of names) if (!bound.has(name)) free.add(name)
  })
  return free
}

/** Predicate names with the arities that they are used with. */
export const predicates = (formulas: Iterable<Formula>): Map<string, Set<number>> => {
  const arities = new Map<string, Set<number>>()
  for (const formula of formulas) {
    visitAtoms(formula, leaf => {
      if (leaf.kind !== 'atom') return
      const known = arities.get(leaf.name)
      if (known) known.add(leaf.args.length)
      else arities.set(leaf.name, new Set([leaf.args.length]))
    })
  }
  return arities
}

/** Renames predicates and unbound names; bound variables stay. */
export const renameNames = (
  formula: Formula,
  predicate: (name: string, arity: number) => string,
  constant: (name: string) => string = name => name,
  bound: ReadonlySet<string> = new Set(),
): Formula => {
  const term = (name: string) => (bound.has(name) ? name : constant(name))
  switch (formula.kind) {
    case 'atom':
      return {
        kind: 'atom',
        name: predicate(formula.name, formula.args.length),
        args: formula.args.map(term),
      }
    case 'eq':
      return { kind: 'eq', left: term(formula.left), right: term(formula.right) }
    case 'not':
      return not(renameNames(formula.body, predicate, constant, bound))
    case 'forall':
    case 'exists': {
      const inner = new Set([...bound, formula.variable])
      return { ...formula, body: renameNames(formula.body, predicate, constant, inner) }
    }
    case 'true':
    case 'false':
      return formula
    default:
      return binary(
        formula.kind,
        renameNames(formula.left, predicate, constant, bound),
        renameNames(formula.right, predicate, constant, bound),
      )
  }
}

const operands = (formula: Formula, kind: BinaryKind): Formula[] =>
  formula.kind === kind && 'left' in formula && 'right' in formula
    ? [...operands(formula.left as Formula, kind), ...operands(formula.right as Formula, kind)]
    : [formula]

const keyOf = (formula: Formula, depths: ReadonlyMap<string, number>, depth: number): string => {
  // A bound name is written by the depth of its quantifier, so that renaming it changes nothing.
  const term = (name: string) => (depths.has(name) ? `#${depths.get(name)}` : name)
  switch (formula.kind) {
    case 'atom':
      return formula.args.length > 0 ? `${formula.name}(${formula.args.map(term).join(',')})` : formula.name
    case 'eq':
      return `=(${[term(formula.left), term(formula.right)].sort().join(',')})`
    case 'not':
      return formula.body.kind === 'not'
        ? keyOf(formula.body.body, depths, depth)
        : `~${keyOf(formula.body, depths, depth)}`
    case 'forall':
    case 'exists': {
      const inner = new Map([...depths, [formula.variable, depth]])
      // A point may stand in a name (`forall.P`), a colon cannot.
      return `${formula.kind}:${keyOf(formula.body, inner, depth + 1)}`
    }
    case 'true':
    case 'false':
      return formula.kind
    case 'implies':
      return `implies(${keyOf(formula.left, depths, depth)};${keyOf(formula.right, depths, depth)})`
    default: {
      const parts = operands(formula, formula.kind).map(part => keyOf(part, depths, depth))
      // and, or, xor and iff are associative and commutative.
      return `${formula.kind}(${parts.sort().join(';')})`
    }
  }
}

const keys = new WeakMap<Formula, string>()

/**
 * A text that is equal for formulas that differ only in names of bound variables, order and nesting of the operands
 * of and, or, xor, iff and =, or doubled negations. Remembered per formula object: never change a formula in place.
 */
export const formulaKey = (formula: Formula): string => {
  let key = keys.get(formula)
  if (key === undefined) {
    key = keyOf(formula, new Map(), 0)
    keys.set(formula, key)
  }
  return key
}

/** The same formula up to what `formulaKey` ignores. */
export const sameFormula = (a: Formula, b: Formula): boolean => formulaKey(a) === formulaKey(b)

const LETTERS: Record<string, string> = {
  ł: 'l',
  Ł: 'L',
  ø: 'o',
  Ø: 'O',
  đ: 'd',
  Đ: 'D',
  ß: 'ss',
  æ: 'ae',
  Æ: 'Ae',
  œ: 'oe',
  Œ: 'Oe',
  ı: 'i',
  þ: 'th',
  Þ: 'Th',
  ð: 'd',
}

const escapeLetter = (letter: string) => LETTERS[letter] ?? `u${letter.codePointAt(0)!.toString(16)}`

/**
 * A name in ASCII: accents dropped, letters without an ASCII base spelt out, apostrophes of every kind removed.
 * Case is kept: names are case-sensitive.
 */
export const normaliseName = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'’‘`´ʼ]/g, '')
    .replace(/[^\x20-\x7e]/gu, escapeLetter)

/** A copy with every name in ASCII. */
export const normaliseFormula = (formula: Formula): Formula => {
  switch (formula.kind) {
    case 'atom':
      return { kind: 'atom', name: normaliseName(formula.name), args: formula.args.map(normaliseName) }
    case 'eq':
      return { kind: 'eq', left: normaliseName(formula.left), right: normaliseName(formula.right) }
    case 'not':
      return not(normaliseFormula(formula.body))
    case 'forall':
    case 'exists':
      return {
        kind: formula.kind,
        variable: normaliseName(formula.variable),
        body: normaliseFormula(formula.body),
      }
    case 'true':
    case 'false':
      return formula
    default:
      return binary(formula.kind, normaliseFormula(formula.left), normaliseFormula(formula.right))
  }
}
