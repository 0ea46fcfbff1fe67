/** @file Sources of problems opened: files read, rows decided by the solver, training and test kept apart. */

import type { LogicSolver } from '../../grade/logic/solver.ts'
import { decideRows } from '../../tasks/logic/decided.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { type LogicGeneratorOptions, logicGenerator } from '../../tasks/logic/generator.ts'
import { type LeftOutRow, readLogicFile } from '../../tasks/logic/loaders.ts'
import { ConfigError } from '../../util/errors.ts'
import { hasRows } from '../../util/prefetched-rows.ts'
import { Rng } from '../../util/rng.ts'
import { type FileSource, type SourceSettings, sourceName } from './sources-config.ts'

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

/** What generated problems have where a source does not say. */
export type TaskDefaults = LogicGeneratorOptions

/**
 * Reads the files of some sources. Rows that cannot be read are named in `leftOut`.
 * @param key setting that lists them, for errors
 * @param mayComeLater whether a file may be missing; its source then has no rows
 * @throws ConfigError for a file without a row that can be used; DataError as `readLogicFile`
 */
export const openSources = (
  sources: readonly SourceSettings[],
  key: string,
  defaults: TaskDefaults,
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

const generatorOf = (settings: Exclude<SourceSettings, FileSource>, defaults: TaskDefaults) => {
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
