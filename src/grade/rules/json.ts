/** @file The rule `json_schema`: the response is JSON, and follows a schema. */

import { Ajv, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { z } from 'zod'
import { BoundedRegex, RegexTimeout } from './bounded-regex.ts'
import { defineRule, type RuleOutcome } from './rule.ts'
import { splitCode } from './text.ts'

const MAX_SCHEMA = 100_000

/** Patterns in schemas are as untrusted as others: they run under the same time limit. */
const boundedPatterns = Object.assign((source: string, flags: string) => new BoundedRegex(source, flags), {
  code: 'boundedPatterns',
})

const AJV: Options = {
  // A misspelt keyword would check nothing, silently.
  strictSchema: true,
  strictTypes: false,
  strictTuples: false,
  strictRequired: false,
  logger: false,
  code: { regExp: boundedPatterns },
}

type Schema = boolean | Record<string, unknown>

/** Checks against draft 2020-12, or an older draft where `$schema` names one. @throws Error for a schema that is none. */
const compileSchema = (schema: Schema): ValidateFunction => {
  const draft = typeof schema === 'object' ? String(schema.$schema ?? '') : ''
  const ajv = /draft-0[4-7]/.test(draft) ? new Ajv(AJV) : new Ajv2020(AJV)
  formats.default(ajv)
  return ajv.compile(schema)
}

const schemaFault = (schema: Schema): string | null => {
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA) return `more than ${MAX_SCHEMA} characters`
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
    const fault = schemaFault(schema)
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
    if (check(value)) return { met: true }
  } catch (error) {
    if (error instanceof RegexTimeout) return { met: null, explanation: error.message }
    // A value nested deeper than the stack reaches: no schema in use asks for that.
    if (error instanceof RangeError) return { met: false, explanation: 'nested too deeply to be checked' }
    throw error
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
