/** @file Answers of a model, kept in a file: a row an answer, whole or as far as it came, found again by who was asked, how, and what. */

import {
  accessSync,
  appendFileSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { ChatMessage } from '../chat/chat-model.ts'
import type { Verdict } from '../rubric/criterion.ts'
import { promptKey } from '../tasks/conversation/rows.ts'
import { DataError, UsageError } from '../util/errors.ts'
import { withFile } from '../util/file-failure.ts'
import { parseJson, wellFormed } from '../util/json.ts'
import { type JsonlLine, jsonlLines, parseRow, someJsonlLines } from '../util/jsonl.ts'
import { writeOutput } from '../util/output-file.ts'
import { parseWith } from '../util/schema.ts'
import type { MeasuredProblem } from './task.ts'

/** A verdict as a row keeps it, with what it was about. */
export type SavedVerdict = Pick<Verdict, 'criterionId' | 'met' | 'credit' | 'explanation'> & {
  text?: string
  source?: string
}

/** An episode beside its tokens. */
export type SavedEpisode = z.output<typeof episodeSchema>

export interface SavedAnswer {
  id: string
  /** Which of the problem's answers, from 0. */
  sample: number
  prompt: readonly ChatMessage[]
  response: string
  /** As the server spells it; `length`: cut off by the token limit. */
  finishReason?: string
  /** Absent where nobody counted them. */
  tokens?: number
  /** The response, where it was asked for in tokens. */
  ids?: readonly number[]
  /** The rest of it where it took several turns, and what the environment said of it. */
  episode?: SavedEpisode
  /** Who answered, as it was named. */
  model?: string
  /** Names who answered and how it was asked; rows of another one are never taken over. */
  by?: string
  settings?: AskSettings
  /** Scores by name, verdicts, and who gave those that no rule gave, asked in which way (`NamedJudge.digest`). */
  scores?: Readonly<Record<string, number | null>>
  verdicts?: readonly SavedVerdict[]
  judge?: string
  judgeDigest?: string
  heldOut?: readonly SavedVerdict[]
  heldOutJudge?: string
  heldOutDigest?: string
}

/** How a model is asked; temperature 0: greedy. */
const askSchema = z.object({ temperature: z.number(), maxTokens: z.number(), seed: z.string() })
export type AskSettings = z.output<typeof askSchema>

const message = z.looseObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })
const verdict = z.looseObject({
  criterionId: z.string(),
  met: z.boolean().nullable(),
  credit: z.number().min(0).max(1).optional(),
  explanation: z.string().optional(),
  text: z.string().optional(),
  source: z.string().optional(),
})

const episodeSchema = z.object({
  mask: z.array(z.int()),
  turns: z.array(z.object({ start: z.int(), end: z.int() })),
  end: z.enum(['stop', 'length', 'over', 'turns', 'failed']),
  failure: z.string().optional(),
  outcome: z
    .object({ rewards: z.array(z.number().nullable()), done: z.boolean(), faults: z.int() })
    .nullable(),
})

/** Files of other tools have responses with an id or a prompt, and what else they like. */
const rowSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  sample: z.int().min(0).optional(),
  prompt: z.union([z.string(), z.array(message)]).optional(),
  response: z.string(),
  finishReason: z.string().nullish(),
  tokens: z.int().min(0).nullish(),
  ids: z.array(z.int().min(0)).optional(),
  episode: episodeSchema.optional(),
  model: z.string().optional(),
  by: z.string().optional(),
  settings: askSchema.optional(),
  verdicts: z.array(verdict).optional(),
  judge: z.string().optional(),
  judgeDigest: z.string().optional(),
  heldOut: z.array(verdict).optional(),
  heldOutJudge: z.string().optional(),
  heldOutDigest: z.string().optional(),
})

type SavedRow = Omit<SavedAnswer, 'id' | 'sample' | 'prompt'> & {
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
  /** Asked in tokens, which they have. */
  readonly inTokens: boolean
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
    this.inTokens = rows[0].ids !== undefined
  }

  /** Whether a command that grades answers has written them: it may write the file again. */
  static areGraded(path: string): boolean {
    try {
      return someJsonlLines(path).every(({ text, place }) => 'scores' in parseRow(text, place, savedRow))
    } catch {
      return false
    }
  }

  /** All answers to a problem: to its very prompt, or of its id where rows tell no prompt. */
  to({ id, messages }: Pick<MeasuredProblem, 'id' | 'messages'>): SavedAnswer[] {
    const key = promptKey(messages)
    const own = (this.#byId.get(id) ?? []).filter(
      ({ prompt }) => prompt === undefined || promptKey(prompt) === key,
    )
    const rows = own.length > 0 ? own : (this.#byPrompt.get(key) ?? [])
    return rows.map((row, i) => ({ ...row, id, sample: i, prompt: messages }))
  }
}

const keyOf = ({ by, id, sample, prompt }: Pick<SavedAnswer, 'by' | 'id' | 'sample' | 'prompt'>): string =>
  JSON.stringify([by, id, sample, promptKey(prompt)])

/** A row as a line. Half of a character, which a server may send and no text holds, becomes the mark for that. */
const lineOf = (answer: SavedAnswer): string =>
  `${JSON.stringify(answer, (_, value) => (typeof value === 'string' ? wellFormed(value) : value))}\n`

/** The content of a file of answers. */
export const answerLines = (answers: readonly SavedAnswer[]): string => answers.map(lineOf).join('')

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
  readonly #by: string
  readonly #known = new Map<string, SavedAnswer>()

  /**
   * @param by who is asked, and how
   * @throws UsageError where the file holds other answers; DataError where it holds something else
   */
  constructor(path: string, by: string) {
    this.path = path
    this.#partial = `${path}.partial`
    this.#by = by
    if (existsSync(path)) for (const line of jsonlLines(path)) this.#takeOver(line, path)
    this.#openPartial()
  }

  #takeOver({ text, place }: JsonlLine, file: string): void {
    const row = parseRow(text, place, savedRow)
    if (row.by !== this.#by || row.id === undefined || row.prompt === undefined)
      throw new UsageError(
        `--out: expected ${this.path} to hold answers of the same model, asked in the same way, or not to be there; got ${row.model === undefined ? 'other rows' : `answers of ${row.model}`}`,
        {
          hint: `name another file${file === this.path ? '' : `, or remove ${file}`}`,
        },
      )
    const answer = { ...row, id: row.id, prompt: row.prompt, sample: row.sample ?? 0 }
    this.#known.set(keyOf(answer), answer)
  }

  /** Takes over its answers, and what a kill has cut off goes: the next answer begins a line of its own. */
  #openPartial(): void {
    const partial = this.#partial
    const bytes = withFile(
      partial,
      () => {
        mkdirSync(dirname(partial), { recursive: true })
        accessSync(dirname(partial), constants.W_OK)
        return existsSync(partial) ? readFileSync(partial) : Buffer.alloc(0)
      },
      { doing: 'cannot be written' },
    )
    const end = bytes.lastIndexOf(0x0a) + 1
    const last = bytes.subarray(end).toString('utf8')
    const lines = [...bytes.subarray(0, end).toString('utf8').split('\n'), ...(isWhole(last) ? [last] : [])]
    for (const [i, text] of lines.entries())
      if (text !== '') this.#takeOver({ text, place: `${partial}:${i + 1}` }, partial)
    if (isWhole(last)) appendFileSync(partial, '\n')
    else if (end < bytes.length) truncateSync(partial, end)
  }

  /** Two commands may have begun with a file that was not there. */
  #refuseOthers(answers: readonly SavedAnswer[]): void {
    try {
      if (existsSync(this.path)) for (const line of jsonlLines(this.path)) this.#takeOver(line, this.path)
    } catch (cause) {
      writeOutput(this.#partial, answerLines(answers))
      throw new UsageError(`--out: another command has written ${this.path} meanwhile`, {
        hint: `these answers are in ${this.#partial}: rename it to NEW.jsonl.partial, and the same command with --out NEW.jsonl goes on from there`,
        cause,
      })
    }
  }

  find(answer: Pick<SavedAnswer, 'by' | 'id' | 'sample' | 'prompt'>): SavedAnswer | undefined {
    return this.#known.get(keyOf(answer))
  }

  /** Keeps an answer at once. @throws DataError where it cannot be written */
  add(answer: SavedAnswer): void {
    this.#known.set(keyOf(answer), answer)
    withFile(this.#partial, () => appendFileSync(this.#partial, lineOf(answer)), {
      doing: 'cannot be written',
    })
  }

  /**
   * Writes the file: these, and behind them what it has of other problems.
   * @throws DataError where it cannot be written; UsageError where another command has written it meanwhile, and these stay beside it
   */
  finish(answers: readonly SavedAnswer[]): void {
    this.#refuseOthers(answers)
    const keys = new Set(answers.map(keyOf))
    const others = [...this.#known].flatMap(([key, answer]) => (keys.has(key) ? [] : [answer]))
    writeOutput(this.path, answerLines([...answers, ...others]))
    rmSync(this.#partial, { force: true })
  }
}
