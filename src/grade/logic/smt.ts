/** @file SMT-LIB scripts: one a problem, every query of it in the same script. */

import { type Formula, freeVariables, predicates } from './formula.ts'

export interface ScriptOptions {
  /** Limit for each check. */
  timeoutMs: number
  /** Different constants are different things. FOLIO does not assume it. */
  uniqueNames: boolean
  /** `auto` spells instances out where that is complete; `quantified` leaves quantifiers to Z3. */
  encoding: 'auto' | 'quantified'
}

class QuantifiedWriter {
  readonly #predicates = new Map<string, string>()
  readonly #constants = new Map<string, string>()

  constructor(formulas: readonly Formula[]) {
    for (const [name, arities] of predicates(formulas)) {
      for (const arity of arities) this.#predicates.set(`${name}/${arity}`, `p${this.#predicates.size}`)
    }
    for (const formula of formulas) {
      for (const name of freeVariables(formula)) {
        if (!this.#constants.has(name)) this.#constants.set(name, `c${this.#constants.size}`)
      }
    }
  }

  declarations(uniqueNames: boolean): string {
    const parts = ['(declare-sort U 0)']
    for (const [key, symbol] of this.#predicates) {
      const arity = Number(key.slice(key.lastIndexOf('/') + 1))
      parts.push(`(declare-fun ${symbol} (${'U '.repeat(arity)}) Bool)`)
    }
    for (const symbol of this.#constants.values()) parts.push(`(declare-const ${symbol} U)`)
    if (uniqueNames && this.#constants.size > 1) {
      parts.push(`(assert (distinct ${[...this.#constants.values()].join(' ')}))`)
    }
    return parts.join('')
  }

  /** @param depth quantifiers around it: a variable may hide another of its name, so that `bound` is no count of them */
  write(formula: Formula, bound: ReadonlyMap<string, string> = new Map(), depth = 0): string {
    const term = (name: string) => bound.get(name) ?? this.#constants.get(name)!
    switch (formula.kind) {
      case 'atom': {
        const symbol = this.#predicates.get(`${formula.name}/${formula.args.length}`)!
        return formula.args.length > 0 ? `(${symbol} ${formula.args.map(term).join(' ')})` : symbol
      }
      case 'eq':
        return `(= ${term(formula.left)} ${term(formula.right)})`
      case 'not':
        return `(not ${this.write(formula.body, bound, depth)})`
      case 'forall':
      case 'exists': {
        const symbol = `v${depth}`
        const inner = new Map([...bound, [formula.variable, symbol]])
        return `(${formula.kind} ((${symbol} U)) ${this.write(formula.body, inner, depth + 1)})`
      }
      case 'true':
      case 'false':
        return formula.kind
      default: {
        const operator = formula.kind === 'iff' ? '=' : formula.kind === 'implies' ? '=>' : formula.kind
        return `(${operator} ${this.write(formula.left, bound, depth)} ${this.write(formula.right, bound, depth)})`
      }
    }
  }
}

const quantifiedScript = (
  premises: readonly Formula[],
  queries: readonly Formula[],
  options: ScriptOptions,
): string => {
  const writer = new QuantifiedWriter([...premises, ...queries])
  const asserted = premises.map(premise => `(assert ${writer.write(premise)})`)
  const checks = queries.map(query => {
    const text = writer.write(query)
    return `(push)(assert (not ${text}))(check-sat)(pop)(push)(assert ${text})(check-sat)(pop)`
  })
  return `${writer.declarations(options.uniqueNames)}${asserted.join('')}(check-sat)${checks.join('')}`
}

/** Premises with the formulas asked about them. */
export interface SmtProblem {
  premises: readonly Formula[]
  queries: readonly Formula[]
}

/** What Z3 said of one check. */
export type CheckResult = 'sat' | 'unsat' | 'unknown'

/** One script for many problems; `readResults` finds each one's results again. */
export const scriptFor = (problems: readonly SmtProblem[], options: ScriptOptions): string =>
  problems
    .map(({ premises, queries }, index) => {
      const ground = options.encoding === 'auto' ? groundScript(premises, queries) : null
      const logic = ground === null ? 'UF' : 'QF_UF'
      const body = ground ?? quantifiedScript(premises, queries, options)
      return `(reset)(set-option :timeout ${options.timeoutMs})(set-logic ${logic})(echo "@${index}")\n${body}\n`
    })
    .join('')

const isResult = (line: string): line is CheckResult =>
  line === 'sat' || line === 'unsat' || line === 'unknown'

/**
 * Splits a script's output by problem: the premises' own result first, then two a query. A problem whose part holds
 * `(error`, or another number of results than it asked for, is null: a malformed assertion would be followed by a
 * cheerful `sat`.
 */
export const readResults = (output: string, problems: readonly SmtProblem[]): (CheckResult[] | null)[] => {
  const parts = new Map<number, string>()
  for (const part of output.split(/^@(?=\d+$)/m).slice(1)) {
    const end = part.indexOf('\n')
    parts.set(Number(part.slice(0, end)), part.slice(end + 1))
  }
  const stray = output.slice(0, Math.max(0, output.search(/^@\d+$/m))).includes('(error')
  return problems.map(({ queries }, index) => {
    const part = parts.get(index)
    if (stray || part === undefined || part.includes('(error')) return null
    const results = part
      .split('\n')
      .map(line => line.trim())
      .filter(isResult)
    return results.length === 1 + 2 * queries.length ? results : null
  })
}

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
const groundScript = (premises: readonly Formula[], queries: readonly Formula[]): string | null => {
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
