/** @file `gradus rubric author`: rubrics from a task and its traces, by a chat model or from a bank of rules. */

import {
  type AuthorRound,
  bankAuthor,
  chatAuthor,
  type RubricAuthor,
  type WrittenRubric,
} from '../../grade/author/index.ts'
import { validateRules } from '../../grade/rules/registry.ts'
import { RuleGrader } from '../../grade/rules/rule-grader.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { type RubricItem, readRubricFile } from '../../rubric/formats/index.ts'
import { placeName, userPrompt } from '../../rubric/formats/item.ts'
import { DataError, JudgeError, UsageError } from '../../util/errors.ts'
import { percent, plural } from '../../util/format.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { endpointOf } from '../endpoint.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { type AuthorInput, type AuthorJob, readJobs, UNNAMED } from './author-input.ts'
import { type ModelOptions, withAuthor } from './model.ts'
import { writeRubrics } from './output.ts'

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

const FAULTS = ['missing', 'redundant', 'ambiguous'] as const

const STOPPED = {
  'no-change': 'nothing left to change',
  rounds: 'the rounds were used up',
} as const

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
  if (bank === undefined && endpointOf(judge!, model).model === undefined)
    throw new UsageError(
      '--judge: expected --model NAME beside it, or --judge URL#NAME, got no name of a model',
    )
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
      const found = await author.write(job, { onRound: (round, i) => tell(job, round, i, io) })
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

const tell = ({ id }: AuthorJob, round: AuthorRound, index: number, io: Io): void => {
  for (const fault of FAULTS)
    for (const text of round[fault]) io.err.write(`${id}: round ${index + 1}: ${fault}: ${text}\n`)
}

const summary = ({ rubric, rounds, stopped, problem, separated }: WrittenRubric): string => {
  const why = stopped === 'unusable' ? problem : STOPPED[stopped]
  const told = separated === null ? '' : `; ${percent(separated)} of the pairs of traces in order`
  return `${rubric.criteria.length} criteria after ${plural(rounds.length, 'round')}: ${why}${told}`
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
