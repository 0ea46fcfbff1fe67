/** @file All instructions by their public ids: IFEval's 25, 4 more of its code, IFBench's 58. */

import { DataError } from '../../util/errors.ts'
import { closest, describeValue } from '../../util/schema.ts'
import { countInstructions, extentInstructions, ratioInstructions } from './counts.ts'
import type { Instruction } from './definition.ts'
import { caseInstructions, keywordInstructions } from './keywords.ts'
import { layoutInstructions } from './layout.ts'
import { markupInstructions } from './markup.ts'
import { taskInstructions } from './tasks.ts'
import { repeatInstructions, wholeInstructions } from './whole.ts'
import { sentenceInstructions, wordInstructions } from './word-patterns.ts'

const INSTRUCTIONS: ReadonlyMap<string, Instruction> = new Map(
  [
    keywordInstructions,
    extentInstructions,
    caseInstructions,
    markupInstructions,
    wholeInstructions,
    countInstructions,
    ratioInstructions,
    wordInstructions,
    sentenceInstructions,
    layoutInstructions,
    repeatInstructions,
    taskInstructions,
  ]
    .flat()
    .map(instruction => [instruction.id, instruction]),
)

/** Ids of all instructions that can be checked. */
export const INSTRUCTION_IDS: readonly string[] = [...INSTRUCTIONS.keys()].sort()

/** @throws DataError for an unknown id, naming near ones. */
export const instructionById = (id: string): Instruction => {
  const found = INSTRUCTIONS.get(id)
  if (found) return found
  throw new DataError(`expected the id of an instruction, got ${describeValue(id)}`, { hint: advice(id) })
}

/** Ids of the same group or the same name, and the nearest by spelling. */
const advice = (id: string): string => {
  const [group, name] = id.split(':')
  const related = INSTRUCTION_IDS.filter(known => known.startsWith(`${group}:`) || known.endsWith(`:${name}`))
  const nearest = closest(id, INSTRUCTION_IDS)
  const near = [...new Set([...(nearest ? [nearest] : []), ...related])]
  if (near.length === 0) return 'see INSTRUCTION_IDS, or the page on verifying instructions'
  return `near ones are ${near.slice(0, 8).join(', ')}`
}
