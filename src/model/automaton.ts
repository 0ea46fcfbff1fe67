/** @file What may come next: finite automata over tokens, by which sampling can be held to a grammar. */

import { DataError } from '../util/errors.ts'

/** A deterministic automaton. State 0 is the start; a state's tokens lead to further states, and others may not be drawn. */
export interface TokenAutomaton {
  /** By state: the tokens that may come next, and the state after each. */
  states: readonly ReadonlyMap<number, number>[]
}

/** Builds an automaton state by state. */
export class AutomatonBuilder {
  readonly #states: Map<number, number>[] = [new Map()]

  /** A new state, without tokens yet. */
  state(): number {
    return this.#states.push(new Map()) - 1
  }

  /** @throws DataError where the token leads elsewhere already */
  edge(from: number, token: number, to: number): void {
    const known = this.#states[from].get(token)
    if (known !== undefined && known !== to)
      throw new DataError(`automaton: token ${token} of state ${from} leads to ${known} and to ${to}`)
    this.#states[from].set(token, to)
  }

  /** The state after a token, a new one where there is none. */
  after(from: number, token: number): number {
    const known = this.#states[from].get(token)
    if (known !== undefined) return known
    const next = this.state()
    this.#states[from].set(token, next)
    return next
  }

  build(): TokenAutomaton {
    return { states: this.#states.map(tokens => new Map(tokens)) }
  }
}

/**
 * Whether an automaton lets these tokens pass, and where it ends; null where it does not.
 * @param from the state to begin in
 */
export const follow = ({ states }: TokenAutomaton, tokens: ArrayLike<number>, from = 0): number | null => {
  let state = from
  for (let i = 0; i < tokens.length; i++) {
    const next = states[state]?.get(tokens[i])
    if (next === undefined) return null
    state = next
  }
  return state
}

/** Tokens of the shortest way from the start to a state where nothing may come next; infinite where there is none. */
export const fewestTokens = ({ states }: TokenAutomaton): number => {
  const seen = new Set([0])
  for (let now = [0], tokens = 0; now.length > 0; tokens++) {
    if (now.some(state => states[state].size === 0)) return tokens
    now = [...new Set(now.flatMap(state => [...states[state].values()]))].filter(state => !seen.has(state))
    for (const state of now) seen.add(state)
  }
  return Number.POSITIVE_INFINITY
}

/**
 * Refuses an automaton that cannot be followed with a vocabulary.
 * @throws DataError for a state that is not there, and for a token outside the vocabulary
 */
export const checkAutomaton = ({ states }: TokenAutomaton, vocabSize: number): void => {
  if (states.length === 0) throw new DataError('automaton: expected a state to start in, got none')
  for (const [at, tokens] of states.entries())
    for (const [token, next] of tokens) {
      if (!(token >= 0 && token < vocabSize))
        throw new DataError(
          `automaton: token ${token} of state ${at} is outside the vocabulary of ${vocabSize}`,
        )
      if (!(next in states))
        throw new DataError(`automaton: state ${at} leads to state ${next}, which is not there`)
    }
}
