/** @file An agent's tools: listed for its prompt, called within deadlines, counted. What goes wrong is reported, never thrown. */

import { withDeadline } from '../../tools/deadline.ts'
import type { Tool, ToolResult } from '../../tools/tool.ts'
import { ConfigError } from '../../util/errors.ts'
import { closest } from '../../util/schema.ts'
import { argumentsOf, CallFault, type WrittenCall } from './calls.ts'
import { readResult, safeText, showResult } from './observation.ts'
import type { ToolCallOutcome, ToolOutput } from './outcome.ts'
import { argumentsCheck, type CheckArguments } from './tool-schema.ts'

export interface ToolBoxOptions {
  /** Deadline of a call, from when it begins. */
  timeoutMs?: number
  /** Calls under way at a time, of all episodes; the others wait. */
  concurrency?: number
  /** Most characters of what is said to a call. */
  maxChars?: number
}

export const TOOL_BOX_DEFAULTS = { timeoutMs: 30_000, concurrency: 16, maxChars: 8_000 } as const

/** What became of a tool's calls. */
export interface ToolCounts {
  /** Calls that reached the tool. */
  calls: number
  failures: number
  timeouts: number
  /** Calls whose arguments did not fit. */
  badArguments: number
  /** What the tool answered, before it was cut. */
  bytes: number
}

export interface ToolBoxCounts {
  tools: Readonly<Record<string, Readonly<ToolCounts>>>
  total: Readonly<ToolCounts>
  /** Calls of tools that are not there. */
  unknownTools: number
  unreadable: number
}

const NAME = /^[\w.-]{1,64}$/
const MAX_DESCRIPTION = 2_000
const MAX_REASON = 300

interface Entry {
  tool: Tool
  check: CheckArguments
  counts: ToolCounts
}

const noCounts = (): ToolCounts => ({ calls: 0, failures: 0, timeouts: 0, badArguments: 0, bytes: 0 })

/** What an error says; nothing where it says no text, or fails itself. */
const messageOf = (error: unknown): string => {
  try {
    const message: unknown = error instanceof Error ? error.message : error
    return typeof message === 'string' ? message.trim() : ''
  } catch {
    return ''
  }
}

const reasonOf = (error: unknown): string => {
  const message = messageOf(error)
  return message === '' ? '' : `: ${safeText(message, MAX_REASON)}`
}

/** JSON of a stranger for a prompt: nothing in its texts and names can act. Levels and parts are those of a schema that was checked. */
const safeJson = (value: unknown): unknown => {
  if (typeof value === 'string') return safeText(value, MAX_DESCRIPTION)
  if (Array.isArray(value)) return value.map(safeJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [safeText(key, MAX_DESCRIPTION), safeJson(each)]),
  )
}

const bytesOf = ({ text, snippets = [] }: ToolResult): number =>
  snippets.reduce(
    (sum, snippet) => sum + Buffer.byteLength(snippet.text) + Buffer.byteLength(snippet.title ?? ''),
    Buffer.byteLength(text),
  )

export class ToolBox {
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #options: Required<ToolBoxOptions>
  readonly #waiting: (() => void)[] = []
  #running = 0
  #unknownTools = 0
  #unreadable = 0

  /** @throws ConfigError for no tools, two of a name, or a name that cannot be written; DataError for a schema that is none */
  constructor(tools: readonly Tool[], options: ToolBoxOptions = {}) {
    this.#options = { ...TOOL_BOX_DEFAULTS, ...options }
    if (tools.length === 0) throw new ConfigError('tools: expected at least one tool, got none')
    const entries = new Map<string, Entry>()
    for (const tool of tools) {
      const { name, parameters } = tool
      if (!NAME.test(name))
        throw new ConfigError(
          `tool ${JSON.stringify(name).slice(0, 80)}: name: expected 1 to 64 letters, digits, _, - or .; rename it`,
        )
      if (entries.has(name))
        throw new ConfigError(`tool ${name}: expected one tool of this name, got two; rename one of them`)
      entries.set(name, { tool, check: argumentsCheck(name, parameters), counts: noCounts() })
    }
    this.#entries = entries
  }

  get names(): string[] {
    return [...this.#entries.keys()]
  }

  /** The tools for a prompt. Descriptions and schemas may come from strangers: they are quoted safely, and not without end. */
  get tools(): Pick<Tool, 'name' | 'description' | 'parameters'>[] {
    return [...this.#entries.values()].map(({ tool: { name, description, parameters } }) => ({
      name,
      description: safeText(description, MAX_DESCRIPTION),
      parameters: safeJson(parameters) as Tool['parameters'],
    }))
  }

  /** What became of all calls so far. */
  get counts(): ToolBoxCounts {
    const tools = Object.fromEntries([...this.#entries].map(([name, { counts }]) => [name, { ...counts }]))
    const total = noCounts()
    for (const counts of Object.values(tools))
      for (const key of Object.keys(total) as (keyof ToolCounts)[]) total[key] += counts[key]
    return { tools, total, unknownTools: this.#unknownTools, unreadable: this.#unreadable }
  }

  /**
   * Carries out a call, or says why not. Never throws.
   * @param options.signal gives the call up
   */
  async run(call: WrittenCall | CallFault, { signal }: { signal?: AbortSignal } = {}): Promise<ToolOutput> {
    if (call instanceof CallFault) {
      this.#unreadable++
      return this.#say('unreadable', `This call cannot be used: ${safeText(call.fault, MAX_REASON)}.`)
    }
    const entry = this.#entries.get(call.tool)
    if (!entry) return this.#unknown(call.tool)
    const args = argumentsOf(call, entry.tool.parameters)
    const fault = args instanceof CallFault ? args.fault : entry.check(args)
    if (args instanceof CallFault || fault !== null) {
      entry.counts.badArguments++
      const why = safeText(String(fault), MAX_REASON)
      return this.#say(
        'bad-arguments',
        `The arguments of ${call.tool} do not fit: ${why}. It was not called.`,
      )
    }
    await this.#enter()
    try {
      return await this.#call(entry, args, signal)
    } finally {
      this.#leave()
    }
  }

  /** Lets all tools go; what goes wrong in that is passed over. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#entries.values()].map(async ({ tool }) => tool.close?.()))
  }

  async #call(
    entry: Entry,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal | undefined,
  ): Promise<ToolOutput> {
    const { tool, counts } = entry
    const { timeoutMs, maxChars } = this.#options
    if (signal?.aborted) return this.#say('failed', `${tool.name} was not called: the episode is over.`)
    counts.calls++
    const told: { signal?: AbortSignal } = {}
    try {
      const answer = await withDeadline(tool.name, timeoutMs, signal, async inner => {
        told.signal = inner
        return tool.call(args, { signal: inner })
      })
      const result = readResult(answer)
      counts.bytes += bytesOf(result)
      return { outcome: 'output', ...showResult(result, maxChars) }
    } catch (error) {
      const isEnded = told.signal?.aborted === true && error === told.signal.reason
      if (isEnded && signal?.aborted)
        return this.#say('failed', `${tool.name} was given up: the episode is over.`)
      if (isEnded) {
        counts.timeouts++
        return this.#say('timeout', `${tool.name} did not answer within ${timeoutMs / 1000} seconds.`)
      }
      counts.failures++
      return this.#say('failed', `${tool.name} failed${reasonOf(error)}`)
    }
  }

  #unknown(name: string): ToolOutput {
    this.#unknownTools++
    const near = closest(name.slice(0, 80), this.names)
    const shown = safeText(name, 80)
    return this.#say(
      'unknown-tool',
      `There is no tool ${shown}${near ? `; did you mean ${near}?` : '.'} The tools are: ${this.names.join(', ')}.`,
    )
  }

  #say(outcome: ToolCallOutcome, text: string): ToolOutput {
    return { outcome, text: `Error: ${text}`, snippets: [] }
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#options.concurrency) {
      this.#running++
      return
    }
    await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  /** Whoever waits longest takes the place. */
  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#running--
  }
}
