/** @file Answers of a model, kept in a file: a row an answer, whole or as far as it came, found again by who was asked, how, and what. */

import { appendFileSync, existsSync, rmSync } from 'node:fs'
import { z } from 'zod'
import type { ChatMessage } from '../chat/chat-model.ts'
import type { Verdict } from '../rubric/criterion.ts'
import { promptKey } from '../tasks/conversation/rows.ts'
import { DataError, UsageError } from '../util/errors.ts'
import { fileFailure } from '../util/file-failure.ts'
import { parseJson } from '../util/json.ts'
import { jsonlLines, parseRow, someJsonlLines } from '../util/jsonl.ts'
import { writeOutput } from '../util/output-file.ts'
import { parseWith } from '../util/schema.ts'
import type { MeasuredProblem } from './task.ts'

/** How a model is asked. */
export interface AskSettings {
  /** 0: greedy. */
  temperature: number
  maxTokens: number
  seed: string
}

/** A verdict as a row keeps it, with what it was about. */
export type SavedVerdict = Pick<Verdict, 'criterionId' | 'met' | 'credit' | 'explanation'> & {
  text?: string
  source?: string
}

export interface Answer {
  id: string
  /** Which of the problem's answers, from 0. */
  sample: number
  prompt: readonly ChatMessage[]
  response: string
  /** As the server spells it; `length`: cut off by the token limit. */
  finishReason?: string
  /** Absent where nobody counted them. */
  tokens?: number
  /** Who answered, as it was named. */
  model?: string
  /** Names who answered and how it was asked; rows of another one are never taken over. */
  by?: string
  settings?: AskSettings
  /** Scores by name, verdicts, and who gave those that no rule gave. */
  scores?: Readonly<Record<string, number | null>>
  verdicts?: readonly SavedVerdict[]
  judge?: string
  heldOut?: readonly SavedVerdict[]
  heldOutJudge?: string
}

const message = z.looseObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })
const verdict = z.looseObject({
  criterionId: z.string(),
  met: z.boolean().nullable(),
  credit: z.number().min(0).max(1).optional(),
  explanation: z.string().optional(),
  text: z.string().optional(),
  source: z.string().optional(),
})

/** Files of other tools have responses with an id or a prompt, and what else they like. */
const rowSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  sample: z.int().min(0).optional(),
  prompt: z.union([z.string(), z.array(message)]).optional(),
  response: z.string(),
  finishReason: z.string().nullish(),
  tokens: z.int().min(0).nullish(),
  model: z.string().optional(),
  by: z.string().optional(),
  settings: z.object({ temperature: z.number(), maxTokens: z.number(), seed: z.string() }).optional(),
  verdicts: z.array(verdict).optional(),
  judge: z.string().optional(),
  heldOut: z.array(verdict).optional(),
  heldOutJudge: z.string().optional(),
})

type SavedRow = Omit<Answer, 'id' | 'sample' | 'prompt'> & {
  id?: string
  prompt?: readonly ChatMessage[]
  sample?: number
}

const savedRow = (value: unknown): SavedRow => {
  const { id, prompt, finishReason, tokens, ...rest } = parseWith(rowSchema, value, '', DataError)
  return {
    ...rest,
    ...(id !== undefined && { id: String(id) }),
    ...(prompt !== undefined && {
      prompt: typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt,
    }),
    ...(finishReason != null && { finishReason }),
    ...(tokens != null && { tokens }),
  }
}

/** Answers of a file, in the place of a model. */
export class SavedAnswers {
  readonly model: string
  /** How they were asked for, where the file says so. */
  readonly settings: AskSettings | undefined
  readonly #byId = new Map<string, SavedRow[]>()
  readonly #byPrompt = new Map<string, SavedRow[]>()

  /** @throws DataError for a file that is no rows of answers */
  constructor(path: string) {
    const rows = someJsonlLines(path, 'answer').map(({ text, place }) => parseRow(text, place, savedRow))
    const add = (map: Map<string, SavedRow[]>, key: string, row: SavedRow) =>
      map.set(key, [...(map.get(key) ?? []), row])
    for (const row of rows) {
      if (row.id !== undefined) add(this.#byId, row.id, row)
      if (row.prompt !== undefined) add(this.#byPrompt, promptKey(row.prompt), row)
    }
    this.model = rows[0].model === undefined ? path : `${rows[0].model} (${path})`
    this.settings = rows[0].settings
  }

  /** All answers to a problem: to its very prompt, or of its id where rows tell no prompt. */
  to({ id, messages }: MeasuredProblem): Answer[] {
    const key = promptKey(messages)
    const own = (this.#byId.get(id) ?? []).filter(
      ({ prompt }) => prompt === undefined || promptKey(prompt) === key,
    )
    const rows = own.length > 0 ? own : (this.#byPrompt.get(key) ?? [])
    return rows.map((row, i) => ({ ...row, id, sample: i, prompt: messages }))
  }
}

const keyOf = ({ by, id, sample, prompt }: Pick<Answer, 'by' | 'id' | 'sample' | 'prompt'>): string =>
  JSON.stringify([by, id, sample, promptKey(prompt)])

const isWhole = (text: string): boolean => {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}

/**
 * The file of `--out`: whole or not there. While answers come they go to `FILE.partial`, which the next run of the same command
 * takes over, as it does the rows of a whole file.
 */
export class AnswerFile {
  readonly path: string
  readonly #partial: string
  readonly #known = new Map<string, Answer>()

  /**
   * @param by who is asked, and how
   * @throws UsageError where the file holds other answers; DataError where it holds something else
   */
  constructor(path: string, by: string) {
    this.path = path
    this.#partial = `${path}.partial`
    for (const file of [path, this.#partial]) {
      if (!existsSync(file)) continue
      // A kill may have cut the last line.
      const lines = jsonlLines(file).filter(
        ({ text }, i, all) => file === path || i < all.length - 1 || isWhole(text),
      )
      for (const { text, place } of lines) {
        const row = parseRow(text, place, savedRow)
        if (row.by !== by || row.id === undefined || row.prompt === undefined)
          throw new UsageError(
            `--out: expected ${path} to hold answers of the same model, asked in the same way, or not to be there; got ${row.model === undefined ? 'other rows' : `answers of ${row.model}`}`,
            {
              hint: `name another file${file === path ? '' : `, or remove ${file}`}`,
            },
          )
        const answer = { ...row, id: row.id, prompt: row.prompt, sample: row.sample ?? 0 }
        this.#known.set(keyOf(answer), answer)
      }
    }
  }

  find(answer: Pick<Answer, 'by' | 'id' | 'sample' | 'prompt'>): Answer | undefined {
    return this.#known.get(keyOf(answer))
  }

  /** Keeps an answer at once. @throws DataError where it cannot be written */
  add(answer: Answer): void {
    this.#known.set(keyOf(answer), answer)
    try {
      appendFileSync(this.#partial, `${JSON.stringify(answer)}\n`)
    } catch (error) {
      throw fileFailure(this.#partial, error, { doing: 'cannot be written' })
    }
  }

  /** Writes the file: these, and behind them what it has of other problems. @throws DataError where it cannot be written */
  finish(answers: readonly Answer[]): void {
    const keys = new Set(answers.map(keyOf))
    const others = [...this.#known].flatMap(([key, answer]) => (keys.has(key) ? [] : [answer]))
    writeOutput(this.path, [...answers, ...others].map(answer => `${JSON.stringify(answer)}\n`).join(''))
    rmSync(this.#partial, { force: true })
  }
}
