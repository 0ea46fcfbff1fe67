/** @file The world that a research agent acts in: its turns are read, its calls carried out, and what comes of them is said in tokens. */

import type { TokenIds } from '../../rl/datum.ts'
import type { ChatAgentFormat } from './agent-format.ts'
import { DEFAULT_RULES, type TurnRules } from './protocol.ts'
import { ResearchSession, type SessionCounts } from './session.ts'
import { parseRollout, type RolloutText } from './token-stages.ts'
import type { ToolBox } from './tool-box.ts'

export interface ResearchWorldOptions {
  format: Pick<ChatAgentFormat, 'names' | 'read' | 'say'>
  tools: Pick<ToolBox, 'run'>
  rules?: TurnRules
  /** Called with every episode that is over, by the rollout's key. */
  onEpisode?(key: string, counts: SessionCounts): void
}

/** One agent's episode; fits `Episode` of the layer of training. */
export class ResearchEpisode {
  readonly #session: ResearchSession
  readonly #format: ResearchWorldOptions['format']
  readonly #onClose: (counts: SessionCounts) => void

  constructor(
    session: ResearchSession,
    format: ResearchWorldOptions['format'],
    onClose: (counts: SessionCounts) => void,
  ) {
    this.#session = session
    this.#format = format
    this.#onClose = onClose
  }

  async reply(turn: Int32Array): Promise<TokenIds | null> {
    const reply = await this.#session.reply(this.#format.read(turn).text)
    return reply.kind === 'over' ? null : this.#format.say(reply, turn)
  }

  close(): void {
    this.#session.close()
    this.#onClose(this.#session.counts)
  }
}

/**
 * An environment of tools, whatever the problem: who asks is in the prompt. Fits `Environment` of the layer of training. What is
 * said has mask 0 there: no gradient, no stage.
 */
export class ResearchWorld {
  readonly #options: ResearchWorldOptions

  constructor(options: ResearchWorldOptions) {
    this.#options = options
  }

  start(_problem: unknown, key: string): ResearchEpisode {
    const { format, tools, rules = DEFAULT_RULES, onEpisode } = this.#options
    const session = new ResearchSession(tools, { rules, names: format.names })
    return new ResearchEpisode(session, format, counts => onEpisode?.(key, counts))
  }
}

/** Turns that an episode may take: one for every call, the answer, and those that break a rule. */
export const mostTurns = ({ maxCalls, maxBreaks }: TurnRules): number => maxCalls + 1 + maxBreaks

/** A rollout's text and who wrote what; the turns are read one by one, as they were acted. */
export const readRollout = (
  { tokens, mask }: { tokens: ArrayLike<number>; mask: ArrayLike<number> },
  format: Pick<ChatAgentFormat, 'read'>,
): RolloutText => {
  const ids = Array.from(tokens)
  let text = ''
  const ends: number[] = []
  for (let from = 0; from < ids.length; ) {
    let to = from + 1
    while (to < ids.length && mask[to] === mask[from]) to++
    const read = format.read(ids.slice(from, to))
    for (let i = 0; i < to - from; i++) ends.push(text.length + read.ends[i])
    text += read.text
    from = to
  }
  return { text, ends, mask }
}

/** A rollout as text and stages, in characters and in tokens. */
export const rolloutStages = (
  rollout: { tokens: ArrayLike<number>; mask: ArrayLike<number> },
  format: Pick<ChatAgentFormat, 'read'>,
  { maxCalls }: Pick<TurnRules, 'maxCalls'> = DEFAULT_RULES,
) => {
  const read = readRollout(rollout, format)
  return { ...read, ...parseRollout(read, { maxCalls }) }
}
