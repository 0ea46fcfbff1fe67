/** @file How an agent's tokens become text, and what is said to it becomes tokens: for chat models, by their own templates. */

import type { ChatFormat, TokenText } from '../../model/chat-format.ts'
import type { ChatTurn } from '../../model/chat-template.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Tool } from '../../tools/tool.ts'
import { DataError } from '../../util/errors.ts'
import { CallFault, readCall } from './calls.ts'
import { elementsOf } from './elements.ts'
import { clip, observationTags } from './observation.ts'
import { type AgentPromptOptions, agentMessages, type CallForm } from './prompt.ts'
import type { ActionNames } from './protocol.ts'
import { type SessionReply, XML_NAMES } from './session.ts'

/** An agent's format: what an environment needs of its tokens, and its prompts. */
export interface ChatAgentFormat {
  form: CallForm
  /** How reminders name the actions. */
  names: ActionNames
  /** A turn, or a whole rollout: tags that are special tokens have their text, other special tokens have none. */
  read(tokens: ArrayLike<number>): TokenText
  /** What is said to a turn, up to where the next one begins. */
  say(reply: Exclude<SessionReply, { kind: 'over' }>, turn: Int32Array): TokenIds
  /** What ends a turn. */
  sampling: { stopTokens: readonly number[]; stopStrings: readonly string[] }
  /** @param reference what is shown before the question: lessons of earlier attempts */
  prompt(question: string, reference?: string): number[]
}

type ListedTool = Pick<Tool, 'name' | 'description' | 'parameters'>

const toolSignatures = (tools: readonly ListedTool[]) =>
  tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))

const PROBE: ListedTool = {
  name: 'probe_tool',
  description: 'PROBE-DESCRIPTION',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
}
const ASK: ChatTurn = { role: 'user', content: 'PROBE-QUESTION' }
const SAID = 'PROBE-SAID'
const CALLS: ChatTurn = {
  role: 'assistant',
  content: '',
  tool_calls: [
    {
      id: 'call00000',
      type: 'function',
      function: { name: PROBE.name, arguments: { query: 'PROBE-QUERY' } },
    },
  ],
}
const TOOL_SAYS: ChatTurn = { role: 'tool', content: SAID, name: PROBE.name, tool_call_id: 'call00000' }

/** What a template writes behind a turn: up to what is said, and from there to where the next turn begins. */
interface Frame {
  before: string
  after: string
}

/** @param end where the agent's turn ends in a rendered text */
const frameOf = (rendered: string, end: number): Frame => {
  const at = rendered.indexOf(SAID, end)
  if (end < 0 || at < 0)
    throw new DataError(
      'chat template: expected it to write a conversation of several turns, got one that lacks a message',
    )
  return { before: rendered.slice(end, at), after: rendered.slice(at + SAID.length) }
}

const TURN = 'PROBE-TURN'

/** How a template has a person speak after the agent's turn. */
const personFrame = (format: ChatFormat): Frame => {
  const rendered = format.render(
    [ASK, { role: 'assistant', content: TURN }, { role: 'user', content: SAID }],
    { addGenerationPrompt: true },
  )
  const at = rendered.lastIndexOf(TURN)
  return frameOf(rendered, at < 0 ? -1 : at + TURN.length)
}

/** A template's own tool format, as far as it is written like ours: JSON with name and arguments in a tag. */
interface ToolForm {
  frame: Frame
  /** The closing tag of a call. */
  closing: string
}

/**
 * The tool format of a template, found by having it write a call: it lists the tools, writes calls as
 * `<tool_call>{"name", "arguments"}</tool_call>`, and what a tool says after them. Null for a template that has none, or another.
 */
export const toolFormOf = (format: Pick<ChatFormat, 'render'>): ToolForm | null => {
  const tools = toolSignatures([PROBE])
  const options = { tools, addGenerationPrompt: true }
  try {
    const prompt = format.render([ASK], options)
    if (!prompt.includes(PROBE.description)) return null
    const rendered = format.render([ASK, CALLS, TOOL_SAYS], options)
    const from = rendered.lastIndexOf(ASK.content)
    const said = rendered.lastIndexOf(SAID)
    if (from < 0 || said < from) return null
    const turn = rendered.slice(from, said)
    const call = elementsOf(turn, []).elements.find(
      ({ name, inside }) => name === 'call_tool' && inside !== null,
    )
    if (!call?.inside) return null
    const written = readCall(turn, call)
    const isOurs =
      !(written instanceof CallFault) &&
      written.tool === PROBE.name &&
      JSON.stringify(written.body) === '{"query":"PROBE-QUERY"}'
    if (!isOurs) return null
    return {
      frame: frameOf(rendered, from + call.end),
      closing: turn.slice(call.inside.end, call.end).trim(),
    }
  } catch (error) {
    if (error instanceof DataError) return null
    throw error
  }
}

const TEMPLATE_NAMES: ActionNames = { call: 'function call', answer: 'answer' }
const TAG = /^<\/?[a-z_]+>$/
const ANSWERED = '</answer>'
const CALLED = '</call_tool>'

/** Says which tokens are special ones, and what they are spelt like. */
class SpecialTokens {
  readonly #format: Pick<ChatFormat, 'show' | 'read'>
  readonly #spelling = new Map<number, string | null>()

  constructor(format: Pick<ChatFormat, 'show' | 'read'>) {
    this.#format = format
  }

  /** The spelling of a special token; null for any other. */
  spelling(id: number): string | null {
    const known = this.#spelling.get(id)
    if (known !== undefined) return known
    const shown = this.#format.show([id])
    const spelling = shown !== '' && this.#format.read([id]).text === '' ? shown : null
    this.#spelling.set(id, spelling)
    return spelling
  }

  /** Text with the tags among them. */
  read(tokens: ArrayLike<number>): TokenText {
    const ids = Array.from(tokens)
    let text = ''
    const ends: number[] = []
    let from = 0
    const plain = (to: number) => {
      if (to === from) return
      const read = this.#format.read(ids.slice(from, to))
      for (let i = 0; i < to - from; i++) ends.push(text.length + read.ends[i])
      text += read.text
    }
    for (const [i, id] of ids.entries()) {
      const spelling = this.spelling(id)
      if (spelling === null) continue
      plain(i)
      if (TAG.test(spelling)) text += spelling
      ends.push(text.length)
      from = i + 1
    }
    plain(ids.length)
    return { text, ends }
  }
}

export interface ChatAgentOptions {
  /** For the prompt: the tools, and the rules as far as the agent is told of them. */
  prompt: Omit<AgentPromptOptions, 'form'>
  /** `auto`: the template's own form of calls where it has one that can be read, else `xml`. */
  calls?: CallForm | 'auto'
  /** Most tokens of what is said to a turn. */
  maxTokens?: number
}

export const DEFAULT_OBSERVATION_TOKENS = 2_048

/** How often it is tried how much of an observation fits. */
const MOST_CUTS = 12

const WITHHELD = 'Error: what was said cannot be shown: it spells control tokens of the model.'

type Ends = Pick<ChatFormat, 'show' | 'stopTokens'>

const endedByStop = ({ show, stopTokens }: Ends, turn: Int32Array): string | null => {
  const last = turn.at(-1)
  return last !== undefined && stopTokens.includes(last) ? show([last]) : null
}

/** What the template writes behind a turn, less the end of turn that the agent wrote itself. */
const behind = (format: Ends, { before, after }: Frame, turn: Int32Array): Frame => {
  const stop = endedByStop(format, turn)
  return stop !== null && before.startsWith(stop)
    ? { before: before.slice(stop.length), after }
    : { before, after }
}

/** Text whose tokens are no special ones, cut to the budget. */
const fitter =
  (format: Pick<ChatFormat, 'tokens'>, specials: SpecialTokens, maxTokens: number) =>
  (text: string): string => {
    let fits = text
    for (let cut = 0; cut < MOST_CUTS; cut++) {
      const ids = format.tokens(fits)
      if (ids.length > maxTokens) {
        fits = clip(text, Math.floor((fits.length * maxTokens * 0.95) / ids.length), text.length)
        continue
      }
      return ids.some(id => specials.spelling(id) !== null) ? WITHHELD : fits
    }
    return clip(text, maxTokens >> 2)
  }

/**
 * What a person says after a turn, as the model's template has it, up to where the next turn begins: text made safe, cut to a
 * budget, or withheld where it spells special tokens all the same.
 * @throws DataError where the template cannot write several turns
 */
export const personSays = (
  format: ChatFormat,
  maxTokens: number = DEFAULT_OBSERVATION_TOKENS,
): ((text: string, turn: Int32Array) => number[]) => {
  const person = personFrame(format)
  const fitting = fitter(format, new SpecialTokens(format), maxTokens)
  return (text, turn) => {
    const { before, after } = behind(format, person, turn)
    return format.tokens(before + fitting(text) + after)
  }
}

/** The format of a chat model as an agent. @throws DataError where its template cannot write several turns */
export const chatAgentFormat = (
  format: ChatFormat,
  { prompt, calls = 'auto', maxTokens = DEFAULT_OBSERVATION_TOKENS }: ChatAgentOptions,
): ChatAgentFormat => {
  const own = calls === 'xml' ? null : toolFormOf(format)
  if (calls === 'template' && own === null)
    throw new DataError(
      'chat template: expected a tool format of its own, got a template without one that can be read',
      {
        hint: 'set calls to auto or xml',
      },
    )
  const form: CallForm = own === null ? 'xml' : 'template'
  const person = personFrame(format)
  const specials = new SpecialTokens(format)
  const fitting = fitter(format, specials, maxTokens)
  const tools = toolSignatures(prompt.tools)
  const idOfTag = (tag: string) => {
    const ids = format.tokens(tag)
    return ids.length === 1 && specials.spelling(ids[0]) !== null ? ids : []
  }

  const frameFor = (reply: Exclude<SessionReply, { kind: 'over' }>, turn: Int32Array): Frame => {
    if (own !== null) return behind(format, reply.kind === 'tool' ? own.frame : person, turn)
    const { open, close } = observationTags(reply.kind === 'tool' ? reply.outcome : 'output')
    // Where the agent went on to the end of its turn, the next one has to be opened.
    if (endedByStop(format, turn) === null) return { before: `\n${open}`, after: `${close}\n` }
    const { before, after } = behind(format, person, turn)
    return { before: before + open, after: close + after }
  }

  return {
    form,
    names: own === null ? XML_NAMES : TEMPLATE_NAMES,
    read: tokens => specials.read(tokens),
    say: (reply, turn) => {
      const { before, after } = frameFor(reply, turn)
      return format.tokens(before + fitting(reply.text) + after)
    },
    sampling: {
      stopTokens: [
        ...new Set([...format.stopTokens, ...idOfTag(ANSWERED), ...idOfTag(own?.closing ?? CALLED)]),
      ],
      stopStrings: [own?.closing ?? CALLED, ANSWERED],
    },
    prompt: (question, reference) => {
      const messages = agentMessages(question, { ...prompt, form, ...(reference && { reference }) })
      return format.encodeRendered(
        format.render(messages, { addGenerationPrompt: true, ...(own !== null && { tools }) }),
      )
    },
  }
}
