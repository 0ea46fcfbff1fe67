/** @file What follows from the premises of a ProntoQA-style problem, by chaining rules: no solver is needed there. */

import type { LogicTaskExample } from '../example.ts'
import { type LogicRule, type RuleView, readRules } from '../rules.ts'

/** An individual that no premise speaks of: what holds of it as one of a kind holds of all of that kind. */
const ANYONE = '?'

/** Kinds and properties that an individual has, and those that it lacks. */
interface Known {
  has: Set<string>
  lacks: Set<string>
}

/**
 * Decides statements of the fragment. Its clauses are Horn, so that chaining from the facts, with what is denied added, finds
 * every consequence.
 */
export class Closure {
  readonly view: RuleView
  readonly #byKind = new Map<string, LogicRule[]>()
  readonly #answers = new Map<string, boolean>()

  constructor(view: RuleView) {
    this.view = view
    for (const rule of view.rules) {
      const known = this.#byKind.get(rule.subject)
      if (known) known.push(rule)
      else this.#byKind.set(rule.subject, [rule])
    }
  }

  /** Whether the premises entail a statement. */
  follows(statement: Pick<LogicRule, 'fact' | 'subject' | 'object' | 'negated'>): boolean {
    const { fact, subject, object, negated } = statement
    const key = `${fact ? 'fact' : 'rule'} ${subject} ${negated ? 'not ' : ''}${object}`
    let answer = this.#answers.get(key)
    if (answer === undefined) {
      const assumed = fact ? [] : [subject]
      const individual = fact ? subject : ANYONE
      answer = negated
        ? this.#isContradictory(individual, [...assumed, object])
        : this.#chain(individual, assumed).has.has(object) || this.#isContradictory(individual, assumed)
      this.#answers.set(key, answer)
    }
    return answer
  }

  /** All that the rules say of an individual with these kinds beside its own. */
  #chain(individual: string, assumed: readonly string[]): Known {
    const own = this.view.facts.filter(({ subject }) => subject === individual)
    const has = new Set([...assumed, ...own.filter(({ negated }) => !negated).map(({ object }) => object)])
    const lacks = new Set(own.filter(({ negated }) => negated).map(({ object }) => object))
    for (const kind of has)
      for (const { object, negated } of this.#byKind.get(kind) ?? []) (negated ? lacks : has).add(object)
    return { has, lacks }
  }

  #isContradictory(individual: string, assumed: readonly string[]): boolean {
    const { has, lacks } = this.#chain(individual, assumed)
    for (const object of lacks) if (has.has(object)) return true
    return false
  }
}

/** Problems are few in a step, and their closures are asked again and again. */
const closures = new WeakMap<LogicTaskExample, Closure | null>()

/** The closure of a problem; null for one outside the fragment. */
export const closureOf = (problem: LogicTaskExample): Closure | null => {
  let closure = closures.get(problem)
  if (closure === undefined) {
    const view = readRules(problem)
    closure = view && new Closure(view)
    closures.set(problem, closure)
  }
  return closure
}
