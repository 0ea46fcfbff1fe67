/** @file What came of the requests of a soak, counted. */

import type { SoakRequest } from './mix.ts'
import type { SentReply } from './senders.ts'

/** Oddities that are kept to be read. */
const MOST_EXAMPLES = 10

export class SoakTally {
  /** Answers by kind and status; `left` for clients that went away, `failed` for those who got nothing. */
  readonly byKind: Record<string, Record<string, number>> = {}
  readonly statuses: Record<string, number> = {}
  readonly examples: string[] = []
  requests = 0
  /** Requests that got no answer though the client waited. */
  unanswered = 0
  /** Answers of another status than the request's kind has. */
  unexpected = 0
  /** Answers with a wrong reward, or a verdict that no judge gave. */
  wrong = 0
  verdicts = 0
  nullVerdicts = 0

  add(request: SoakRequest, replies: readonly SentReply[]): void {
    this.requests += replies.length
    for (const reply of replies) this.#reply(request, reply)
  }

  #reply(request: SoakRequest, reply: SentReply): void {
    const { kind, expected } = request
    const outcome = reply === 'left' ? 'left' : 'failed' in reply ? 'failed' : String(reply.status)
    const ofKind = this.byKind[kind] ?? {}
    this.byKind[kind] = { ...ofKind, [outcome]: (ofKind[outcome] ?? 0) + 1 }
    if (reply === 'left') return
    if ('failed' in reply) {
      this.unanswered += 1
      this.#example(`${kind}: no answer: ${reply.failed}`)
      return
    }
    this.statuses[outcome] = (this.statuses[outcome] ?? 0) + 1
    if (!expected.includes(reply.status)) {
      this.unexpected += 1
      this.#example(`${kind}: ${reply.status} ${reply.text.slice(0, 200)}`)
    } else if (reply.status === 200) this.#answer(request, reply.text)
  }

  #answer({ kind, check, verdicts }: SoakRequest, text: string): void {
    const answer: unknown = JSON.parse(text)
    const fault = check?.(answer) ?? null
    if (fault !== null) {
      this.wrong += 1
      this.#example(`${kind}: ${fault}`)
    }
    const counted = verdicts?.(answer)
    this.verdicts += counted?.all ?? 0
    this.nullVerdicts += counted?.nulls ?? 0
  }

  #example(text: string): void {
    if (this.examples.length < MOST_EXAMPLES) this.examples.push(text)
  }
}
