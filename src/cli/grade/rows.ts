/** @file Rows of responses for `gradus grade`, and the rubric that each belongs to. */

import { z } from 'zod'
import type { ChatMessage } from '../../chat/chat-model.ts'
import type { GradeItem } from '../../grade/grader.ts'
import type { RubricFile, RubricItem } from '../../rubric/formats/index.ts'
import { promptKey } from '../../tasks/conversation/rows.ts'
import { DataError } from '../../util/errors.ts'
import { type JsonlLine, parseRow } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'

const message = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })

/** Files of responses come from many tools: what else a row says is kept as metadata. */
const rowSchema = z
  .looseObject({
    id: z.union([z.string(), z.number()]).optional(),
    prompt: z.union([z.string(), z.array(message)]).optional(),
    response: z.string(),
    reference: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .transform(({ id, prompt, response, reference, metadata, ...others }) => ({
    ...{ id, prompt: prompt === undefined ? undefined : asMessages(prompt), response, reference },
    metadata: { ...others, ...metadata },
  }))

export type ResponseRow = z.output<typeof rowSchema>

/** @throws DataError naming the file, the line and the field. */
export const parseResponseRow = ({ text, place }: JsonlLine): ResponseRow =>
  parseWith(rowSchema, parseRow(text, place), place, DataError)

const asMessages = (prompt: string | ChatMessage[]): ChatMessage[] =>
  typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt

const groupBy = (items: readonly RubricItem[], keyOf: (item: RubricItem) => string | null) => {
  const groups = new Map<string, RubricItem[]>()
  for (const item of items) {
    const key = keyOf(item)
    if (key !== null) groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}

/** Finds the rubric of a row. */
export class RubricMatcher {
  readonly #items: readonly RubricItem[]
  readonly #byId: ReadonlyMap<string, RubricItem[]>
  readonly #byPrompt: ReadonlyMap<string, RubricItem[]>

  constructor({ items }: RubricFile) {
    this.#items = items
    this.#byId = groupBy(items, ({ id }) => id)
    this.#byPrompt = groupBy(items, ({ prompt }) => (prompt ? promptKey(prompt) : null))
  }

  /** Whether rows have to say which rubric is theirs. */
  get several(): boolean {
    return this.#items.length > 1
  }

  /** @throws DataError for a row that belongs to no rubric, or to several. */
  find({ id, prompt }: ResponseRow, place: string): RubricItem {
    if (!this.several) return this.#items[0]
    const byId = id === undefined ? [] : (this.#byId.get(String(id)) ?? [])
    const found = byId.length > 0 || !prompt ? byId : (this.#byPrompt.get(promptKey(prompt)) ?? [])
    if (found.length === 1) return found[0]
    const count = found.length === 0 ? 'none' : `${found.length}`
    throw new DataError(
      `${place}: expected the id or the prompt of one of ${this.#items.length} rubrics, got those of ${count}; give the row the id of its rubric, such as ${JSON.stringify(this.#items[0].id)}`,
    )
  }
}

/** What is graded: the row, with what its rubric's item knows and it does not say. */
export const gradeItemOf = (row: ResponseRow, item: RubricItem): GradeItem => {
  const reference = row.reference ?? item.reference
  return {
    ...(row.id !== undefined && { id: String(row.id) }),
    prompt: row.prompt ?? item.prompt?.map(({ role, content }) => ({ role, content })) ?? [],
    response: row.response,
    ...(reference !== undefined && { reference }),
    metadata: row.metadata,
  }
}
