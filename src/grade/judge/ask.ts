/** @file One call to a judge: ask, read, ask once more where the answer cannot be read; what comes out is never invented. */

import type {
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  TokenLogprob,
} from '../../chat/chat-model.ts'
import type { Criterion, JudgeCall } from '../../rubric/criterion.ts'
import { ConfigError, JudgeError, UsageError } from '../../util/errors.ts'
import { escapeUntrusted } from '../../util/untrusted.ts'
import { CallAccount } from './judge-call.ts'
import type { ParsedAnswer } from './parse.ts'
import type { Judgement } from './templates/scale.ts'
import { type JudgeTemplate, repairRequest } from './templates/template.ts'
import type { JudgeSampling } from './verdict-key.ts'

/** What a call came to: a judgement for each criterion, or the reason why there is none. */
export type JudgeOutcome = { attempts: number; call: JudgeCall } & (
  | { judgements: Judgement[]; problem?: undefined }
  | { judgements: null; problem: string; raw?: string; failed: boolean }
)

interface AskSettings {
  model: ChatModel
  sampling: JudgeSampling
  /** How often an unreadable answer is sent back with the reason. */
  repairs: number
  /** How often the question is asked afresh when repairs did not help. */
  retries: number
}

interface Call {
  template: JudgeTemplate
  criteria: readonly Criterion[]
  messages: readonly ChatMessage[]
  sampleIndex: number
}

/** More than a question has repeats: no question asked afresh has the seed of another repeat. */
const SEEDS_OF_A_ROUND = 1000
/** Of an answer that is sent back: its end, where the verdict should have been. */
const SENT_BACK_CHARACTERS = 4000

/**
 * Asks until an answer can be read or the attempts are used up.
 * @throws the signal's reason when aborted; errors that every call would meet (`JudgeError.fatal`, ConfigError, UsageError)
 */
export const ask = async (settings: AskSettings, call: Call, signal?: AbortSignal): Promise<JudgeOutcome> => {
  let last: { problem: string; raw: string } = { problem: '', raw: '' }
  let attempts = 0
  const account = new CallAccount(settings.model.name)
  for (let round = 0; round <= settings.retries; round++) {
    let messages = call.messages
    for (let repair = 0; repair <= settings.repairs; repair++) {
      const seedOffset = call.sampleIndex + SEEDS_OF_A_ROUND * round
      const response = await complete(
        settings,
        requestOf(settings, call, messages, seedOffset, signal),
        signal,
      )
      attempts += attemptsOf(response)
      if (response instanceof Error) {
        const called = { attempts, call: account.call(attempts) }
        return { ...called, judgements: null, problem: failureText(response), raw: last.raw, failed: true }
      }
      account.add(response)
      const reading = readResponse(response, call)
      if (reading.problem === undefined)
        return { judgements: reading.value, attempts, call: account.call(attempts) }
      last = { problem: reading.problem, raw: response.text }
      if (call.template.readTokens)
        return { judgements: null, attempts, call: account.call(attempts), ...last, failed: false }
      if (response.finishReason === 'content_filter') break
      messages = [...call.messages, ...repairMessages(call, last)]
    }
  }
  return { judgements: null, attempts, call: account.call(attempts), ...last, failed: false }
}

/** What a transport with retries of its own needed. */
const attemptsOf = (response: ChatResponse | Error): number =>
  response instanceof Error && !(response instanceof JudgeError) ? 1 : (response.attempts ?? 1)

const requestOf = (
  { sampling }: AskSettings,
  { template, criteria }: Call,
  messages: readonly ChatMessage[],
  seedOffset: number,
  signal?: AbortSignal,
): ChatRequest => ({
  messages,
  ...sampling,
  maxTokens: sampling.maxTokens ?? 2048 + 256 * (criteria.length - 1),
  ...(sampling.seed === undefined ? {} : { seed: sampling.seed + seedOffset }),
  ...(template.answerSchema && { answerSchema: template.answerSchema(criteria) }),
  ...template.sampling,
  signal,
})

const complete = async (
  { model }: AskSettings,
  request: ChatRequest,
  signal?: AbortSignal,
): Promise<ChatResponse | Error> => {
  try {
    return await model.complete(request)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof JudgeError ? error.fatal : isSetup(error)) throw error
    return error instanceof Error ? error : new JudgeError('malformed', String(error))
  }
}

const isSetup = (error: unknown): boolean => error instanceof ConfigError || error instanceof UsageError

const failureText = (error: Error): string =>
  error instanceof JudgeError
    ? `judge failed (${error.kind}): ${error.message}`
    : `judge failed: ${error.message}`

const readResponse = (response: ChatResponse, { template, criteria }: Call): ParsedAnswer<Judgement[]> => {
  const { text, finishReason, logprobs } = response
  if (template.readTokens && logprobs?.length) return template.readTokens(logprobs)
  const reading = readSafely(template, text, criteria)
  if (reading.problem !== undefined) return withReason(reading, finishReason)
  // What a cut-off answer would have said next is not known, even where the part that is there can be repaired.
  if (finishReason === 'length' && !reading.strict)
    return { problem: 'the answer was cut off at its token limit', strict: false }
  if (logprobs && logprobs.length > 0) addMargins(reading.value, logprobs, template.scale.key)
  return reading
}

/** An answer is untrusted: whatever a reader stumbles over in it is a reason why there is no verdict. */
const readSafely = (
  template: JudgeTemplate,
  text: string,
  criteria: readonly Criterion[],
): ParsedAnswer<Judgement[]> => {
  try {
    return template.read(text, criteria)
  } catch (error) {
    return { problem: `it cannot be read (${(error as Error).message})`, strict: false }
  }
}

const withReason = (
  { problem, strict }: { problem: string; strict: boolean },
  finishReason: string,
): ParsedAnswer<Judgement[]> => {
  if (finishReason === 'length')
    return { problem: `the answer was cut off at its token limit (${problem})`, strict }
  return finishReason === 'content_filter'
    ? { problem: 'the provider withheld the answer', strict }
    : { problem, strict }
}

/** Only where every verdict shows its tokens: margins are aligned with judgements, not guessed. */
const addMargins = (
  judgements: Judgement[],
  logprobs: NonNullable<ChatResponse['logprobs']>,
  key: string,
): void => {
  const margins = verdictMargins(logprobs, key)
  if (margins.length !== judgements.length) return
  for (const [index, margin] of margins.entries()) if (margin !== null) judgements[index].margin = margin
}

/** The answer goes back quoted: it may repeat the reply's own tricks. */
const repairMessages = (
  { template, criteria }: Call,
  { problem, raw }: { problem: string; raw: string },
): ChatMessage[] => [
  { role: 'assistant', content: escapeUntrusted(raw.slice(-SENT_BACK_CHARACTERS)) || '(no answer)' },
  { role: 'user', content: repairRequest(template, criteria, problem) },
]

/**
 * Margins in nats of the verdicts in an answer, in their order; null where the tokens do not show one. A verdict that has no
 * rival among the alternatives is at least as far ahead as of the least likely alternative: that bound is given.
 * @param key of the verdict in the answer's JSON
 */
export const verdictMargins = (logprobs: readonly TokenLogprob[], key: string): (number | null)[] => {
  const text = logprobs.map(({ token }) => token).join('')
  const margins: (number | null)[] = []
  // Both go on in one direction: a server may repeat the key in a hundred thousand tokens.
  let index = 0
  let end = 0
  for (const match of text.matchAll(new RegExp(`(?<!\\\\)"${key}"\\s*:\\s*`, 'g'))) {
    const at = match.index + match[0].length
    while (index < logprobs.length && end + logprobs[index].token.length <= at)
      end += logprobs[index++].token.length
    margins.push(index < logprobs.length ? marginAt(logprobs[index], at - end) : null)
  }
  return margins
}

/** @param skipped characters of the token that stand before the verdict */
const marginAt = ({ token, logprob, top }: TokenLogprob, skipped: number): number | null => {
  const verdict = verdictOf(token.slice(skipped))
  if (verdict === null || top.length === 0) return null
  let rival = Number.NEGATIVE_INFINITY
  let floor = Number.POSITIVE_INFINITY
  for (const other of top) {
    const said = verdictOf(other.token)
    if (said !== null && said !== verdict) rival = Math.max(rival, other.logprob)
    floor = Math.min(floor, other.logprob)
  }
  const margin = logprob - (rival === Number.NEGATIVE_INFINITY ? floor : rival)
  return Number.isFinite(margin) ? margin : null
}

/** Which verdict a token begins, whatever of `": ` it carries in front. */
const verdictOf = (token: string): string | null => {
  const word = /^[\s":]*(t|f|\d)/i.exec(token)
  return word ? word[1].toLowerCase() : null
}
