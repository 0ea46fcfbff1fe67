/** @file `gradus rubric author`: rubrics from a task and its traces, by a chat model or from a bank of rules. */

import { z } from 'zod'
import {
  bankAuthor,
  chatAuthor,
  type RubricAuthor,
  type RubricSubject,
  type WrittenRubric,
} from '../../grade/author/index.ts'
import { validateRules } from '../../grade/rules/registry.ts'
import { RuleGrader } from '../../grade/rules/rule-grader.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { rowsOfText } from '../../rubric/formats/document.ts'
import { type RubricItem, readRubricFile } from '../../rubric/formats/index.ts'
import { placeName, userPrompt } from '../../rubric/formats/item.ts'
import { partThinking } from '../../tasks/thinking.ts'
import { DataError, JudgeError, UsageError } from '../../util/errors.ts'
import { percent, plural } from '../../util/format.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'
import { namedEndpoint } from '../endpoint.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { type ModelOptions, tellRound, WHY_STOPPED, withAuthor } from './model.ts'
import { writeRubrics } from './output.ts'

/** What a lone task without an id is called in messages. */
const UNNAMED = 'rubric'

/** One rubric that is to be written. */
interface AuthorJob extends RubricSubject {
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

interface AuthorInput {
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

type Material = ReturnType<typeof materialOf>

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
const readJobs = ({ task: file, positives, negatives, perQuery, thinking }: AuthorInput): AuthorJob[] => {
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

export interface AuthorCommandOptions
  extends Omit<ModelOptions, 'judge' | 'model'>,
    Omit<AuthorInput, 'thinking'> {
  judge?: string
  model?: string
  bank?: string
  about: 'thinking' | 'response'
  traces: number
  rounds: number
  minCriteria: number
  maxCriteria: number
  concurrency: number
  json?: boolean
}

type Written = { job: AuthorJob } & ({ found: WrittenRubric } | { error: string })

/**
 * Writes a rubric for every task, or every question, and says on stderr what each round named. One that cannot be written is
 * named, the others are written, and the exit code becomes 1.
 * @throws UsageError, ConfigError, DataError before anything is asked; JudgeError when every call would fail.
 */
export const authorCommand = async (options: AuthorCommandOptions, io: Io): Promise<number> => {
  const thinking = options.about === 'thinking'
  checkOptions(options)
  const jobs = readJobs({ ...options, thinking })
  const { result, interrupted } = await withMaker(options, io, author => writeAll(jobs, author, options, io))
  const written = result ?? []
  const items = written.flatMap(one => ('found' in one ? [itemOf(one.job, one.found)] : []))
  const isSingle = jobs.length === 1 && !options.perQuery
  if (items.length > 0 && (options.out !== undefined || !options.json))
    writeRubrics({ format: 'native', layout: isSingle ? 'single' : 'rows', items }, { out: options.out }, io)
  if (options.json) printJson(io, jsonOf(written))
  if (interrupted) return EXIT.interrupted
  const isWhole =
    items.length === jobs.length && written.every(one => 'found' in one && one.found.stopped !== 'unusable')
  return isWhole ? EXIT.ok : EXIT.failed
}

const checkOptions = ({ judge, model, bank, minCriteria, maxCriteria }: AuthorCommandOptions): void => {
  if ((bank === undefined) === (judge === undefined))
    throw new UsageError(
      `rubric author: expected --judge URL with --model NAME, or --bank FILE, got ${bank === undefined ? 'neither' : 'both'}`,
    )
  if (bank === undefined) namedEndpoint(judge!, model)
  if (minCriteria > maxCriteria)
    throw new UsageError(
      `--min-criteria: expected at most --max-criteria (${maxCriteria}), got ${minCriteria}`,
    )
}

const aboutOf = ({ about }: AuthorCommandOptions) =>
  about === 'thinking' ? ('thinking' as const) : undefined

/** Does the work with the maker that is asked for, and closes it. */
const withMaker = async <T>(
  options: AuthorCommandOptions,
  io: Io,
  work: (author: RubricAuthor) => Promise<T>,
): Promise<{ result: T | null; interrupted: boolean }> => {
  const { judge, model, bank, traces, rounds, minCriteria, maxCriteria } = options
  const about = aboutOf(options)
  if (bank === undefined)
    return withAuthor({ ...options, judge: judge!, model }, io, author => {
      const subject = about ?? 'response'
      return work(
        chatAuthor({ ...author, about, subject: `the ${subject}`, traces, rounds, minCriteria, maxCriteria }),
      )
    })
  const criteria = readBank(bank)
  const grader = new RuleGrader()
  const author = bankAuthor({ bank: criteria, grader, about, rounds, propose: minCriteria, maxCriteria })
  return { result: await work(author), interrupted: false }
}

/** @throws DataError for a bank of several rubrics, a rule that cannot be used, or a criterion that no rule checks */
const readBank = (path: string): Criterion[] => {
  const { items } = readRubricFile(path)
  if (items.length !== 1)
    throw new DataError(
      `${path}: expected one list of criteria, got ${items.length} rubrics; put them into one`,
    )
  const { criteria } = items[0].rubric
  const judged = criteria.findIndex(({ verifier }) => verifier?.kind !== 'rule')
  if (judged >= 0)
    throw new DataError(
      `${path}: criteria[${judged}] ${JSON.stringify(criteria[judged].id)}: expected a rule as its verifier, got ${criteria[judged].verifier?.kind ?? 'none'}; what no rule checks cannot be tried on the traces`,
    )
  validateRules(items[0].rubric, path)
  return criteria
}

const writeAll = async (
  jobs: readonly AuthorJob[],
  author: RubricAuthor,
  { concurrency, traces, bank }: AuthorCommandOptions,
  io: Io,
): Promise<Written[]> => {
  const work = async (job: AuthorJob): Promise<Written> => {
    const left = [job.positives, job.negatives].map(list => Math.max(0, list.length - traces))
    if (bank === undefined && left.some(count => count > 0))
      io.err.write(
        `${job.id}: the model is shown the first ${traces} of ${job.positives.length} good and ${job.negatives.length} bad traces; --traces for more\n`,
      )
    try {
      const found = await author.write(job, { onRound: (round, i) => tellRound(round, i, io, `${job.id}: `) })
      io.err.write(`${job.id}: ${summary(found)}\n`)
      return { job, found }
    } catch (error) {
      // One that the model cannot be had for must not take the others with it.
      const passing = error instanceof JudgeError && !error.fatal
      if (!(error instanceof DataError || passing)) throw error
      io.err.write(`gradus: ${job.id}: ${error.message}\n`)
      return { job, error: error.message }
    }
  }
  const written: Written[] = []
  for await (const one of mapInOrder(jobs, work, { concurrency })) written.push(one)
  return written
}

const summary = ({ rubric, rounds, stopped, problem, separated }: WrittenRubric): string => {
  const why = stopped === 'unusable' ? problem : WHY_STOPPED[stopped]
  const ordered = separated === null ? '' : `; ${percent(separated)} of the pairs of traces in order`
  return `${rubric.criteria.length} criteria after ${plural(rounds.length, 'round')}: ${why}${ordered}`
}

/** A task without a name leaves a rubric without one. */
const unnamedOr = (id: string, rubric: Rubric): RubricItem =>
  id === UNNAMED ? { id: placeName(0), rubric } : { id, rubric: { id, ...rubric } }

const itemOf = ({ id, query }: AuthorJob, { rubric }: WrittenRubric): RubricItem =>
  query === undefined ? unnamedOr(id, rubric) : { id, prompt: userPrompt(query), rubric }

const jsonOf = (written: readonly Written[]) => ({
  rubrics: written.flatMap(one =>
    'found' in one
      ? [{ id: one.job.id, ...(one.job.query !== undefined && { query: one.job.query }), ...one.found }]
      : [],
  ),
  failed: written.flatMap(one => ('error' in one ? [{ id: one.job.id, error: one.error }] : [])),
})
