/** @file SMT-LIB scripts: one a problem, every query of it in the same script. */

import { type Formula, freeVariables, predicates } from './formula.ts'
import { groundScript } from './smt-ground.ts'

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
