/** @file SMT-LIB for problems without alternating quantifiers: every formula spelt out over the finitely many names. */

import { type Formula, freeVariables } from './formula.ts'

/**
 * The Bernays-Schönfinkel class: once the existential quantifiers are named (none stands under a universal one), a set of
 * such formulas without equality has a model exactly when its instances over the names have one (Herbrand). Z3 then
 * decides propositional formulas under assumptions, several times faster than quantified ones.
 */
class NotGround extends Error {}

type Environment = ReadonlyMap<string, string>

/** Instances of one problem that are worth spelling out; beyond it the quantified encoding is smaller. */
const MAX_INSTANCES = 20_000

class GroundWriter {
  readonly #atoms = new Map<string, string>()
  readonly universe: string[]
  #instances = 0

  constructor(universe: string[]) {
    this.universe = universe
  }

  declarations(): string {
    return [...this.#atoms.values()].map(name => `(declare-const ${name} Bool)`).join('')
  }

  #atom(name: string, args: readonly string[], environment: Environment): string {
    const key = `${name}/${args.map(arg => environment.get(arg) ?? arg).join(',')}/${args.length}`
    let symbol = this.#atoms.get(key)
    if (symbol === undefined) {
      symbol = `b${this.#atoms.size}`
      this.#atoms.set(key, symbol)
    }
    return symbol
  }

  /**
   * A formula asserted (`positive`) or denied, as SMT-LIB text. `named` gives the next name for an existential.
   * @throws NotGround for what is outside the class.
   */
  write(
    formula: Formula,
    positive: boolean,
    named: () => string,
    environment: Environment = new Map(),
    underAll = false,
  ): string {
    if (++this.#instances > MAX_INSTANCES) throw new NotGround()
    const sub = (part: Formula, sign: boolean) => this.write(part, sign, named, environment, underAll)
    switch (formula.kind) {
      case 'atom': {
        const symbol = this.#atom(formula.name, formula.args, environment)
        return positive ? symbol : `(not ${symbol})`
      }
      case 'eq':
        throw new NotGround()
      case 'true':
      case 'false':
        return String((formula.kind === 'true') === positive)
      case 'not':
        return sub(formula.body, !positive)
      case 'and':
      case 'or':
        return `(${(formula.kind === 'and') === positive ? 'and' : 'or'} ${sub(formula.left, positive)} ${sub(formula.right, positive)})`
      case 'implies':
        return `(${positive ? 'or' : 'and'} ${sub(formula.left, !positive)} ${sub(formula.right, positive)})`
      case 'xor':
      case 'iff': {
        // Both signs of each side are needed; a quantifier there would be universal under one of them.
        if (hasQuantifier(formula)) throw new NotGround()
        const operator = (formula.kind === 'iff') === positive ? '=' : 'xor'
        return `(${operator} ${sub(formula.left, true)} ${sub(formula.right, true)})`
      }
      default:
        return this.#quantifier(formula, positive, named, environment, underAll)
    }
  }

  #quantifier(
    formula: Extract<Formula, { kind: 'forall' | 'exists' }>,
    positive: boolean,
    named: () => string,
    environment: Environment,
    underAll: boolean,
  ): string {
    const universal = (formula.kind === 'forall') === positive
    if (!universal && underAll) throw new NotGround()
    const names = universal ? this.universe : [named()]
    const parts = names.map(name => {
      const inner = new Map([...environment, [formula.variable, name]])
      return this.write(formula.body, positive, named, inner, underAll || universal)
    })
    return parts.length === 1 ? parts[0] : `(and ${parts.join(' ')})`
  }
}

const hasQuantifier = (formula: Formula): boolean => {
  if (formula.kind === 'forall' || formula.kind === 'exists') return true
  if ('body' in formula) return hasQuantifier(formula.body)
  if (formula.kind === 'eq' || !('left' in formula)) return false
  return hasQuantifier(formula.left) || hasQuantifier(formula.right)
}

/** How many names the existentials of an asserted (or denied) formula need. */
const existentials = (formula: Formula, positive: boolean): number => {
  switch (formula.kind) {
    case 'not':
      return existentials(formula.body, !positive)
    case 'implies':
      return existentials(formula.left, !positive) + existentials(formula.right, positive)
    case 'and':
    case 'or':
      return existentials(formula.left, positive) + existentials(formula.right, positive)
    case 'forall':
    case 'exists': {
      const own = (formula.kind === 'exists') === positive ? 1 : 0
      return own + existentials(formula.body, positive)
    }
    default:
      return 0
  }
}

const counter = (prefix: string) => {
  let count = 0
  return () => `${prefix}${count++}`
}

/**
 * One problem and its queries: first whether the premises are satisfiable, then for each query with its negation, then
 * with itself (1 + 2 * queries results). Null when a formula is outside the class.
 */
export const groundScript = (premises: readonly Formula[], queries: readonly Formula[]): string | null => {
  const premiseNames = premises.reduce((sum, formula) => sum + existentials(formula, true), 0)
  // Only one query is assumed at a time, so that all may share the same extra names.
  const queryNames = Math.max(
    0,
    ...queries.map(query => Math.max(existentials(query, true), existentials(query, false))),
  )
  const constants = new Set([...premises, ...queries].flatMap(formula => [...freeVariables(formula)]))
  const universe = [...constants]
  for (let i = 0; i < premiseNames; i++) universe.push(`!p${i}`)
  for (let i = 0; i < queryNames; i++) universe.push(`!q${i}`)
  if (universe.length === 0) universe.push('!one')
  const writer = new GroundWriter(universe)
  try {
    const named = counter('!p')
    const asserted = premises.map(premise => `(assert ${writer.write(premise, true, named)})`)
    const assumed = queries.map((query, index) => {
      const denied = writer.write(query, false, counter('!q'))
      const stated = writer.write(query, true, counter('!q'))
      return (
        `(declare-const n${index} Bool)(declare-const s${index} Bool)` +
        `(assert (=> n${index} ${denied}))(assert (=> s${index} ${stated}))`
      )
    })
    const checks = queries.map(
      (_, index) => `(check-sat-assuming (n${index}))(check-sat-assuming (s${index}))`,
    )
    return `${writer.declarations()}${asserted.join('')}${assumed.join('')}(check-sat)${checks.join('')}`
  } catch (error) {
    if (error instanceof NotGround) return null
    throw error
  }
}
