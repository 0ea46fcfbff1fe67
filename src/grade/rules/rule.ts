/** @file What a rule predicate is: a name, checked parameters, and a check of one response; and what all rules have in common. */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { GradeItem } from '../grader.ts'

/** What a rule found. `credit` in [0, 1] where the rule grades by degrees. */
export interface RuleOutcome {
  /** Null where the rule cannot say: nothing to compare with, or a check that ran out of time. */
  met: boolean | null
  credit?: number
  explanation?: string
}

type RuleResult = boolean | null | RuleOutcome

/** A rule with its parameters fixed. */
export type RuleCheck = (item: GradeItem) => RuleOutcome

/** What a rule may look at besides response and reference. */
export type RuleSource = 'prompt' | 'metadata' | 'startLogprob'

/** A named predicate over responses. */
export interface Rule {
  name: string
  /** What is asked of the response, in one sentence. */
  about: string
  /** Names of the parameters it takes. */
  parameters: readonly string[]
  /** What it looks at besides response and reference. */
  uses: readonly RuleSource[]
  /**
   * Checks the parameters once, so that a whole file is graded without looking at them again.
   * @param source where the parameters came from, for errors
   * @throws DataError naming every parameter that cannot be used
   */
  compile(params: unknown, source: string): RuleCheck
}

const common = {
  /** Only the text inside the last `<tag>` is looked at. */
  within: z
    .string()
    .regex(/^[\w-]{1,40}$/, 'the bare name of a tag, such as answer; leave out the angle brackets')
    .optional(),
  /** Turns the finding round. */
  negate: z.boolean().default(false),
}

/** Every rule's parameters take these as well. */
export const COMMON_PARAMETERS: readonly string[] = Object.keys(common)

interface Definition<S extends z.ZodRawShape> {
  name: string
  about: string
  params: S
  /** What it looks at besides response and reference; it is given nothing else. Default: nothing. */
  uses?: readonly RuleSource[]
  /** A condition on several parameters at once, with `what was expected; what to do`. */
  require?: readonly [(params: z.output<z.ZodObject<S>>) => boolean, string]
  /** May throw DataError for parameters that only turn out to be wrong now. */
  compile(params: z.output<z.ZodObject<S>>): (text: string, item: GradeItem) => RuleResult
}

/** Makes a rule of a definition: checks parameters, cuts out `within`, turns round `negate`. */
export const defineRule = <S extends z.ZodRawShape>(definition: Definition<S>): Rule => {
  const { name, about, params: shape, uses = [], require, compile } = definition
  type Params = z.output<z.ZodObject<S>>
  const object = z.strictObject({ ...shape, ...common })
  const schema = require
    ? object.refine(params => require[0](params as unknown as Params), require[1])
    : object
  return {
    name,
    about,
    parameters: Object.keys(shape),
    uses,
    compile(params, source) {
      const checked = parseWith(schema, params ?? {}, source, DataError) as Params & CommonParams
      const check = named(source, () => compile(checked))
      const { within, negate } = checked
      return item => {
        const text = within === undefined ? item.response : textWithin(item.response, within)
        const outcome = text === null ? absent(within) : asOutcome(check(text, item))
        return negate ? inverted(outcome) : outcome
      }
    },
  }
}

/** Faults that only show when a rule is put together get the place as well. */
const named = <T>(source: string, make: () => T): T => {
  try {
    return make()
  } catch (error) {
    if (error instanceof DataError) throw new DataError(`${source}: ${error.message}`, { cause: error })
    throw error
  }
}

interface CommonParams {
  within?: string
  negate: boolean
}

const absent = (tag = ''): RuleOutcome => ({ met: false, explanation: `there is no <${tag}>` })

const asOutcome = (result: RuleResult): RuleOutcome =>
  result === null || typeof result === 'boolean' ? { met: result } : result

const inverted = ({ met, credit, explanation }: RuleOutcome): RuleOutcome => ({
  met: met === null ? null : !met,
  ...(credit !== undefined && { credit: 1 - credit }),
  ...(explanation !== undefined && { explanation }),
})

/** Text inside the last `<tag>`; to the end where it is never closed; null without the tag. */
const textWithin = (response: string, tag: string): string | null => {
  const open = response.lastIndexOf(`<${tag}>`)
  if (open < 0) return null
  const start = open + tag.length + 2
  const end = response.indexOf(`</${tag}>`, start)
  return response.slice(start, end < 0 ? response.length : end)
}

/** Bounds of a count, as parameters; spread into a rule's `params`. */
export const band = { min: z.int().min(0).optional(), max: z.int().min(0).optional() }

export interface Band {
  min?: number
  max?: number
}

/** Whether a count lies in a band, with the count as the explanation. */
export const inBand = (count: number, { min = 0, max = Number.POSITIVE_INFINITY }: Band, what: string) => ({
  met: count >= min && count <= max,
  explanation: `${count} ${what}`,
})

/** A band must have a limit, and the limits must not cross. */
export const bandIsSensible = ({ min, max }: Band): boolean =>
  (min !== undefined || max !== undefined) && (min ?? 0) <= (max ?? Number.POSITIVE_INFINITY)

/**
 * Outcome of something with several parts: met when all parts are. With `graded` the share of parts is the credit.
 * @param missing names of the parts that are not there, for the explanation
 */
export const outcomeOfParts = (
  found: number,
  total: number,
  graded: boolean,
  missing: readonly string[],
): RuleOutcome => ({
  met: found === total,
  ...(graded && { credit: total === 0 ? 0 : found / total }),
  ...(missing.length > 0 && { explanation: `missing: ${missing.join(', ')}`.slice(0, 500) }),
})

/** Whether parts that are missing leave partial credit. */
export const graded = z.boolean().default(false)

export interface RuleRequest {
  /** Each rule as JSON, `{fn, params}`: equal texts are compiled once. */
  rules: string[]
  /** Null to look only whether the rules can be used. */
  item: GradeItem | null
  /** Milliseconds of core time after which no further rule is begun. */
  budgetMs: number
}

/** Outcomes in the order of the rules; or what speaks against some of them, with `PLACE` where the name belongs. */
export type RuleReply =
  | { outcomes: RuleOutcome[]; tookMs: number }
  | { unusable: { index: number; why: string }[] }
  | { notFinite: string }

/** Stands in an error for the place of a rule, which the worker does not know. */
export const PLACE = '\u0001'
