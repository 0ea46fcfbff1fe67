/**
 * @file IFEval (Zhou et al. 2023, arXiv 2311.07911) and IFBench (Pyatkin et al. 2025, arXiv 2507.02833), counted as their own
 * code counts (evaluation_lib.py of either): a prompt is right when all its instructions are followed, and instructions count
 * one by one beside that; strictly, or loosely where any of eight forms of the response follows.
 */

import { z } from 'zod'
import { checkInstruction } from '../grade/instructions/index.ts'
import { withoutThinking } from '../model/chat-format.ts'
import type { AnswerGrades, CountedValue, TaskScore } from '../recipes/common/task-kind.ts'
import type { Criterion, Rubric } from '../rubric/criterion.ts'
import { uniqueNames } from '../rubric/unique.ts'
import type { ConversationRow } from '../tasks/conversation/rows.ts'
import { DataError } from '../util/errors.ts'
import { parseRow, someJsonlLines } from '../util/jsonl.ts'
import { parseWith } from '../util/schema.ts'
import { mean } from '../util/statistics.ts'
import { type Benchmark, benchmark } from './benchmark.ts'

const rowSchema = z.looseObject({
  key: z.union([z.string(), z.number()]),
  prompt: z.string().min(1),
  instruction_id_list: z.array(z.string()).min(1),
  kwargs: z.array(z.record(z.string(), z.unknown()).nullable()),
})

type Mode = 'strict' | 'loose'

const criterion = (id: string, instruction: string, kwargs: object, mode: Mode): Criterion => ({
  id: mode === 'strict' ? id : `${id} (loose)`,
  text: `Follows ${instruction}${mode === 'strict' ? '' : ', loosely'}: ${JSON.stringify(kwargs)}`,
  points: 1,
  category: mode,
  verifier: { kind: 'rule', fn: 'instruction', params: { id: instruction, kwargs, mode } },
})

/** Absent arguments are null in IFBench's file. */
const given = (kwargs: object | null): object =>
  Object.fromEntries(Object.entries(kwargs ?? {}).filter(([, value]) => value !== null))

const rowOf = (value: unknown): ConversationRow => {
  const row = parseWith(rowSchema, value, '', DataError)
  const { key, prompt, instruction_id_list: instructions, kwargs } = row
  if (kwargs.length !== instructions.length)
    throw new DataError(
      `kwargs: expected one for each of ${instructions.length} instructions, got ${kwargs.length}`,
    )
  const unique = uniqueNames()
  const named = instructions.map((instruction, i) => ({
    id: unique(instruction),
    instruction,
    own: given(kwargs[i]),
  }))
  // Once on anything at all: an unknown id or argument shows here.
  for (const { instruction, own } of named)
    checkInstruction(instruction, own as Record<string, unknown>, 'response', { prompt })
  const of = (mode: Mode) => named.map(({ id, instruction, own }) => criterion(id, instruction, own, mode))
  return {
    id: String(key),
    messages: [{ role: 'user', content: prompt }],
    rubric: { criteria: [...of('strict'), ...of('loose')] },
  }
}

/** Whether each instruction is followed, in order; null where the checker could not say. */
const followed = ({ verdicts }: AnswerGrades, { criteria }: Rubric, mode: Mode): (boolean | null)[] =>
  criteria.flatMap(({ category }, i) => (category === mode ? [verdicts[i].met] : []))

const promptLevel = (mode: Mode): TaskScore => ({
  words: `prompt level, ${mode}`,
  count(graded, rubric) {
    const met = followed(graded, rubric, mode)
    if (met.includes(false)) return { value: 0 }
    return { value: met.includes(null) ? null : 1 }
  },
})

const instructionLevel = (mode: Mode): TaskScore => ({
  words: `instruction level, ${mode}`,
  count(graded, rubric): CountedValue {
    const met = followed(graded, rubric, mode)
    if (met.includes(null)) return { value: null }
    return { value: mean(met.map(Number)), weight: met.length }
  },
})

const about = (name: string) =>
  `Prompts of ${name} as they are, one user message each. Prompt level: all instructions of a prompt are followed; instruction level: of all instructions. Loose: by any of eight forms of the response, without first line, last line, asterisks.`

const task = (title: string, primary: string, maxTokens: number): Benchmark =>
  benchmark({
    about: about(title),
    maxTokens,
    primary,
    scores: {
      promptStrict: promptLevel('strict'),
      instructionStrict: instructionLevel('strict'),
      promptLoose: promptLevel('loose'),
      instructionLoose: instructionLevel('loose'),
    },
    rate: ({ category, verifier }) => (category === 'strict' ? String(verifier?.params?.id) : null),
    // Blanks at the ends count: a response is graded as it is, but for thinking.
    read: response => (response.includes('think>') ? withoutThinking(response) : response),
    rows(file) {
      const unique = uniqueNames()
      const rows = someJsonlLines(file, 'prompt').map(({ text, place }) => parseRow(text, place, rowOf))
      return rows.map(row => ({ ...row, id: unique(row.id) }))
    },
  })

export const ifeval = task('IFEval', 'promptStrict', 1280)
/** Its paper reports loose accuracy of prompts. */
export const ifbench = task('IFBench', 'promptLoose', 2048)
