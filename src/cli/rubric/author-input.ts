/** @file What `gradus rubric author` reads: tasks with their traces, from one file or several. */

import { z } from 'zod'
import type { RubricSubject } from '../../grade/author/index.ts'
import { rowsOfText } from '../../rubric/formats/document.ts'
import { partThinking } from '../../tasks/thinking.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'

/** What a lone task without an id is called in messages. */
export const UNNAMED = 'rubric'

/** One rubric that is to be written. */
export interface AuthorJob extends RubricSubject {
  id: string
}

interface Trace {
  text: string
  /** The question that it was written for, where the row names one. */
  query?: string
}

// Loose: rollouts and data sets carry fields of their own.
const traceRow = z
  .looseObject({
    thinking: z.string().optional(),
    text: z.string().optional(),
    response: z.string().optional(),
    query: z.string().optional(),
  })
  .refine(row => row.thinking ?? row.text ?? row.response, 'a "thinking", "text" or "response"; add one')
const traceSchema = z.union([z.string().min(1), traceRow])
const traces = z.array(traceSchema).default([])

const querySchema = z.strictObject({
  id: z.string().min(1).optional(),
  query: z.string().min(1),
  positives: traces,
  negatives: traces,
})

const taskSchema = z.strictObject({
  id: z.string().min(1).optional(),
  task: z.string().min(1),
  /** One text, or one entry a dimension. */
  dimensions: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).optional(),
  positives: traces,
  negatives: traces,
  queries: z.array(querySchema).default([]),
})
type Task = z.output<typeof taskSchema>

/** Whole responses are parted at the end of their thinking; `thinking` says that only this counts. */
const traceOf = (row: z.output<typeof traceSchema>, onlyThinking: boolean): Trace => {
  const { thinking, text, response, query } = typeof row === 'string' ? { text: row } : row
  if (thinking !== undefined) return { text: thinking, query }
  const whole = text ?? response ?? ''
  const parted = partThinking(whole)
  return { text: onlyThinking && parted.closed ? parted.thinking : whole, query }
}

export interface AuthorInput {
  task: string
  positives?: string
  negatives?: string
  perQuery?: boolean
  /** Whether rubrics are of thinking alone. */
  thinking: boolean
}

const readTraces = (file: string | undefined, onlyThinking: boolean): Trace[] =>
  file === undefined
    ? []
    : someJsonlLines(file, 'trace').map(({ place, text }) =>
        parseRow(text, place, row => traceOf(parseWith(traceSchema, row, '', DataError), onlyThinking)),
      )

const textsOf = (list: readonly Trace[], query?: string): string[] =>
  list.flatMap(trace => (query === undefined || trace.query === query ? [trace.text] : []))

const dimensionsOf = ({ dimensions }: Task): string | undefined =>
  Array.isArray(dimensions) ? dimensions.map(text => `- ${text}`).join('\n') : dimensions

/** A task with all its traces, those of other files included. */
interface Material {
  task: Task
  id: string
  positives: Trace[]
  negatives: Trace[]
  queries: { id?: string; query: string; positives: Trace[]; negatives: Trace[] }[]
}

const materialOf = (
  task: Task,
  id: string,
  extra: Record<'positives' | 'negatives', Trace[]>,
  only: boolean,
) => {
  const read = (rows: Task['positives']) => rows.map(row => traceOf(row, only))
  return {
    task,
    id,
    positives: [...read(task.positives), ...extra.positives],
    negatives: [...read(task.negatives), ...extra.negatives],
    queries: task.queries.map(({ positives, negatives, ...rest }) => ({
      ...rest,
      positives: read(positives),
      negatives: read(negatives),
    })),
  }
}

/** One job of a task: all its traces, those of single questions included. */
const wholeJob = ({ task, id, positives, negatives, queries }: Material): AuthorJob => ({
  id,
  task: task.task,
  dimensions: dimensionsOf(task),
  positives: textsOf([...positives, ...queries.flatMap(one => one.positives)]),
  negatives: textsOf([...negatives, ...queries.flatMap(one => one.negatives)]),
})

/** A job a question. One that has no traces of its own is shown those that belong to no question. */
const queryJobs = (material: Material): AuthorJob[] => {
  const { task, id, positives, negatives, queries } = material
  const named = [...queries]
  for (const { query } of [...positives, ...negatives])
    if (query !== undefined && named.every(one => one.query !== query))
      named.push({ query, positives: [], negatives: [] })
  return named.map((one, i) => {
    const own = {
      positives: [...textsOf(one.positives), ...textsOf(positives, one.query)],
      negatives: [...textsOf(one.negatives), ...textsOf(negatives, one.query)],
    }
    const shared = (list: readonly Trace[]) => textsOf(list.filter(({ query }) => query === undefined))
    const chosen =
      own.positives.length + own.negatives.length > 0
        ? own
        : { positives: shared(positives), negatives: shared(negatives) }
    return {
      id: one.id ?? `${id}-${i + 1}`,
      task: task.task,
      dimensions: dimensionsOf(task),
      query: one.query,
      ...chosen,
    }
  })
}

/**
 * The rubrics that are to be written: one a task, or one a question of it.
 * @throws UsageError, DataError naming file and place of what cannot be used.
 */
export const readJobs = ({
  task: file,
  positives,
  negatives,
  perQuery,
  thinking,
}: AuthorInput): AuthorJob[] => {
  const text = readText(file)
  if (text.trim() === '')
    throw new DataError(`${file}: expected a task, got an empty file; write {task: TEXT}`)
  const { rows } = rowsOfText(text, file)
  if (rows.length === 0) throw new DataError(`${file}: expected at least one task, got none`)
  const extra = { positives: readTraces(positives, thinking), negatives: readTraces(negatives, thinking) }
  if (rows.length > 1 && extra.positives.length + extra.negatives.length > 0)
    throw new UsageError(
      `--positives, --negatives: expected one task in ${file} for them, got ${rows.length}; put the traces of each task into its row`,
    )
  const materials = rows.map(({ value, place }, i) => {
    const task = parseWith(taskSchema, value, place, DataError)
    return materialOf(task, task.id ?? (rows.length === 1 ? UNNAMED : `row${i + 1}`), extra, thinking)
  })
  const jobs = materials.flatMap(perQuery ? queryJobs : wholeJob)
  if (jobs.length === 0)
    throw new UsageError('--per-query: expected queries in the task, or traces with a "query", got none')
  const bare = jobs.find(job => job.positives.length + job.negatives.length === 0)
  if (bare)
    throw new DataError(
      `${file}: ${bare.id}: expected traces to learn from, got none; add positives, negatives or both`,
    )
  return jobs
}
