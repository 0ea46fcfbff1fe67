/** @file One trajectory as it is acted: turns of text in, what tools and rules say to them out. Knows no tokens. */

import type { Snippet } from '../../tools/tool.ts'
import { readCall } from './calls.ts'
import { reachedTool, type ToolCallOutcome } from './outcome.ts'
import {
  type ActionNames,
  type BrokenRule,
  DEFAULT_RULES,
  decideTurn,
  lastCallNotice,
  ruleNotice,
  type TurnRules,
} from './protocol.ts'
import type { ToolBox } from './tool-box.ts'

/** What is said to a turn. */
export type SessionReply =
  | { kind: 'over'; why: 'answered' | 'too-many-breaks' }
  | { kind: 'tool'; outcome: ToolCallOutcome; text: string }
  | { kind: 'notice'; rule: BrokenRule; text: string }

export interface SessionCounts {
  turns: number
  calls: number
  /** Calls that reached a tool. */
  searches: number
  /** Calls that ended otherwise than with an output. */
  callErrors: number
  breaks: Partial<Record<BrokenRule, number>>
}

export interface SessionOptions {
  rules?: TurnRules
  /** How reminders name the actions. */
  names?: ActionNames
}

export const XML_NAMES: ActionNames = { call: 'call_tool', answer: 'answer' }

export class ResearchSession {
  readonly #box: Pick<ToolBox, 'run'>
  readonly #rules: TurnRules
  readonly #names: ActionNames
  readonly #over = new AbortController()
  readonly #counts = { turns: 0, calls: 0, searches: 0, callErrors: 0 }
  readonly #breaks: Partial<Record<BrokenRule, number>> = {}
  readonly #snippets = new Map<string, Snippet>()
  #brokenTurns = 0

  constructor(box: Pick<ToolBox, 'run'>, { rules = DEFAULT_RULES, names = XML_NAMES }: SessionOptions = {}) {
    this.#box = box
    this.#rules = rules
    this.#names = names
  }

  get counts(): SessionCounts {
    return { ...this.#counts, breaks: { ...this.#breaks } }
  }

  /** Passages that the agent has been shown, by the id that it cites them by. */
  get snippets(): ReadonlyMap<string, Snippet> {
    return this.#snippets
  }

  /** Carries out what a turn asks for. A tool that fails, or a rule that is broken, is something that is said. */
  async reply(turn: string): Promise<SessionReply> {
    const decision = decideTurn(turn, this.#counts, this.#rules)
    this.#counts.turns++
    if (decision.kind === 'answer') return { kind: 'over', why: 'answered' }
    if (decision.kind === 'break') return this.#remind(decision.rule)
    this.#counts.calls++
    const call = readCall(turn, decision.element)
    const { outcome, text, snippets } = await this.#box.run(call, { signal: this.#over.signal })
    if (reachedTool(outcome)) this.#counts.searches++
    if (outcome !== 'output') this.#counts.callErrors++
    for (const snippet of snippets) this.#snippets.set(snippet.id, snippet)
    const isLast = this.#counts.calls === this.#rules.maxCalls
    const note = isLast ? `\n${lastCallNotice(this.#rules, this.#names)}` : ''
    return { kind: 'tool', outcome, text: text + note }
  }

  /** Gives up a call that is under way. */
  close(): void {
    this.#over.abort()
  }

  #remind(rule: BrokenRule): SessionReply {
    this.#breaks[rule] = (this.#breaks[rule] ?? 0) + 1
    if (++this.#brokenTurns > this.#rules.maxBreaks) return { kind: 'over', why: 'too-many-breaks' }
    return { kind: 'notice', rule, text: ruleNotice(rule, this.#rules, this.#names) }
  }
}
