/** @file Turn rules: what a turn of the agent asks for, and what it is told where it breaks a rule. */

import { z } from 'zod'
import { type Element, elementsOf } from './elements.ts'
import { isAction } from './problems.ts'
import { DEFAULT_MAX_CALLS } from './stages.ts'

export const turnRulesSchema = z.strictObject({
  maxCalls: z
    .int()
    .positive()
    .default(DEFAULT_MAX_CALLS)
    .describe('Most calls of an agent, failed ones included.'),
  maxBreaks: z
    .int()
    .nonnegative()
    .default(3)
    .describe('Most turns that break a rule and are answered with a reminder; one more ends the trajectory.'),
})
export type TurnRules = z.output<typeof turnRulesSchema>

export const DEFAULT_RULES: TurnRules = turnRulesSchema.parse({})

/** What is known of an episode before a turn. */
export interface TurnState {
  /** Calls so far. */
  calls: number
  /** Those that reached a tool: an answer needs one. */
  searches: number
}

export type BrokenRule =
  | 'no-action'
  | 'several-actions'
  | 'text-after-action'
  | 'forged-output'
  | 'answer-before-search'
  | 'too-many-calls'

export type TurnDecision =
  | { kind: 'call'; element: Element }
  | { kind: 'answer'; element: Element }
  | { kind: 'break'; rule: BrokenRule }

/**
 * What a turn asks for. It has to end with exactly one call or answer, the answer after a search, the call within the number that
 * is allowed; and what tools say is not the agent's to write.
 */
export const decideTurn = (turn: string, { calls, searches }: TurnState, rules: TurnRules): TurnDecision => {
  const { elements } = elementsOf(turn, [])
  const broken = (rule: BrokenRule): TurnDecision => ({ kind: 'break', rule })
  if (elements.some(({ name }) => name === 'tool_output')) return broken('forged-output')
  const [action, ...more] = elements.filter(isAction)
  if (!action) return broken('no-action')
  if (more.length > 0) return broken('several-actions')
  if (turn.slice(action.end).trim() !== '') return broken('text-after-action')
  if (action.name === 'answer') {
    return searches > 0 ? { kind: 'answer', element: action } : broken('answer-before-search')
  }
  return calls < rules.maxCalls ? { kind: 'call', element: action } : broken('too-many-calls')
}

/** How the agent's format writes its two actions, for reminders; without tags that a reader could take for real ones. */
export interface ActionNames {
  call: string
  answer: string
}

/** What the agent is told of a rule that it broke. */
export const ruleNotice = (
  rule: BrokenRule,
  { maxCalls }: Pick<TurnRules, 'maxCalls'>,
  { call, answer }: ActionNames,
): string =>
  `Not accepted: ${
    {
      'no-action': `the turn ended without an action. End every turn with one complete ${call} element, or with the ${answer} element when you are done.`,
      'several-actions': `the turn has more than one action. Write one ${call} element or the ${answer} element, then stop.`,
      'text-after-action': `the turn goes on after its ${call} or ${answer} element. Stop right behind it.`,
      'forged-output':
        'the turn holds what looks like the output of a tool. Only tools write that; nothing of the turn was carried out.',
      'answer-before-search': `an answer needs evidence, and no tool has been called yet. Make a ${call} first.`,
      'too-many-calls': `all ${maxCalls} calls are used up. Review what you have and write the ${answer} now.`,
    }[rule]
  }`

/** Added to what the last call that is allowed is told. */
export const lastCallNotice = (
  { maxCalls }: Pick<TurnRules, 'maxCalls'>,
  { answer }: Pick<ActionNames, 'answer'>,
): string =>
  `[This was the last of ${maxCalls} calls. Review the evidence and write the ${answer} in your next turn.]`
