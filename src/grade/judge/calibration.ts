/** @file A judge against labels: its verdicts on labelled cases, as rows for `judgeQuality`. */

import { z } from 'zod'
import type { ChatMessage } from '../../chat/chat-model.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { levelSchema } from '../../rubric/levels.ts'
import { DataError } from '../../util/errors.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { parseWith } from '../../util/schema.ts'
import type { GradeItem, Grader } from '../grader.ts'

/** Whether a response meets a criterion, by someone who knows. */
export interface LabelledCase {
  prompt: ChatMessage[]
  response: string
  reference?: string
  criterion: Criterion
  label: boolean
}

const message = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })

/** Shape of a row in a file of labels; what else a row says is passed over. */
export const labelledCaseSchema = z.object({
  prompt: z.union([z.string(), z.array(message)]).default([]),
  response: z.string(),
  reference: z.string().optional(),
  criterion: z.strictObject({
    id: z.string().min(1).optional(),
    text: z.string().min(1),
    points: z.number().refine(points => points !== 0, 'a non-zero number; its sign says merit or flaw'),
    levels: z.array(levelSchema).min(2).optional(),
  }),
  label: z.boolean(),
})

/**
 * A row of a file of labels. A criterion without an id is named after its text.
 * @throws DataError naming `source` and the field
 * @example
 * const row = { prompt: 'Is aspirin safe?', response: 'Ask a doctor.', criterion: { text: 'Names a dose.', points: -1 }, label: false }
 * parseLabelledCase(row).prompt // [ { role: 'user', content: 'Is aspirin safe?' } ]
 * parseLabelledCase(row).criterion.id // 'Names a dose.'
 */
export const parseLabelledCase = (row: unknown, source = 'label'): LabelledCase => {
  const { prompt, criterion, ...rest } = parseWith(labelledCaseSchema, row, source, DataError)
  return {
    ...rest,
    prompt: typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt,
    criterion: { ...criterion, id: criterion.id ?? criterion.text },
  }
}

/** A label beside what the judge said; its group is the response. */
export interface CheckedCase {
  points: number
  label: boolean
  verdict: boolean | null
  group: string
  criterionId: string
  /** All that the judge said. */
  said: Verdict
}

export interface CheckOptions {
  /** Responses at a time. Default 16. */
  concurrency?: number
  signal?: AbortSignal
  /** Receives the number of cases that are done. */
  onProgress?: (done: number) => void
}

/**
 * Asks a grader about labelled cases; those on one response are asked together, as in use. Give the result to
 * `judgeQuality` (`gradus/eval`).
 * @returns one row a case, in their order
 * @throws DataError when a response has two labels for one criterion; what the grader throws
 * @example
 * const labels = { 'Sends to a doctor.': true, 'Names a dose.': false }
 * const cases = Object.entries(labels).map(([text, label]) => parseLabelledCase({ response: 'Ask a doctor.', criterion: { text, points: 1 }, label }))
 * const checked = await checkGrader(constantGrader(true), cases)
 * checked.map(({ label, verdict }) => label === verdict) // [ true, false ]
 */
export const checkGrader = async (
  grader: Grader,
  cases: readonly LabelledCase[],
  { concurrency = 16, signal, onProgress }: CheckOptions = {},
): Promise<CheckedCase[]> => {
  const checked: CheckedCase[] = new Array(cases.length)
  let done = 0
  const work = async ({ item, places }: Group) => {
    const criteria = places.map(place => cases[place].criterion)
    const verdicts = await grader.grade(item, criteria, { signal })
    for (const [at, place] of places.entries())
      checked[place] = checkedCase(cases[place], verdicts[at], item.id ?? '')
    done += places.length
    onProgress?.(done)
  }
  for await (const _ of mapInOrder(groupsOf(cases), work, { concurrency }));
  return checked
}

const checkedCase = ({ criterion, label }: LabelledCase, said: Verdict, group: string): CheckedCase => ({
  points: criterion.points,
  label,
  verdict: said.met,
  group,
  criterionId: criterion.id,
  said,
})

interface Group {
  item: GradeItem
  /** Indices of its cases. */
  places: number[]
}

/** Cases on one response, together. */
const groupsOf = (cases: readonly LabelledCase[]): Group[] => {
  const groups = new Map<string, Group>()
  for (const [place, { prompt, response, reference, criterion }] of cases.entries()) {
    const key = JSON.stringify([prompt, response, reference])
    const item = { id: `response ${groups.size + 1}`, prompt, response, reference }
    const group: Group = groups.get(key) ?? { item, places: [] }
    const twin = group.places.find(other => cases[other].criterion.id === criterion.id)
    if (twin !== undefined)
      throw new DataError(
        `labels ${twin + 1} and ${place + 1}: expected one label a criterion and response, got two for ${JSON.stringify(criterion.id)}; remove one`,
      )
    group.places.push(place)
    groups.set(key, group)
  }
  return [...groups.values()]
}
