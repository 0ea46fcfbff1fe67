/** @file Calls as an agent writes them: `<call_tool name="...">`, with a query or JSON, or a template's own JSON with name and arguments. */

import type { JsonSchema, ToolArguments } from '../../tools/tool.ts'
import { parseJson } from '../../util/json.ts'
import { isRecord } from '../../util/own-value.ts'
import type { Element } from './elements.ts'
import { mainArgument, propertiesOf } from './tool-schema.ts'

/** A call that could be read; nothing in it is checked. */
export interface WrittenCall {
  tool: string
  /** Of the opening tag, but for the tool's name. */
  attributes: Readonly<Record<string, string>>
  /** An object of arguments, or a bare text. */
  body: ToolArguments | string
}

/** Why a call cannot be used, in words for the agent. A class, because a call's own JSON may have any keys. */
export class CallFault {
  readonly fault: string

  constructor(fault: string) {
    this.fault = fault
  }
}

const MAX_OPENING = 2_000
const MAX_BODY = 100_000

const ATTRIBUTE = /([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: '<', gt: '>', amp: '&' }

const unescaped = (value: string): string =>
  value.replace(/&(quot|apos|lt|gt|amp);/g, (_, name: string) => ENTITIES[name])

const attributesOf = (opening: string): Map<string, string> =>
  new Map(
    [...opening.matchAll(ATTRIBUTE)].map(([, name, double, single]) => [name, unescaped(double ?? single)]),
  )

/** The object that a text is as JSON; null for what is no object, a fault where it looks like one and is none. */
const jsonObject = (text: string): Record<string, unknown> | null | CallFault => {
  if (!text.startsWith('{')) return null
  try {
    const value = parseJson(text)
    return isRecord(value) ? value : null
  } catch (error) {
    return new CallFault(`the arguments are no JSON (${(error as Error).message.slice(0, 160)})`)
  }
}

/** `{"name", "arguments"}`, as templates have it; arguments may be JSON within JSON. */
const templateCall = (value: Record<string, unknown>): WrittenCall | CallFault => {
  const { name, arguments: given, parameters } = value
  if (typeof name !== 'string' || name === '') return new CallFault('it names no tool')
  const args = given ?? parameters ?? {}
  const body = typeof args === 'string' ? jsonObject(args.trim()) : args
  if (body instanceof CallFault) return body
  if (!isRecord(body)) return new CallFault('its arguments are no object')
  return { tool: name, attributes: {}, body }
}

/**
 * A call that was written whole.
 * @param text that the element is of
 */
export const readCall = (text: string, { start, inside }: Element): WrittenCall | CallFault => {
  if (inside === null) return new CallFault('it is not closed')
  if (inside.start - start > MAX_OPENING)
    return new CallFault(`its tag has more than ${MAX_OPENING} characters`)
  if (inside.end - inside.start > MAX_BODY) return new CallFault(`it has more than ${MAX_BODY} characters`)
  const { name: tool, ...attributes } = Object.fromEntries(attributesOf(text.slice(start, inside.start)))
  const written = text.slice(inside.start, inside.end).trim()
  const body = jsonObject(written)
  if (body instanceof CallFault) return body
  if (tool === undefined || tool === '')
    return body === null ? new CallFault('it names no tool') : templateCall(body)
  return { tool, attributes, body: body ?? written }
}

/** What an attribute says as the type that the schema wants; the text itself where it cannot be that. */
const typed = (value: string, type: unknown): unknown => {
  const number = Number(value)
  if ((type === 'number' || type === 'integer') && value.trim() !== '' && Number.isFinite(number))
    return number
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

/** The arguments of a call for a tool with this schema; a bare text is its main argument. */
export const argumentsOf = (
  { attributes, body }: WrittenCall,
  parameters: JsonSchema,
): ToolArguments | CallFault => {
  const properties = propertiesOf(parameters)
  const named = Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [name, typed(value, properties.get(name)?.type)]),
  )
  if (typeof body !== 'string') return { ...named, ...body }
  if (body === '') return named
  const main = mainArgument(parameters)
  if (main === null)
    return new CallFault(
      'it has a bare text, and its tool has no argument that this could be; write a JSON object',
    )
  return { ...named, [main]: body }
}

/** A call in the XML form, as prompts and demonstrations show it. */
export const writeCall = (tool: string, args: ToolArguments | string): string =>
  `<call_tool name="${tool}">${typeof args === 'string' ? args : JSON.stringify(args)}</call_tool>`
