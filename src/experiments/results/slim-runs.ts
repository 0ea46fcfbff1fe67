/**
 * @file All runs of a paper in one compressed file beside its results: what every value can be worked out from again, without
 * texts and weights.
 *
 * `runs.jsonl.br`: a line with the registration and what is common to the runs, then a line a run. Of its metrics, values that
 * claims and charts name, times, tokens and judge calls are kept at every step, all other numbers at about 24 steps with six
 * digits. Of its evaluations everything but texts, items in columns: a string of 0 and 1 where they are that. What it was made with,
 * and the hash of its settings, are kept as they are.
 */

import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pipeline } from 'node:stream'
import { brotliCompressSync, brotliDecompressSync, constants, createBrotliDecompress } from 'node:zlib'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import type { EvalItem, EvalRow, MetricsRow } from '../../runs/rows.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError } from '../../util/errors.ts'
import { isRecord } from '../../util/own-value.ts'
import type { FinishedRun } from '../metrics/index.ts'
import { namesUnder, type Registration } from '../plan/registration.ts'
import { ArmCurves } from '../report/curves.ts'
import type { TrainedRun, TrainedStart } from '../run/finished.ts'
import type { PaperContext } from './paper.ts'

const FORMAT = 1
const FILE = 'runs.jsonl.br'

/** Path of the file in a folder of results. */
export const slimRunsPath = (folder: string): string => join(folder, FILE)

/** Steps that are kept of values that nothing asks for. */
const KEPT_STEPS = 24
const DIGITS = 6

type Tree = Record<string, unknown>

/** A number of a tree, and the keys that lead to it. */
interface Leaf {
  path: string[]
  value: number | null
}

/** The numbers of a tree; whatever else it holds is left out. */
const leaves = (tree: Tree, before: readonly string[] = []): Leaf[] =>
  Object.entries(tree).flatMap(([key, value]) => {
    const path = [...before, key]
    if (isRecord(value)) return leaves(value, path)
    return typeof value === 'number' || value === null ? [{ path, value }] : []
  })

const treeOf = (entries: readonly { path: readonly string[]; value: unknown }[]): Tree => {
  const tree: Tree = {}
  for (const { path, value } of entries) {
    let at = tree
    for (const part of path.slice(0, -1)) {
      at[part] ??= {}
      at = at[part] as Tree
    }
    at[path[path.length - 1]] = value
  }
  return tree
}

/** Dotted names that claims and charts read from the steps; of a metric without a key that of its default, entropy. */
const namedKeys = ({ claims, controls, charts }: Registration): string[] => [
  'entropy',
  ...[...claims.map(({ metric }) => metric), controls.metric].flatMap(({ options }) =>
    namesUnder(options, ['key']),
  ),
  ...charts.flatMap(({ curve }) => (curve === undefined ? [] : [curve])),
]

const ALWAYS = ['step', 'tokens']

const thinned = (metrics: readonly MetricsRow[], registration: Registration): Tree[] => {
  const always = new Set([...ALWAYS, ...namedKeys(registration)])
  const every = Math.max(1, Math.ceil(metrics.length / KEPT_STEPS))
  return metrics.map((row, i) => {
    const isKept = i % every === 0 || i === metrics.length - 1
    return treeOf(
      leaves(row as Tree).flatMap(({ path, value }) => {
        if (always.has(path.join('.')) || path[0] === 'time') return [{ path, value }]
        return isKept ? [{ path, value: value && Number(value.toPrecision(DIGITS)) }] : []
      }),
    )
  })
}

/** Items of an evaluation: whose, as a place in the list of the file, and their numbers. */
interface Columns {
  ids: number
  columns: { path: string[]; values: string | (number | null)[] }[]
}

const packed = (values: (number | null)[]): Columns['columns'][number]['values'] =>
  values.every(value => value === 0 || value === 1) ? values.join('') : values

/** Lists of ids that evaluations share, each once. */
class IdLists {
  readonly lists: string[][] = []
  readonly #places = new Map<string, number>()

  placeOf(ids: string[]): number {
    const key = JSON.stringify(ids)
    const place = this.#places.get(key) ?? this.lists.push(ids) - 1
    this.#places.set(key, place)
    return place
  }
}

const packItems = (items: readonly Tree[], lists: IdLists): Columns => {
  const numbers = items.map(item => leaves(item))
  const paths = new Map(numbers.flat().map(({ path }) => [path.join('\n'), path]))
  const byName = numbers.map(own => new Map(own.map(({ path, value }) => [path.join('\n'), value])))
  return {
    ids: lists.placeOf(items.map(({ id }) => String(id))),
    columns: [...paths].map(([name, path]) => ({
      path,
      values: packed(byName.map(own => own.get(name) ?? null)),
    })),
  }
}

const unpackItems = ({ ids, columns }: Columns, lists: readonly string[][]): Tree[] => {
  const read = columns.map(({ path, values }) => ({
    path,
    values: typeof values === 'string' ? [...values].map(Number) : values,
  }))
  return lists[ids].map((id, i) => ({
    id,
    ...treeOf(read.map(({ path, values }) => ({ path, value: values[i] }))),
  }))
}

/** What the first line holds. */
interface Header extends PaperContext {
  format: number
  /** The content with its hashes and the name of its file. */
  registration: Registration
  ids: string[][]
  /** What the runs began with; absent in files from before it was kept. */
  starts?: readonly TrainedStart[]
}

/** What probes measured, without the responses that one keeps for reading. */
const withoutTexts = (probes: FinishedRun['probes']): FinishedRun['probes'] =>
  Object.fromEntries(
    Object.entries(probes).map(([name, found]) => {
      const { top: _top, ...rest } = found as Tree
      return [name, rest]
    }),
  )

/** Runs of a paper repeat each other further apart than the window of gzip: half its size, at a level that takes no longer. */
const compressed = (text: string): Buffer =>
  brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 24 },
  })

/** An item without the response that is kept for reading. */
const withoutSample = ({ sample: _, ...item }: EvalItem): Tree => item as unknown as Tree

/** Writes the file; returns its path. @param starts what the runs began with */
export const writeSlimRuns = (
  folder: string,
  registration: Registration,
  context: PaperContext,
  runs: readonly TrainedRun[],
  starts: readonly TrainedStart[] = [],
): string => {
  const lists = new IdLists()
  const lines = runs.map(run => ({
    ...run,
    metrics: thinned(run.metrics, registration),
    probes: withoutTexts(run.probes),
    evals: run.evals.map(row => ({
      ...row,
      ...(row.items && { items: packItems(row.items.map(withoutSample), lists) }),
    })),
  }))
  const header: Header = { format: FORMAT, ...context, registration, ids: lists.lists, starts }
  const text = [header, ...lines].map(line => `${JSON.stringify(line)}\n`).join('')
  const path = slimRunsPath(folder)
  writeFileAtomic(path, compressed(text))
  return path
}

export interface SlimRuns {
  registration: Registration
  context: PaperContext
  runs: TrainedRun[]
  /** None in files from before they were kept. */
  starts: readonly TrainedStart[]
}

/**
 * The registered charts over steps, as the report of the results has them; null where no runs lie beside these. The file is read line
 * by line: never more than one run is in memory.
 * @throws DataError for a damaged file, or one of another format
 */
export const slimCharts = async (folder: string): Promise<ChartSpec[] | null> => {
  const path = slimRunsPath(folder)
  if (!existsSync(path)) return null
  let curves: ArmCurves | null = null
  const text = createBrotliDecompress()
  // What cannot be read fails the text, which the loop hears of; nobody else would, and the process would end.
  pipeline(createReadStream(path), text, () => {})
  try {
    for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line === '') continue
      const value: unknown = JSON.parse(line)
      if (curves === null) curves = new ArmCurves(registrationOf(value as Header, path))
      else curves.add(value as TrainedRun)
    }
  } catch (cause) {
    throw cause instanceof DataError ? cause : damaged(path, cause)
  } finally {
    text.destroy()
  }
  return curves?.charts ?? []
}

const damaged = (path: string, cause: unknown): DataError =>
  new DataError(`${path}: expected the runs of results, got a file that was cut short or changed`, {
    hint: 'take it from where it was published, or run the experiment again beside its run folders',
    cause,
  })

/** @throws DataError for another format */
const registrationOf = ({ format, registration }: Header, path: string): Registration => {
  if (format === FORMAT) return registration
  throw new DataError(`${path}: expected format ${FORMAT}, got ${format}`, {
    hint: 'read it with the Gradus that wrote it',
  })
}

/** The file's lines, each parsed. @throws DataError for one that was cut short or changed */
const readLines = (path: string): [Header, ...unknown[]] => {
  try {
    const text = brotliDecompressSync(readFileSync(path)).toString('utf8')
    return text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line)) as [Header, ...unknown[]]
  } catch (cause) {
    throw damaged(path, cause)
  }
}

/** The runs that lie beside results; null where none do. @throws DataError for a damaged file, or one of another format */
export const readSlimRuns = (folder: string): SlimRuns | null => {
  const path = slimRunsPath(folder)
  if (!existsSync(path)) return null
  const [header, ...lines] = readLines(path)
  const registration = registrationOf(header, path)
  const { format: _format, registration: _registration, ids, starts = [], ...context } = header
  const runs = lines.map(line => {
    const run = line as TrainedRun & { evals: (EvalRow & { items?: unknown })[] }
    const evals = run.evals.map(row => ({
      ...row,
      ...(row.items && { items: unpackItems(row.items as unknown as Columns, ids) }),
    }))
    return { ...run, evals: evals as unknown as EvalRow[] }
  })
  return { registration, context, runs, starts }
}
