/** @file Demonstrations as a chat model's tokens: what the assistant wrote is learnt; what it was asked, told and shown is not. */

import type { ChatFormat } from '../../model/chat-format.ts'
import { DataError } from '../../util/errors.ts'
import { type ChatAgentFormat, chatAgentFormat } from './agent-format.ts'
import { argumentsOf, CallFault, readCall } from './calls.ts'
import type { Demonstration } from './demonstrations.ts'
import { elementsOf } from './elements.ts'
import type { CallForm } from './prompt.ts'

export interface DemonstrationTokens {
  promptTokens: number[]
  responseTokens: number[]
  /** 1 where the assistant wrote: loss falls there alone. */
  learnt: Float32Array
}

export interface DemonstrationOptions {
  /** `auto`: in the form that the template has for calls, where it has one that can be read. */
  calls?: CallForm | 'auto'
  /** Most tokens of what a tool said. */
  maxObservationTokens?: number
}

/** Gathers tokens and who wrote them. */
class Response {
  readonly tokens: number[] = []
  readonly #learnt: number[] = []

  add(tokens: ArrayLike<number>, isLearnt: boolean): void {
    for (let i = 0; i < tokens.length; i++) {
      this.tokens.push(tokens[i])
      this.#learnt.push(Number(isLearnt))
    }
  }

  after(promptTokens: number[]): DemonstrationTokens {
    return { promptTokens, responseTokens: this.tokens, learnt: Float32Array.from(this.#learnt) }
  }
}

const ASK = { role: 'user', content: 'PROBE-QUESTION' }
const TURN = 'PROBE-TURN'

/** What a template ends an assistant's turn with, up to its first stop token. @throws DataError where it has none */
const endOfTurn = (format: ChatFormat): { text: string; tokens: number[] } => {
  const rendered = format.render([ASK, { role: 'assistant', content: TURN }])
  const tail = format.tokens(rendered.slice(rendered.lastIndexOf(TURN) + TURN.length))
  const stop = tail.findIndex(token => format.stopTokens.includes(token))
  if (stop < 0)
    throw new DataError(
      'chat template: expected it to end a turn of the assistant with a stop token, got none',
    )
  const tokens = tail.slice(0, stop + 1)
  return { text: format.show(tokens), tokens }
}

/** @throws DataError for rows in which no assistant speaks, or says nothing in one of its turns */
const assertSpeaks = ({ messages }: Demonstration): void => {
  const turns = messages.filter(({ role }) => role === 'assistant')
  if (turns.length === 0) throw new DataError('expected a message of the assistant, got none')
  const silent = messages.findIndex(({ role, content }) => role === 'assistant' && content.trim() === '')
  if (silent >= 0)
    throw new DataError(`messages[${silent}]: expected what the assistant says, got an empty text`, {
      hint: 'leave the row out: it would teach to say nothing',
    })
}

/**
 * An agent's turns and what tools said to them come one after the other; what stands before them is its prompt.
 * @throws DataError for any other order: tokens of an episode have no place for what would be left out
 */
const assertAlternates = ({ messages }: Demonstration): void => {
  const first = messages.findIndex(({ role }) => role === 'assistant' || role === 'tool')
  for (const [i, { role }] of messages.entries()) {
    if (i < first) continue
    const expected = (i - first) % 2 === 0 ? 'assistant' : 'tool'
    if (role !== expected)
      throw new DataError(
        `messages[${i}]: expected a message of the role ${expected}, because the turns of an agent and what tools say come one after the other, got one of ${role}`,
        { hint: 'leave question and tools out of a row that is no trajectory of an agent' },
      )
  }
  if (messages.at(-1)?.role !== 'assistant')
    throw new DataError(
      `messages[${messages.length - 1}]: expected the answer of the agent at the end, got what a tool said`,
      { hint: 'leave the row out, or what comes after the last turn' },
    )
}

/** Turns demonstrations into tokens for one model. */
export class DemonstrationEncoder {
  readonly #format: ChatFormat
  readonly #options: DemonstrationOptions
  readonly #end: { text: string; tokens: number[] }
  /** By tools and rules, which most rows of a file have in common. */
  readonly #agents = new Map<string, ChatAgentFormat>()

  /** @throws DataError for a template that ends no turn */
  constructor(format: ChatFormat, options: DemonstrationOptions = {}) {
    this.#format = format
    this.#options = options
    this.#end = endOfTurn(format)
  }

  /**
   * The tokens of a row. An agent's (with `question` and `tools`) stand as they would in an episode of it; of any other row as its
   * template writes them.
   * @throws DataError for a row in which no assistant speaks, whose messages come in an order that no episode has, or that the
   * template does not write as it stands
   */
  encode(row: Demonstration): DemonstrationTokens {
    assertSpeaks(row)
    const { question, tools } = row
    return question !== undefined && tools !== undefined && tools.length > 0
      ? this.#encodeAgent(row, question, tools)
      : this.#encodePlain(row)
  }

  #encodeAgent(
    row: Demonstration,
    question: string,
    tools: NonNullable<Demonstration['tools']>,
  ): DemonstrationTokens {
    assertAlternates(row)
    const { messages, rules } = row
    const agent = this.#agentFor(tools, rules)
    const response = new Response()
    let turn = new Int32Array()
    for (const [i, { role, content, outcome = 'output' }] of messages.entries()) {
      if (role === 'tool') response.add(agent.say({ kind: 'tool', outcome, text: content }, turn), false)
      if (role !== 'assistant') continue
      const text = agent.form === 'template' ? withTemplateCall(content, tools) : content
      turn = Int32Array.from(this.#turnTokens(text, i))
      response.add(turn, true)
    }
    response.add(this.#end.tokens, true)
    return response.after(agent.prompt(question))
  }

  #agentFor(tools: NonNullable<Demonstration['tools']>, rules: Demonstration['rules']): ChatAgentFormat {
    const key = JSON.stringify([tools, rules])
    const { calls, maxObservationTokens } = this.#options
    const agent =
      this.#agents.get(key) ??
      chatAgentFormat(this.#format, { prompt: { tools, rules }, calls, maxTokens: maxObservationTokens })
    this.#agents.set(key, agent)
    return agent
  }

  /** What the template writes between two turns of the assistant is what it wrote up to the second, less what it wrote up to here. */
  #encodePlain({ messages }: Demonstration): DemonstrationTokens {
    const plain = messages.map(({ role, content }) => ({ role, content }))
    const upTo = (count: number) => this.#format.render(plain.slice(0, count), { addGenerationPrompt: true })
    const turns = plain.flatMap(({ role }, i) => (role === 'assistant' ? [i] : []))
    const response = new Response()
    const prompt = upTo(turns[0])
    let written = prompt
    for (const [at, i] of turns.entries()) {
      const { content } = plain[i]
      response.add([...this.#turnTokens(content, i), ...this.#end.tokens], true)
      if (at + 1 === turns.length) continue
      const before = written + content + this.#end.text
      const whole = upTo(turns[at + 1])
      if (!whole.startsWith(before))
        throw new DataError(
          `messages[${i}]: expected the chat template to write it as it stands, got it changed or left out`,
          { hint: 'templates often drop the thinking of earlier turns: split the row at its turns' },
        )
      response.add(this.#format.tokens(whole.slice(before.length)), false)
      written = whole
    }
    return response.after(this.#format.encodeRendered(prompt))
  }

  /** @throws DataError where the text spells the end of a turn: what comes after it would be learnt as a part of the turn */
  #turnTokens(content: string, at: number): number[] {
    const tokens = this.#format.tokens(content)
    const end = tokens.find(token => this.#format.stopTokens.includes(token))
    if (end === undefined) return tokens
    const spelling = this.#format.show([end])
    throw new DataError(
      `messages[${at}]: expected a text without control tokens of the model, got ${spelling}, which ends a turn`,
      { hint: `take ${spelling} out of it` },
    )
  }
}

/** The turn with its call as templates with tools write it; as it is where it makes none that can be read. */
const withTemplateCall = (text: string, tools: NonNullable<Demonstration['tools']>): string => {
  const { elements } = elementsOf(text, [])
  const element = elements.find(({ name, inside }) => name === 'call_tool' && inside !== null)
  if (element === undefined) return text
  const call = readCall(text, element)
  const tool = call instanceof CallFault ? undefined : tools.find(({ name }) => name === call.tool)
  if (call instanceof CallFault || tool === undefined) return text
  const args = argumentsOf(call, tool.parameters)
  if (args instanceof CallFault) return text
  const json = `{"name": ${JSON.stringify(call.tool)}, "arguments": ${JSON.stringify(args)}}`
  return `${text.slice(0, element.start)}<tool_call>\n${json}\n</tool_call>${text.slice(element.end)}`
}
