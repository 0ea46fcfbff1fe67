/** @file Sources of problems opened: files read, rows decided by the solver, training and test kept apart; mixed in proportion to their weights, and told in words. And the problems that are trained on. */

import type { LogicSolver } from '../../grade/logic/solver.ts'
import { decideRows } from '../../tasks/logic/decided.ts'
import { shapeOf } from '../../tasks/logic/demonstrations.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import {
  type LogicGeneratorOptions,
  logicGenerator,
  settleLogicOptions,
} from '../../tasks/logic/generator.ts'
import { type LeftOutRow, loadLogicRows, readLogicFile } from '../../tasks/logic/loaders.ts'
import { RESERVED_SEED_PREFIX } from '../../tasks/logic/testsets.ts'
import { countEach } from '../../util/descriptive.ts'
import { ConfigError } from '../../util/errors.ts'
import { formatInteger, percent, plural } from '../../util/format.ts'
import { hasRows } from '../../util/prefetched-rows.ts'
import { Rng } from '../../util/rng.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import { type FileSource, type RubricAsRewardConfig, type SourceSettings, sourceName } from './config.ts'
import { goalOf, isSchedule, mostHops } from './lengths.ts'

/** A source that can be drawn from. */
export interface OpenSource {
  name: string
  weight: number
  settings: SourceSettings
  /** Rows of its file that can be used; null for generated problems, which never end, and for a file that comes later. */
  rows: readonly LogicTaskExample[] | null
  /** Rows that cannot be used. */
  leftOut: readonly LeftOutRow[]
  /** Rows whose conclusion has lost its formula; see `decideRows`. */
  doubted: readonly LeftOutRow[]
  /** Problem i of a generator's stream by its seed; null for a file. */
  generate: ((seed: string) => (index: number) => LogicTaskExample) | null
}

/**
 * Reads the files of some sources. Rows that cannot be read are named in `leftOut`.
 * @param key setting that lists them, for errors
 * @param defaults what generated problems have where a source does not say
 * @param mayComeLater whether a file may be missing; its source then has no rows
 * @throws ConfigError for a file without a row that can be used; DataError as `readLogicFile`
 */
export const openSources = (
  sources: readonly SourceSettings[],
  key: string,
  defaults: LogicGeneratorOptions,
  mayComeLater = false,
): OpenSource[] =>
  sources.map((settings, i) => {
    const common = { name: sourceName(settings), weight: settings.weight, settings, doubted: [] }
    if (settings.kind === 'generated')
      return { ...common, rows: null, leftOut: [], generate: generatorOf(settings, defaults) }
    if (mayComeLater && !hasRows(settings.path)) return { ...common, rows: null, leftOut: [], generate: null }
    const { problems, unread } = readLogicFile(settings.path, settings.kind)
    const rows = problems.filter(isOfPart(settings)).map(problem => ({ ...problem, source: common.name }))
    if (rows.length === 0)
      throw new ConfigError(`${key}[${i}].path: ${settings.path} holds no usable problems`, {
        hint:
          unread.length > 0
            ? `the first that cannot be read is ${unread[0].id}: ${unread[0].reason}`
            : 'check the path, kind and part',
      })
    return { ...common, rows, leftOut: unread, generate: null }
  })

const generatorOf = (settings: Exclude<SourceSettings, FileSource>, defaults: LogicGeneratorOptions) => {
  const { kind: _kind, name: _name, weight: _weight, ...own } = settings
  const options = {
    ...defaults,
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
  }
  const source = sourceName(settings)
  return (seed: string) => {
    const problem = logicGenerator(options, `${seed}/${source}`)
    return (index: number) => ({ ...problem(index), source })
  }
}

/** Share of a file's contexts that `part: test` takes. */
const TEST_SHARE = 0.2

/** The same for the same sentences, whatever is asked about them and in which order they stand. */
const contextKey = ({ premises }: Pick<LogicTaskExample, 'premises'>): string =>
  premises
    .map(text => text.trim().toLowerCase())
    .sort()
    .join('\n')

const isOfPart =
  ({ part }: FileSource) =>
  (problem: LogicTaskExample): boolean => {
    if (part === undefined) return true
    const isTest = new Rng(`part/${contextKey(problem)}`).next() < TEST_SHARE
    return isTest === (part === 'test')
  }

/**
 * Refuses test problems about sentences that are trained on: another question about them is no other problem.
 * @throws ConfigError naming both sources
 */
export const checkApart = (
  trained: readonly Pick<OpenSource, 'name' | 'rows'>[],
  tested: readonly OpenSource[],
): void => {
  const seen = new Map<string, string>()
  for (const { name, rows } of trained)
    for (const row of rows ?? []) seen.set(contextKey(row), `${row.id} of ${name}`)
  for (const { name, rows } of tested) {
    const shared = (rows ?? []).filter(row => seen.has(contextKey(row)))
    if (shared.length > 0)
      throw new ConfigError(
        `evaluation.sources: expected rows about other sentences than training has, got ${shared.length} of ${rows!.length} of "${name}" that it has as well, first ${shared[0].id} (as ${seen.get(contextKey(shared[0]))})`,
        { hint: 'test on another file, or set part to "train" in one source and to "test" in the other' },
      )
  }
}

/**
 * The sources with rows that the solver has looked at: faulty ones left out, doubted formulas set aside.
 * @throws ConfigError where nothing is left of one
 */
export const decideSources = (sources: readonly OpenSource[], solver: LogicSolver): Promise<OpenSource[]> =>
  Promise.all(
    sources.map(async (source): Promise<OpenSource> => {
      if (source.rows === null) return source
      const { problems, faulty, doubted } = await decideRows(source.rows, solver)
      if (problems.length === 0)
        throw new ConfigError(`source "${source.name}": the premises of every row contradict each other`)
      return { ...source, rows: problems, leftOut: [...source.leftOut, ...faulty], doubted }
    }),
  )

/** What a test set of sources is called. */
export const sourcesTitle = (sources: readonly SourceSettings[]): string =>
  sources.map(sourceName).join(' + ')

/** Problem i of a source. */
const streamOf = ({ name, rows, generate }: OpenSource, seed: number | string) =>
  generate?.(`train:${seed}`) ?? shuffledPasses(rows!, `${seed}/source ${name}, pass`, ' ')

/**
 * The training stream of several sources. The next problem is of the source that is furthest behind its weight, so that every
 * stretch of the stream has them in proportion, and each file's rows come once a pass.
 */
export const mixedStream = (sources: readonly OpenSource[], seed: number | string) => {
  const streams = sources.map(source => streamOf(source, seed))
  const turns = turnsOf(sources.map(({ weight }) => weight))
  return (index: number): LogicTaskExample => {
    const { source, nth } = turns(index)
    return streams[source](nth)
  }
}

/** Whose turn is the i-th, and how many it has had before. */
const turnsOf = (weights: readonly number[]) => {
  const counts = weights.map(() => 0)
  const whose: number[] = []
  const before: number[] = []
  return (index: number): { source: number; nth: number } => {
    while (whose.length <= index) {
      const behind = weights.map((weight, s) => (counts[s] + 0.5) / weight)
      const source = behind.indexOf(Math.min(...behind))
      whose.push(source)
      before.push(counts[source]++)
    }
    return { source: whose[index], nth: before[index] }
  }
}

/** `total` shared out by weights, by largest remainders; of equal ones the first. */
const allotted = (total: number, weights: readonly number[]): number[] => {
  const sum = weights.reduce((a, b) => a + b, 0)
  const exact = weights.map(weight => (total * weight) / sum)
  const counts = exact.map(Math.floor)
  const byRemainder = [...weights.keys()].sort(
    (a, b) => exact[b] - counts[b] - (exact[a] - counts[a]) || a - b,
  )
  const left = total - counts.reduce((a, b) => a + b, 0)
  for (const source of byRemainder.slice(0, left)) counts[source]++
  return counts
}

/**
 * How many problems each source gives to a test set of at most `most`: in proportion to the weights, and no more than it has.
 * All zero where a file's share of even a single problem is more than its rows.
 */
export const testCounts = (sources: readonly OpenSource[], most: number): number[] => {
  const weights = sources.map(({ weight }) => weight)
  const room = sources.map(({ rows }) => rows?.length ?? Number.POSITIVE_INFINITY)
  for (let total = most; total > 0; total--) {
    const counts = allotted(total, weights)
    if (counts.every((count, s) => count <= room[s])) return counts
  }
  return weights.map(() => 0)
}

/** A test set of at most `most` problems: the same rows and generated problems at every call, smaller sets within larger ones. */
export const testProblemsOf = (sources: readonly OpenSource[], most: number): LogicTaskExample[] => {
  const counts = testCounts(sources, most)
  return distinct(
    sources.flatMap(({ name, rows, generate }, s) => {
      if (rows !== null) return new Rng(`${RESERVED_SEED_PREFIX}${name}`).shuffle(rows).slice(0, counts[s])
      if (generate === null) return []
      const problem = generate(`${RESERVED_SEED_PREFIX}test`)
      return Array.from({ length: counts[s] }, (_, i) => problem(i))
    }),
  )
}

/** Two files may give one id to two problems: evaluations are compared by ids. */
const distinct = (problems: readonly LogicTaskExample[]): LogicTaskExample[] => {
  const times = countEach(problems.map(({ id }) => id))
  return problems.map(problem =>
    times.get(problem.id)! > 1 ? { ...problem, id: `${problem.source}/${problem.id}` } : problem,
  )
}

/** Rows that a message names; a plan's JSON has all of them. */
const NAMED = 20

const namedRows = (rows: readonly LeftOutRow[]): string => {
  const named = rows.slice(0, NAMED).map(({ id, reason }) => `${id} (${reason})`)
  return [...named, ...(rows.length > NAMED ? [`${rows.length - NAMED} more`] : [])].join('; ')
}

/** What of a source's rows is not used, or not in full. @param use `training` or `test` */
export const describeLeftOut = ({ name, leftOut, doubted }: OpenSource, use: string): string[] => [
  ...(leftOut.length > 0
    ? [`${use} source ${name}: ${plural(leftOut.length, 'row')} left out: ${namedRows(leftOut)}`]
    : []),
  ...(doubted.length > 0
    ? [
        `${use} source ${name}: ${plural(doubted.length, 'row')} whose formulas do not give the label; the answer counts, proofs are not judged: ${namedRows(doubted)}`,
      ]
    : []),
]

/** Where files hold less than a test set of the size asked for takes. */
export const describeSmallerTest = (sources: readonly OpenSource[], most: number): string[] => {
  const counts = testCounts(sources, most)
  const total = counts.reduce((a, b) => a + b, 0)
  if (total === most) return []
  const parts = sources.map(({ name }, s) => `${counts[s]} of ${name}`).join(', ')
  return [`test set: ${total} of ${most} problems (${parts}), the most that the files hold at these weights`]
}

const describePlace = ({ settings, rows, leftOut }: OpenSource): string => {
  if (settings.kind === 'generated') return 'generated'
  if (rows === null) return `${settings.path} (not there yet: put the rows into this file)`
  const part = settings.part === undefined ? '' : `, part ${settings.part}`
  return `${settings.path}${part}, ${plural(rows.length, 'row')}${leftOut.length > 0 ? `, ${formatInteger(leftOut.length)} left out` : ''}`
}

/** A plan's lines about some sources. */
export const describeSources = (title: string, sources: readonly OpenSource[]): string[] => {
  const sum = sources.reduce((total, { weight }) => total + weight, 0)
  return sources.flatMap(source => [
    `${title.padEnd(12)} ${percent(source.weight / sum)} ${source.name}: ${describePlace(source)}`,
    ...describeLeftOut(source, title).map(line => `${''.padEnd(12)} ${line}`),
  ])
}

/** The same for machines. */
export const sourceSizes = (sources: readonly OpenSource[]) =>
  sources.map(({ name, weight, settings, rows, leftOut }) => ({
    name,
    weight,
    kind: settings.kind,
    ...('path' in settings && { path: settings.path }),
    rows: rows?.length ?? null,
    leftOut,
  }))

/** Problem i of the training stream; of a schedule's, the one of so many hops. */
export type ProblemSource = (index: number, hops?: number) => LogicTaskExample

/**
 * Files are shuffled anew every pass; where lengths follow a schedule and none is given, problems are the longest.
 * @param sources those of `task.sources`; read here where they are not given
 */
export const problemSource = (
  { task, seed }: Pick<RubricAsRewardConfig, 'task' | 'seed'>,
  sources = trainingSources({ task }),
): ProblemSource => {
  if (sources !== null) return mixedStream(sources, seed)
  if (task.file === null) return generated(task, seed)
  const rows = loadLogicRows(task.file, task.format)
  if (rows.length === 0) throw new ConfigError(`task.file: ${task.file} holds no usable problems`)
  return shuffledPasses(rows, `${seed}/pass`, ' ')
}

/** What generated problems of a source have where it does not say: the task's own settings. */
const defaultsOf = ({
  hops,
  style,
  labels,
  ...shape
}: RubricAsRewardConfig['task']): LogicGeneratorOptions => ({
  ...shapeOf(shape),
  ...{ hops: goalOf(hops), style, labels },
})

/** The sources of `task.sources`, opened; null without. @throws ConfigError, DataError as `openSources` */
export const trainingSources = (
  { task }: Pick<RubricAsRewardConfig, 'task'>,
  mayComeLater = false,
): OpenSource[] | null =>
  task.sources === undefined
    ? null
    : openSources(task.sources, 'task.sources', defaultsOf(task), mayComeLater)

/** Those of `evaluation.sources`. @throws ConfigError, DataError as `openSources` */
export const testSources = (
  { task, evaluation }: Pick<RubricAsRewardConfig, 'task' | 'evaluation'>,
  mayComeLater = false,
): OpenSource[] | null =>
  evaluation.sources === undefined
    ? null
    : openSources(evaluation.sources, 'evaluation.sources', defaultsOf(task), mayComeLater)

/** Kinds that problems draw from: of a schedule, all lengths from those that the longest takes. */
export const kindsOf = ({
  hops,
  kinds,
  style,
}: Pick<RubricAsRewardConfig['task'], 'hops' | 'kinds' | 'style'>): number =>
  kinds ?? settleLogicOptions({ hops: goalOf(hops), style }).kinds

const generated = (
  { hops, style, labels, ...shape }: RubricAsRewardConfig['task'],
  seed: number | string,
): ProblemSource => {
  const kinds = kindsOf({ hops, kinds: shape.kinds, style })
  const generatorFor = (count: number | Record<string, number>) =>
    logicGenerator({ ...shapeOf(shape), hops: count, style, labels, kinds }, `train:${seed}`)
  if (!isSchedule(hops)) return generatorFor(hops)
  const longest = mostHops(hops)
  const byHops = new Map<number, (index: number) => LogicTaskExample>()
  return (index, count = longest) => {
    const known = byHops.get(count) ?? generatorFor(count)
    byHops.set(count, known)
    return known(index)
  }
}
