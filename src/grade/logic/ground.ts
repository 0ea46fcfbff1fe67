/** @file A solver of its own for universal rules and facts: instances over the names, clauses, unit propagation, splitting. */

import { type Formula, freeVariables } from './formula.ts'

// Independent of the Z3 encoding on purpose: the two check each other, and this one stands in where Z3 cannot start.

/** A literal is an atom's number, 1-based; negative when denied. */
type Literal = number
type Clause = Literal[]
type Environment = ReadonlyMap<string, string>

class OutsideFragment extends Error {}

/**
 * What a question may cost, counted in nodes, literals and copies: a count, and no clock, so that a busy machine does not
 * change an answer. @throws OutsideFragment when it is spent
 */
class Work {
  #left: number

  constructor(most: number) {
    this.#left = most
  }

  spend(cost: number): void {
    this.#left -= cost
    if (this.#left < 0) throw new OutsideFragment()
  }
}

/** Work that is worth doing at once, where the question arises: a few milliseconds. */
const QUICK_WORK = 50_000

const MAX_CLAUSES_PER_FORMULA = 256
const MAX_INSTANCES = 4096

/** Numbers ground atoms. */
class Atoms {
  readonly #numbers = new Map<string, number>()

  number(name: string, args: readonly string[]): number {
    const key = args.length > 0 ? `${name}(${args.join(',')})` : name
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.#numbers.size + 1
      this.#numbers.set(key, number)
    }
    return number
  }
}

const cross = (left: Clause[], right: Clause[], work: Work): Clause[] => {
  if (left.length * right.length > MAX_CLAUSES_PER_FORMULA) throw new OutsideFragment()
  for (const clause of left) work.spend(right.length * (clause.length + 1))
  return left.flatMap(a => right.map(b => [...a, ...b]))
}

/** Clauses of a formula without quantifiers, asserted (`sign`) or denied. [[]] is falsehood, [] truth. */
const clausesOf = (
  formula: Formula,
  sign: boolean,
  atoms: Atoms,
  environment: Environment,
  work: Work,
): Clause[] => {
  const sub = (part: Formula, asserted: boolean) => clausesOf(part, asserted, atoms, environment, work)
  const both = (left: Clause[], right: Clause[]) => {
    work.spend(left.length + right.length)
    return left.concat(right)
  }
  work.spend(1)
  switch (formula.kind) {
    case 'atom': {
      const args = formula.args.map(name => environment.get(name) ?? name)
      const number = atoms.number(formula.name, args)
      return [[sign ? number : -number]]
    }
    case 'true':
    case 'false':
      return (formula.kind === 'true') === sign ? [] : [[]]
    case 'not':
      return sub(formula.body, !sign)
    case 'and':
      return sign
        ? both(sub(formula.left, true), sub(formula.right, true))
        : cross(sub(formula.left, false), sub(formula.right, false), work)
    case 'or':
      return sign
        ? cross(sub(formula.left, true), sub(formula.right, true), work)
        : both(sub(formula.left, false), sub(formula.right, false))
    case 'implies':
      return sign
        ? cross(sub(formula.left, false), sub(formula.right, true), work)
        : both(sub(formula.left, true), sub(formula.right, false))
    case 'iff':
    case 'xor': {
      const same = (formula.kind === 'iff') === sign
      const forwards = cross(sub(formula.left, false), sub(formula.right, same), work)
      return both(forwards, cross(sub(formula.left, true), sub(formula.right, !same), work))
    }
    default:
      throw new OutsideFragment()
  }
}

interface Prefix {
  universals: string[]
  existentials: string[]
  matrix: Formula
  sign: boolean
}

/** Peels leading negations and quantifiers of an asserted or denied formula; existentials must come first. */
const prefixOf = (formula: Formula, sign: boolean): Prefix => {
  const prefix: Prefix = { universals: [], existentials: [], matrix: formula, sign }
  for (;;) {
    const { matrix } = prefix
    if (matrix.kind === 'not') {
      prefix.matrix = matrix.body
      prefix.sign = !prefix.sign
    } else if (matrix.kind === 'forall' || matrix.kind === 'exists') {
      const universal = (matrix.kind === 'forall') === prefix.sign
      if (!universal && prefix.universals.length > 0) throw new OutsideFragment()
      ;(universal ? prefix.universals : prefix.existentials).push(matrix.variable)
      prefix.matrix = matrix.body
    } else return prefix
  }
}

const environments = function* (
  variables: readonly string[],
  universe: readonly string[],
): Generator<Environment> {
  if (universe.length ** variables.length > MAX_INSTANCES) throw new OutsideFragment()
  if (variables.length === 0) {
    yield new Map()
    return
  }
  const [first, ...rest] = variables
  for (const inner of environments(rest, universe)) {
    // An inner variable of the same name hides the outer one.
    for (const name of universe) yield new Map([[first, name], ...inner])
  }
}

/** Clauses that hold after setting `literals`, or null for a conflict. Sets everything that follows by unit clauses. */
const propagate = (clauses: readonly Clause[], set: Map<number, boolean>, work: Work): Clause[] | null => {
  let open: readonly Clause[] = clauses
  for (;;) {
    const next: Clause[] = []
    let changed = false
    for (const clause of open) {
      work.spend(clause.length + 1)
      let satisfied = false
      const rest: Clause = []
      for (const literal of clause) {
        const value = set.get(Math.abs(literal))
        if (value === undefined) rest.push(literal)
        else if (value === literal > 0) {
          satisfied = true
          break
        }
      }
      if (satisfied) continue
      if (rest.length === 0) return null
      if (rest.length === 1) {
        set.set(Math.abs(rest[0]), rest[0] > 0)
        changed = true
      } else next.push(rest)
    }
    if (!changed) return next
    open = next
  }
}

/** Davis, Putnam, Logemann and Loveland: propagate, then split on a literal of a shortest clause. */
const satisfiable = (clauses: readonly Clause[], set: ReadonlyMap<number, boolean>, work: Work): boolean => {
  work.spend(2 * set.size)
  const values = new Map(set)
  const open = propagate(clauses, values, work)
  if (open === null) return false
  if (open.length === 0) return true
  const literal = open.reduce((best, clause) => (clause.length < best.length ? clause : best))[0]
  return [literal > 0, literal < 0].some(value => {
    const branch = new Map(values).set(Math.abs(literal), value)
    return satisfiable(open, branch, work)
  })
}

export type GroundStatus = 'entailed' | 'contradicted' | 'consistent' | 'inconsistent-premises'

/** A name that no text can hold. */
const fresh = (index: number) => `!${index}`

/** Premises made ready for many questions. */
export class GroundTheory {
  readonly #atoms = new Atoms()
  readonly #universe: string[]
  readonly #clauses: Clause[] = []
  /** What unit propagation alone gives, and the clauses still open after it; null when it meets a conflict. */
  readonly #open: Clause[] | null
  readonly #set = new Map<number, boolean>()
  readonly #freshNames: number
  readonly #work: Work
  readonly consistent: boolean

  private constructor(
    premises: readonly Formula[],
    extraNames: readonly string[],
    freshNames: number,
    work: Work,
  ) {
    this.#freshNames = freshNames
    this.#work = work
    const prefixes = premises.map(premise => prefixOf(premise, true))
    const names = new Set([...extraNames, ...premises.flatMap(premise => [...freeVariables(premise)])])
    const own = prefixes.reduce((sum, prefix) => sum + prefix.existentials.length, 0)
    this.#universe = [...names, ...Array.from({ length: own + freshNames }, (_, index) => fresh(index))]
    let next = freshNames
    for (const prefix of prefixes) {
      for (const clause of this.#instances(prefix, () => fresh(next++))) this.#clauses.push(clause)
    }
    this.#open = propagate(this.#clauses, this.#set, work)
    this.consistent = this.#open !== null && satisfiable(this.#open, this.#set, work)
  }

  /**
   * Null when a premise is outside the fragment: universal (or leading existential) quantifiers over a formula without
   * quantifiers and equality. `names` are constants that questions will use beside the premises' own; `freshNames` is the
   * largest number of universal quantifiers in a question. Null, too, when it takes more than `maxWork`, which questions share.
   */
  static of(
    premises: readonly Formula[],
    names: readonly string[] = [],
    freshNames = 2,
    maxWork = Number.POSITIVE_INFINITY,
  ): GroundTheory | null {
    try {
      return new GroundTheory(premises, names, freshNames, new Work(maxWork))
    } catch (error) {
      if (error instanceof OutsideFragment) return null
      throw error
    }
  }

  #instances(prefix: Prefix, named: () => string): Clause[] {
    const witnesses = prefix.existentials.map(variable => [variable, named()] as const)
    const clauses: Clause[] = []
    for (const environment of environments(prefix.universals, this.#universe)) {
      this.#work.spend(1 + prefix.universals.length)
      const named = new Map([...witnesses, ...environment])
      for (const clause of clausesOf(prefix.matrix, prefix.sign, this.#atoms, named, this.#work))
        clauses.push(clause)
    }
    return clauses
  }

  /** True when the formula, asserted or denied, fits the premises. */
  #fits(formula: Formula, sign: boolean): boolean {
    if (this.#open === null) return false
    const prefix = prefixOf(formula, sign)
    if (prefix.existentials.length > this.#freshNames) throw new OutsideFragment()
    let next = 0
    const clauses = this.#instances(prefix, () => fresh(next++))
    return satisfiable(clauses.concat(this.#open), this.#set, this.#work)
  }

  /** What the premises say of a formula; null when it is outside the fragment or names a constant not prepared for. */
  status(formula: Formula): GroundStatus | null {
    if ([...freeVariables(formula)].some(name => !this.#universe.includes(name))) return null
    if (!this.consistent) return 'inconsistent-premises'
    try {
      if (!this.#fits(formula, false)) return 'entailed'
      return this.#fits(formula, true) ? 'consistent' : 'contradicted'
    } catch (error) {
      if (error instanceof OutsideFragment) return null
      throw error
    }
  }
}

const quantifiers = (formula: Formula): number => {
  if (formula.kind === 'forall' || formula.kind === 'exists') return 1 + quantifiers(formula.body)
  return formula.kind === 'not' ? quantifiers(formula.body) : 0
}

/**
 * What premises say of one formula, by this solver alone; null outside its fragment, or beyond `maxWork`.
 * @example
 * groundStatus([parseSentence('Every cat is an animal.'), parseSentence('Rex is a cat.')], parseSentence('Rex is an animal.')) // 'entailed'
 */
export const groundStatus = (
  premises: readonly Formula[],
  formula: Formula,
  maxWork = QUICK_WORK,
): GroundStatus | null => {
  // One name at least: a domain is never empty.
  const freshNames = Math.max(1, quantifiers(formula))
  const theory = GroundTheory.of(premises, [...freeVariables(formula)], freshNames, maxWork)
  return theory?.status(formula) ?? null
}

/**
 * Premises (by index) of a shortest derivation of a literal through rules with one condition, contrapositives included;
 * null when there is no such derivation, or none within `QUICK_WORK`. Breadth first over literals from the facts, so the fewest rules win.
 */
export const shortestDerivation = (premises: readonly Formula[], goal: Formula): number[] | null => {
  try {
    return derive(premises, goal)
  } catch (error) {
    if (error instanceof OutsideFragment) return null
    throw error
  }
}

const derive = (premises: readonly Formula[], goal: Formula): number[] | null => {
  const atoms = new Atoms()
  const work = new Work(QUICK_WORK)
  const goalClauses = clausesOf(goal, true, atoms, new Map(), work)
  if (goalClauses.length !== 1 || goalClauses[0].length !== 1) return null
  const names = [...new Set([goal, ...premises].flatMap(formula => [...freeVariables(formula)]))]
  const edges = new Map<Literal, { to: Literal; premise: number }[]>()
  const reached = new Map<Literal, number[]>()
  const addEdge = (from: Literal, to: Literal, premise: number) => {
    const known = edges.get(from)
    if (known) known.push({ to, premise })
    else edges.set(from, [{ to, premise }])
  }
  for (const [index, premise] of premises.entries()) {
    const prefix = prefixOf(premise, true)
    if (prefix.existentials.length > 0) continue
    for (const environment of environments(prefix.universals, names)) {
      work.spend(1 + prefix.universals.length)
      for (const clause of clausesOf(prefix.matrix, prefix.sign, atoms, environment, work)) {
        if (clause.length === 1 && !reached.has(clause[0])) reached.set(clause[0], [index])
        if (clause.length !== 2) continue
        addEdge(-clause[0], clause[1], index)
        addEdge(-clause[1], clause[0], index)
      }
    }
  }
  const target = goalClauses[0][0]
  // The map grows while it is walked: a queue in the order of discovery.
  for (const [literal, path] of reached) {
    if (literal === target) return [...new Set(path)].sort((a, b) => a - b)
    for (const { to, premise } of edges.get(literal) ?? []) {
      if (!reached.has(to)) reached.set(to, [...path, premise])
    }
  }
  return null
}
