/** @file The rule `json_schema`: the response is JSON, and follows a schema. */

import type { Options, ValidateFunction } from 'ajv'
import { z } from 'zod'
import { lazily } from '../../util/lazily.ts'
import { RegexTimeout } from './bounded-regex.ts'
import { defineRule, type RuleOutcome } from './rule.ts'
import { schemaCompiler } from './schema-compiler.ts'
import { type Schema, schemaFault } from './schema-faults.ts'
import { splitCode } from './text.ts'

const formats = lazily<typeof import('ajv-formats')['default']>('ajv-formats')

const STRICT: Options = {
  // A misspelt keyword would check nothing, silently.
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
}

const compiled = new WeakMap<object, ValidateFunction>()

/** Checks against draft 2020-12, or an older draft where `$schema` names one. @throws Error for a schema that is none. */
const compileSchema = (schema: Schema): ValidateFunction => {
  const known = typeof schema === 'object' ? compiled.get(schema) : undefined
  if (known) return known
  const ajv = schemaCompiler(typeof schema === 'object' ? schema.$schema : '', STRICT)
  formats().default(ajv)
  const check = ajv.compile(schema)
  if (typeof schema === 'object') compiled.set(schema, check)
  return check
}

const compileFault = (schema: Schema): string | null => {
  try {
    const fault = schemaFault(schema)
    if (fault !== null) return fault
    compileSchema(schema)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

const schemaParameter = z
  .custom<Schema>(value => typeof value === 'boolean' || (typeof value === 'object' && value !== null), {
    message: 'a JSON schema: an object, true or false; write it out',
  })
  .superRefine((schema, context) => {
    const fault = compileFault(schema)
    if (fault !== null)
      context.addIssue({
        code: 'custom',
        message: `a JSON schema that can be compiled (${fault}); correct it`,
      })
  })

const parsed = (text: string): { value: unknown } | null => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return null
  }
}

/** The JSON of a response: the whole text, or its last code block that is JSON. */
const findJson = (text: string, where: 'whole' | 'fence' | 'any'): { value: unknown } | null => {
  const whole = where === 'fence' ? null : parsed(text)
  if (whole !== null || where === 'whole') return whole
  for (const { code } of splitCode(text).blocks.reverse()) {
    const found = parsed(code)
    if (found !== null) return found
  }
  return null
}

const validate = (check: ValidateFunction, value: unknown): RuleOutcome => {
  try {
    // Anything but a plain yes is none: a promise, for one, is no verdict.
    if ((check(value) as unknown) === true) return { met: true }
  } catch (error) {
    if (error instanceof RegexTimeout) return { met: null, explanation: error.message }
    if (!(error instanceof RangeError)) throw error
    return { met: null, explanation: 'nested too deeply to be checked' }
  }
  const [first] = check.errors ?? []
  return {
    met: false,
    explanation: `${first?.instancePath || 'the value'} ${first?.message ?? 'is refused'}`,
  }
}

const jsonRule = defineRule({
  name: 'json_schema',
  about:
    'Is JSON, and follows a JSON schema where one is given; as the whole text, in a code fence, or either.',
  params: { schema: schemaParameter.default(true), in: z.enum(['whole', 'fence', 'any']).default('any') },
  compile: ({ schema, in: where }) => {
    const check = compileSchema(schema)
    return text => {
      const found = findJson(text.trim(), where)
      return found === null ? { met: false, explanation: 'no JSON found' } : validate(check, found.value)
    }
  },
})

export const JSON_RULES = [jsonRule]
