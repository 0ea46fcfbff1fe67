/** @file Whether a response follows its instructions, strictly or loosely. */

import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import type { Instruction } from './definition.ts'
import { instructionById } from './registry.ts'
import { isBlank, strip } from './text.ts'

/** - `strict`: the response as it is
 *  - `loose`: any of eight forms of it, without first line, last line and asterisks (IFEval, section 2.2) */
export type CheckMode = 'strict' | 'loose'

/** Arguments as the public data has them; null means absent. */
export type InstructionKwargs = Readonly<Record<string, unknown>> | null | undefined

export interface InstructionOptions {
  mode?: CheckMode
  /** Stands in for `prompt_to_repeat` and `reference_text` where the arguments lack them. */
  prompt?: string
}

/** Verdicts of several instructions on one response. */
export interface InstructionVerdicts {
  /** Strict, per instruction, in order. */
  follows: boolean[]
  /** All are followed strictly. */
  strict: boolean
  /** Each is followed by some form of the response. */
  loose: boolean
}

/**
 * Whether a response follows an instruction. A blank response follows none.
 * @param id public id, one of INSTRUCTION_IDS
 * @throws DataError for an unknown id, or for arguments that it does not take.
 * @example
 * checkInstruction('punctuation:no_comma', {}, 'Paris, Rome') // false
 */
export const checkInstruction = (
  id: string,
  kwargs: InstructionKwargs,
  response: string,
  { mode = 'strict', prompt }: InstructionOptions = {},
): boolean => {
  const follows = prepare(id, kwargs, prompt)
  return mode === 'strict' ? follows(response) : looseForms(response).some(follows)
}

/**
 * Checks several instructions on one response; `kwargs[i]` belongs to `ids[i]`.
 * @throws DataError for an unknown id, for arguments that do not fit, or for lists of different lengths.
 * @example
 * checkInstructions(['punctuation:no_comma', 'change_case:english_lowercase'], [{}, {}], 'paris and rome').strict // true
 */
export const checkInstructions = (
  ids: readonly string[],
  kwargs: readonly InstructionKwargs[],
  response: string,
  { prompt }: Omit<InstructionOptions, 'mode'> = {},
): InstructionVerdicts => {
  if (ids.length !== kwargs.length)
    throw new DataError(
      `kwargs: expected one entry for each of ${ids.length} instructions, got ${kwargs.length}`,
      { hint: 'give {} or null to an instruction without arguments' },
    )
  const checks = ids.map((id, index) => prepare(id, kwargs[index], prompt))
  const follows = checks.map(check => check(response))
  const strict = follows.every(Boolean)
  return { follows, strict, loose: strict || loosely(checks, follows, response) }
}

type Check = (response: string) => boolean

const loosely = (checks: readonly Check[], follows: readonly boolean[], response: string): boolean => {
  const forms = looseForms(response)
  return checks.every((check, index) => follows[index] || forms.some(check))
}

/** A check of one instruction, its arguments validated. */
const prepare = (id: string, kwargs: InstructionKwargs, prompt: string | undefined): Check => {
  const instruction = instructionById(id)
  const given = argumentsOf(instruction, kwargs, prompt)
  const parsed = parseWith(instruction.kwargs, given, `${id}: kwargs`, DataError)
  return response => !isBlank(response) && instruction.follows(response, parsed)
}

/** The arguments that are there: the public data fills absent ones with null. */
const argumentsOf = (instruction: Instruction, kwargs: InstructionKwargs, prompt: string | undefined) => {
  const given = Object.fromEntries(Object.entries(kwargs ?? {}).filter(([, value]) => value != null))
  const name = instruction.promptArgument
  return name !== undefined && prompt !== undefined && !(name in given) ? { ...given, [name]: prompt } : given
}

/**
 * The eight forms in which IFEval's loose mode tries a response: whole, without the first line, the last, or both, each
 * with and without its asterisks.
 */
export const looseForms = (response: string): string[] => {
  const lines = response.split('\n')
  const cut = [lines.slice(1), lines.slice(0, -1), lines.slice(1, -1)].map(kept => strip(kept.join('\n')))
  const forms = [response, ...cut]
  return [...new Set([...forms, ...forms.map(form => form.replaceAll('*', ''))])]
}
