/** @file Arguments of calls against the JSON schema of their tool, which may come from a stranger's server. */

import type { Options, ValidateFunction } from 'ajv'
import { RegexTimeout } from '../../grade/rules/bounded-regex.ts'
import { schemaCompiler } from '../../grade/rules/schema-compiler.ts'
import { schemaFault } from '../../grade/rules/schema-faults.ts'
import type { JsonSchema, ToolArguments } from '../../tools/tool.ts'
import { DataError } from '../../util/errors.ts'

/** Servers add keywords of their own, and formats that nobody else knows: those check nothing. */
const LAX: Options = { strict: false, validateFormats: false }

/** Longest account of what is wrong with arguments. */
const MAX_FAULT = 300

/** Says what is wrong with arguments, null where they fit. */
export type CheckArguments = (args: ToolArguments) => string | null

const faultOf = (check: ValidateFunction, args: ToolArguments): string | null => {
  try {
    // Anything but a plain yes is none.
    if ((check(args) as unknown) === true) return null
  } catch (error) {
    if (error instanceof RegexTimeout || error instanceof RangeError) return 'they could not be checked'
    throw error
  }
  const [first] = check.errors ?? []
  const { additionalProperty, allowedValues } = (first?.params ?? {}) as Record<string, unknown>
  const place = first?.instancePath.slice(1).replaceAll('/', '.')
  const detail =
    additionalProperty !== undefined
      ? `: ${additionalProperty}`
      : Array.isArray(allowedValues)
        ? `: ${allowedValues.join(', ')}`
        : ''
  return `${place ? `${place} ` : ''}${first?.message ?? 'refused'}${detail}`.slice(0, MAX_FAULT)
}

/**
 * Checks by draft 2020-12, or an older draft where `$schema` names one.
 * @throws DataError for a schema that cannot be used
 */
export const argumentsCheck = (tool: string, parameters: JsonSchema): CheckArguments => {
  const refuse = (fault: string, cause?: unknown) =>
    new DataError(
      `tool ${tool}: parameters: expected a JSON schema of an object, got one that is none (${fault})`,
      {
        hint: 'correct the schema, or leave the tool out',
        cause,
      },
    )
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
    throw refuse('no object')
  const fault = schemaFault(parameters as Record<string, unknown>)
  if (fault !== null) throw refuse(fault)
  const { type } = parameters
  if (type !== undefined && type !== 'object') throw refuse(`its type is ${JSON.stringify(type)}`)
  // A server's schemas may all have the same id, or none that is an address.
  const { $id: _, id: __, ...schema } = parameters
  const ajv = schemaCompiler(parameters.$schema, LAX)
  try {
    const { $schema: ___, ...unnamed } = schema
    const check = ajv.compile({ ...unnamed, type: 'object' })
    return args => faultOf(check, args)
  } catch (error) {
    throw refuse((error as Error).message.slice(0, MAX_FAULT), error)
  }
}

/** What a schema says of an argument. */
interface Property {
  type?: unknown
}

export const propertiesOf = ({ properties }: JsonSchema): ReadonlyMap<string, Property> =>
  new Map(
    typeof properties === 'object' && properties !== null
      ? Object.entries(properties).map(([name, value]) => [name, (value ?? {}) as Property])
      : [],
  )

/** Names that a tool's one text is usually given. */
const USUAL = ['query', 'q', 'input', 'text', 'content', 'url', 'key'] as const

/**
 * The argument that a call's bare text is meant for: the one text that is required, else the one with a usual name, else the only
 * text; null where nothing says so.
 */
export const mainArgument = (parameters: JsonSchema): string | null => {
  const properties = propertiesOf(parameters)
  const texts = [...properties].filter(([, { type }]) => type === 'string').map(([name]) => name)
  const { required } = parameters
  const needed = Array.isArray(required) ? texts.filter(name => required.includes(name)) : []
  if (needed.length === 1) return needed[0]
  const pool = needed.length > 1 ? needed : texts
  return USUAL.find(name => pool.includes(name)) ?? (texts.length === 1 ? texts[0] : null)
}
