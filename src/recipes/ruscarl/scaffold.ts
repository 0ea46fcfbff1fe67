/** @file The scaffold of a conversation: what shows criteria to a rollout, and whether a response leaks it. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import type { RuscarlConfig } from './config.ts'

/** How criteria are said, and where; what is absent is as in the settings, which say it. */
export type ScaffoldOptions = Partial<
  Pick<RuscarlConfig['scaffold'], 'showPoints' | 'forbidMention' | 'whenEmpty' | 'place'>
>

const numbered = (criteria: readonly Criterion[], worth: (points: number) => string): string =>
  criteria.map(({ text, points }, i) => `Criterion ${i + 1}: ${text}${worth(points)}`).join('\n')

const plural = (points: number) => `${points} point${points === 1 ? '' : 's'}`

const OPENING =
  'You answer the conversation below. Your answer will be measured against the criteria listed here, so let them guide what you write.'
const OPENING_AFTER_REQUEST =
  'Your answer will be measured against these criteria, so let them guide what you write.'
const INCLUDE = 'INCLUDE: a good answer meets these.'
const AVOID = 'AVOID: an answer loses by showing any of these.'
const DISCRETION =
  'Answer the way you would without this list: do not name the criteria, quote them, mention points, or say that you were given guidance. Work what they ask for into the answer itself.'

/**
 * The text that shows criteria to a rollout: what to include, what to avoid, numbered anew in each list (content of
 * RuscaRL Box D.2 with the additions of its code; our wording). Null when nothing is shown.
 */
export const scaffoldText = (
  shown: readonly Criterion[],
  { showPoints = true, forbidMention = true, whenEmpty = null, place = 'system' }: ScaffoldOptions = {},
): string | null => {
  if (shown.length === 0) return whenEmpty
  const include = shown.filter(({ points }) => points > 0)
  const avoid = shown.filter(({ points }) => points < 0)
  const worth = (points: number) => (showPoints ? ` (worth ${plural(points)})` : '')
  const penalty = (points: number) => (showPoints ? ` (penalty: ${plural(-points)})` : '')
  const parts = [
    place === 'system' ? OPENING : OPENING_AFTER_REQUEST,
    ...(include.length > 0 ? [`${INCLUDE}\n${numbered(include, worth)}`] : []),
    ...(avoid.length > 0 ? [`${AVOID}\n${numbered(avoid, penalty)}`] : []),
    ...(forbidMention ? [DISCRETION] : []),
  ]
  return parts.join('\n\n')
}

/**
 * The conversation with the scaffold before it, as a system message; as it is when there is none. A system message that the
 * conversation begins with stays in force and comes first in the same message: many templates take only one.
 */
export const withScaffold = (messages: readonly ChatMessage[], scaffold: string | null): ChatMessage[] => {
  if (scaffold === null) return [...messages]
  const [first, ...rest] = messages
  if (first?.role !== 'system') return [{ role: 'system', content: scaffold }, ...messages]
  return [{ role: 'system', content: `${first.content}\n\n${scaffold}` }, ...rest]
}

/** The conversation with a text after its last request; before it where nothing is asked. */
const afterRequest = (messages: readonly ChatMessage[], text: string): ChatMessage[] => {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  if (last < 0) return withScaffold(messages, text)
  return messages.map((message, i) =>
    i === last ? { ...message, content: `${message.content}\n\n${text}` } : message,
  )
}

/** Shows criteria in a conversation, in the wording and the place of these options. */
export const scaffolding =
  (options: ScaffoldOptions = {}) =>
  (messages: readonly ChatMessage[], shown: readonly Criterion[]): ChatMessage[] => {
    const text = scaffoldText(shown, options)
    return options.place === 'user' && shown.length > 0 && text !== null
      ? afterRequest(messages, text)
      : withScaffold(messages, text)
  }

/** Tokens in a row that count as a quotation. */
const LEAK_TOKENS = 6

/**
 * Tells whether a response repeats six or more consecutive tokens of one of the scaffold's own instructions.
 * Criteria themselves are left out by the caller: repeating what they ask for is the point.
 */
export const leakDetector = (
  instructions: readonly (readonly number[])[],
): ((response: ArrayLike<number>) => boolean) => {
  const windowAt = (tokens: readonly number[], i: number) => tokens.slice(i, i + LEAK_TOKENS).join()
  const windowsOf = (tokens: readonly number[]) =>
    tokens.flatMap((_, i) => (i + LEAK_TOKENS <= tokens.length ? [windowAt(tokens, i)] : []))
  const known = new Set(instructions.flatMap(windowsOf))
  const starts = new Set(instructions.flat())
  return response => {
    const tokens = Array.from(response)
    return tokens.some(
      (token, i) => starts.has(token) && i + LEAK_TOKENS <= tokens.length && known.has(windowAt(tokens, i)),
    )
  }
}

/** The sentences of the scaffold that are not criteria: what a leaking response would quote. */
export const SCAFFOLD_INSTRUCTIONS: readonly string[] = [
  OPENING,
  OPENING_AFTER_REQUEST,
  INCLUDE,
  AVOID,
  DISCRETION,
]
