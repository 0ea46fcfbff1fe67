/** @file GSM8K (Cobbe et al. 2021, arXiv 2110.14168) and MATH (Hendrycks et al. 2021, arXiv 2103.03874): the final answer is right. */

import { z } from 'zod'
import { uniqueNames } from '../rubric/unique.ts'
import type { ConversationRow } from '../tasks/conversation/rows.ts'
import { DataError } from '../util/errors.ts'
import { parseRow, someJsonlLines } from '../util/jsonl.ts'
import { parseWith } from '../util/schema.ts'
import { type Benchmark, benchmark } from './benchmark.ts'

/** As the Qwen2.5-Math models were evaluated, and what most small models have seen. */
const ASK = 'Please reason step by step, and put your final answer within \\boxed{}.'

const id = z.union([z.string(), z.number()]).optional()
const gsmRow = z.looseObject({ id, question: z.string().min(1), answer: z.string() })
const mathRow = z.looseObject({
  id,
  unique_id: id,
  problem: z.string().min(1),
  answer: z.union([z.string().min(1), z.number()]),
})

interface Asked {
  id: string | number | undefined
  question: string
  gold: string
}

const GOLD = /####\s*(.+?)\s*$/

const gsm = (value: unknown): Asked => {
  const { id, question, answer } = parseWith(gsmRow, value, '', DataError)
  const gold = GOLD.exec(answer)?.[1] ?? (/^[-\d.,]+$/.test(answer.trim()) ? answer.trim() : undefined)
  if (gold === undefined)
    throw new DataError(`answer: expected "#### NUMBER" at its end, got ${JSON.stringify(answer.slice(-40))}`)
  return { id, question, gold: gold.replaceAll(',', '') }
}

const math = (value: unknown): Asked => {
  const { id, unique_id, problem, answer } = parseWith(mathRow, value, '', DataError)
  return { id: id ?? unique_id, question: problem, gold: String(answer) }
}

const rowOf = ({ question, gold }: Asked, id: string): ConversationRow => ({
  id,
  messages: [{ role: 'user', content: `${question.trim()}\n\n${ASK}` }],
  reference: gold,
  rubric: {
    criteria: [
      {
        id: 'right',
        text: `Its final answer is ${gold}.`,
        points: 1,
        verifier: { kind: 'rule', fn: 'math_equal', params: { gold } },
      },
    ],
  },
})

const task = (title: string, maxTokens: number, asked: (row: unknown) => Asked): Benchmark =>
  benchmark({
    about: `Problems of ${title}, each followed by "${ASK}"; right is a final answer that equals the reference mathematically.`,
    maxTokens,
    isBinary: true,
    rows(file) {
      const unique = uniqueNames()
      return someJsonlLines(file, 'problem').map(({ text, place }, i) => {
        const row = parseRow(text, place, asked)
        return rowOf(row, unique(String(row.id ?? `row${i + 1}`)))
      })
    },
  })

export const gsm8k = task('GSM8K', 512, gsm)
export const mathematics = task('MATH', 1536, math)
