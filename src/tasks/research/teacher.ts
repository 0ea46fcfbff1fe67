/** @file A teacher: a chat model that acts as a research agent in turns, and what is recorded of it. */

import type { ChatMessage, ChatModel, ChatUsage } from '../../chat/chat-model.ts'
import { elementsOf } from './elements.ts'
import { writeObservation } from './observation.ts'
import { isAction } from './problems.ts'
import { agentInstructions } from './prompt.ts'
import { DEFAULT_RULES, type TurnRules } from './protocol.ts'
import type { RecordedRound, RecordedTrajectory } from './rejection.ts'
import { ResearchSession, type SessionCounts, type SessionReply } from './session.ts'
import type { ToolBox } from './tool-box.ts'

export interface TeacherOptions {
  model: ChatModel
  box: Pick<ToolBox, 'run' | 'tools'>
  rules?: TurnRules
  /** False: thinking, calls and an answer alone (ReAct). Default true. */
  scaffold?: boolean
  temperature?: number
  topP?: number
  /** Most tokens of a turn. Default 4096. */
  maxTokens?: number
}

export interface TeacherAttempt extends RecordedTrajectory {
  /** `cut-off`: a turn ran into its limit of tokens. */
  ended: 'answered' | 'too-many-breaks' | 'cut-off'
  counts: SessionCounts
  usage: ChatUsage
}

const MAX_TURN_TOKENS = 4_096

/** A turn up to the end of its first whole action: teachers go on and make up what the tool says. */
export const turnOf = (text: string): string => {
  const { elements } = elementsOf(text, [])
  const action = elements.find(element => isAction(element) && element.inside !== null)
  return action === undefined ? text : text.slice(0, action.end)
}

const observed = (
  reply: Exclude<SessionReply, { kind: 'over' }>,
): NonNullable<RecordedRound['observation']> => ({
  text: reply.text,
  isError: reply.kind === 'notice' || reply.outcome !== 'output',
  ...(reply.kind === 'tool' && { outcome: reply.outcome }),
})

const sum = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b)

const added = (a: ChatUsage, b: ChatUsage): ChatUsage => ({
  promptTokens: sum(a.promptTokens, b.promptTokens),
  completionTokens: sum(a.completionTokens, b.completionTokens),
  cachedTokens: sum(a.cachedTokens, b.cachedTokens),
})

/** The conversation that a teacher is asked to go on with: its instructions are those of its first turn until it has made a call. */
const conversation = (
  question: string,
  said: readonly ChatMessage[],
  calls: number,
  { box, rules = DEFAULT_RULES, scaffold }: TeacherOptions,
): ChatMessage[] => {
  const part = calls === 0 ? 'first-turn' : 'later-turn'
  return [
    { role: 'system', content: agentInstructions({ tools: box.tools, rules, part, scaffold }) },
    { role: 'user', content: question },
    ...said,
  ]
}

/**
 * One attempt at a question. What goes wrong in a turn is said to the teacher, as to any agent.
 * @throws JudgeError where the teacher cannot be had, or was given up
 */
export const askTeacher = async (
  question: string,
  options: TeacherOptions,
  { seed, signal }: { seed?: number; signal?: AbortSignal } = {},
): Promise<TeacherAttempt> => {
  const { model, box, rules = DEFAULT_RULES, temperature, topP, maxTokens = MAX_TURN_TOKENS } = options
  const session = new ResearchSession(box, { rules })
  const giveUp = () => session.close()
  signal?.addEventListener('abort', giveUp, { once: true })
  const rounds: RecordedRound[] = []
  const said: ChatMessage[] = []
  let usage: ChatUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 }
  const result = (ended: TeacherAttempt['ended']) => ({ rounds, ended, counts: session.counts, usage })
  try {
    while (true) {
      const messages = conversation(question, said, session.counts.calls, options)
      const answer = await model.complete({ messages, temperature, topP, maxTokens, seed, signal })
      usage = added(usage, answer.usage)
      const text = turnOf(answer.text)
      if (answer.finishReason === 'length' && text === answer.text) {
        rounds.push({ text, observation: null })
        return result('cut-off')
      }
      const reply = await session.reply(text)
      signal?.throwIfAborted()
      if (reply.kind === 'over') {
        rounds.push({ text, observation: null })
        return result(reply.why)
      }
      const observation = observed(reply)
      rounds.push({ text, observation })
      const shown = reply.kind === 'tool' ? writeObservation(reply.text, reply.outcome).trim() : reply.text
      said.push({ role: 'assistant', content: text }, { role: 'user', content: shown })
    }
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}
