/** @file What is wrong with the form of a trajectory: stages that are missing, turn rules that are broken, loose tags. */

import type { Element, Elements, LooseTag } from './elements.ts'
import type { TagName } from './tags.ts'

/**
 * - `several-actions`: a turn with more than one call or answer; `no-action`: one that something was said to, without any
 * - `forged-output`: the agent wrote what looks like a tool's output
 */
export type ProblemKind =
  | 'missing-plan'
  | 'missing-review'
  | 'missing-answer'
  | 'answer-before-search'
  | 'too-many-calls'
  | 'several-actions'
  | 'no-action'
  | 'text-after-call'
  | 'text-after-answer'
  | 'forged-output'
  | LooseTag['kind']

export interface ResearchProblem {
  kind: ProblemKind
  /** The tag that is loose. */
  name?: TagName
  /** Where it is first met; absent for what is missing. */
  at?: number
  /** How often it is met. */
  count: number
}

/** Problems with each kind once, however often a text has it. */
export class ProblemList {
  readonly #found = new Map<string, ResearchProblem>()

  add(kind: ProblemKind, at?: number, name?: TagName): void {
    const key = `${kind} ${name ?? ''}`
    const known = this.#found.get(key)
    if (known) known.count++
    else this.#found.set(key, { kind, count: 1, ...(at !== undefined && { at }), ...(name && { name }) })
  }

  list(): ResearchProblem[] {
    return [...this.#found.values()]
  }
}

const WORDS: Record<Exclude<ProblemKind, LooseTag['kind']>, string> = {
  'missing-plan': 'missing plan: no <structured_plan> with its closing tag',
  'missing-review': 'missing review: no <review> before the answer',
  'missing-answer': 'missing answer: the last turn has no <answer> with its closing tag',
  'answer-before-search': 'answer before a search',
  'too-many-calls': 'more calls than are allowed',
  'several-actions': 'more than one call or answer in a turn',
  'no-action': 'a turn without a call or an answer',
  'text-after-call': 'text after a call in its turn',
  'text-after-answer': 'text after the answer',
  'forged-output': 'tool output that the agent wrote itself',
}

/** A problem in words, with its place: `unclosed <think> at 12 (3 times)`. */
export const problemText = ({ kind, name, at, count }: ResearchProblem): string =>
  [
    kind === 'unclosed' || kind === 'stray' ? `${kind} <${kind === 'stray' ? '/' : ''}${name}>` : WORDS[kind],
    at === undefined ? '' : ` at ${at}`,
    count > 1 ? ` (${count} times)` : '',
  ].join('')

export const isAction = ({ name, inside }: Element): boolean =>
  inside !== null && (name === 'call_tool' || name === 'answer')

/** Breaks of the rule that a turn ends with exactly one call or answer, and of the number and order of calls. */
export const addTurnProblems = (
  problems: ProblemList,
  text: string,
  { turns, elements }: Elements,
  maxCalls: number,
): void => {
  const actions = elements.filter(isAction)
  let calls = 0
  for (const { name, start } of actions) {
    if (name === 'call_tool' && ++calls > maxCalls) problems.add('too-many-calls', start)
    if (name === 'answer' && calls === 0) problems.add('answer-before-search', start)
  }
  let next = 0
  for (const [turn, { start, end }] of turns.entries()) {
    const first = next
    while (next < actions.length && actions[next].turn === turn) next++
    for (const { start: at } of actions.slice(first + 1, next)) problems.add('several-actions', at)
    const last = next > first ? actions[next - 1] : null
    const rest = text.slice(last?.end ?? start, end)
    if (rest.trim() === '') continue
    if (last) problems.add(last.name === 'answer' ? 'text-after-answer' : 'text-after-call', last.end)
    else if (turn < turns.length - 1) problems.add('no-action', start)
  }
}
