/** @file Data files and models of a configuration that are not here yet: prefetched before its plan or run, the same ones on a resume. */

import { existsSync, statSync } from 'node:fs'
import { fetchModel, type ModelPart } from '../../model/fetch-model.ts'
import { isRun, readRunInfo } from '../../runs/readers.ts'
import type { Columns } from '../../util/column-names.ts'
import { isHubAddress } from '../../util/hub-address.ts'
import { hashFile } from '../../util/manifest.ts'
import { valueInside } from '../../util/own-value.ts'
import { isCached } from '../../util/prefetched-rows.ts'
import { type PinnedFile, prefetchRows } from '../../util/row-stream.ts'
import { knownShape } from './known-models.ts'
import type { ReadFile, RecipeEntry, RunEvents, RunOptions } from './recipe.ts'
import type { RunMode } from './refuse.ts'

/** Settings of recipes that name a model whose shape a plan tells. */
const STARTS = ['model.folder', 'start', 'coldStart.model.folder', 'critic.own.folder']
/** And those that a run opens beside it. */
const OTHERS = ['sft.teacher', 'verifier.folder', 'memory.embedder.folder']

const at = (config: unknown, path: string): unknown => valueInside(config, path.split('.'))

const placesAt = (config: unknown, paths: readonly string[]): string[] =>
  paths.map(path => at(config, path)).filter(place => typeof place === 'string')

/** The models of a configuration, with what a plan or a run needs of each. */
const modelsOf = (config: unknown, purpose: RunMode): [place: string, only: ModelPart][] => {
  const isRemote = at(config, 'policy.kind') === 'tinker'
  // A model on a server has its words here, and nothing else; what the server calls it need not be its name on the hub.
  const words = isRemote ? placesAt(config, ['policy.tokenizer']) : []
  const starts = placesAt(config, isRemote ? STARTS.slice(1) : STARTS)
  const only = purpose === 'plan' ? 'config' : 'all'
  const whole = purpose === 'plan' ? starts : [...starts, ...placesAt(config, OTHERS)]
  return [
    ...words.map(place => [place, 'words'] as [string, ModelPart]),
    ...whole
      // A plan needs nothing of what it knows by its name.
      .filter(place => purpose === 'run' || knownShape(place) === null)
      .map(place => [place, only] as [string, ModelPart]),
  ]
}

/** A file of rows that a configuration names. */
export interface DataFile {
  path: string | null | undefined
  columns?: Columns
}

type TaskFiles = Partial<Record<'kind' | 'file' | 'testFile' | 'rubric', string | null>> & {
  columns?: Columns
  tests?: Readonly<Record<string, { file: string }>>
}

/** The files that a task of any kind names. */
export const taskFiles = ({ task }: { task: TaskFiles }): DataFile[] => {
  const { file, testFile, rubric, columns, tests = {} } = task
  const rows = [file, testFile, ...Object.values(tests).map(own => own.file)]
  return [...rows.map(path => ({ path, columns })), { path: rubric }]
}

const prefetchAll = async (
  config: unknown,
  files: readonly DataFile[],
  purpose: RunMode,
  { dir, download, signal }: { dir: string | undefined } & Pick<RunEvents, 'download' | 'signal'>,
): Promise<PinnedFile[]> => {
  // The commits that a run read its files from.
  const read = dir === undefined || !isRun(dir) ? [] : (readRunInfo(dir).data ?? [])
  const pins = new Map(read.map(({ source, commit }) => [source, commit]))
  const noted = new Map<string, PinnedFile>()
  for (const { path, columns } of files) {
    if (path === null || path === undefined) continue
    // What a plan names may be put in place later; what lies on the hub is there or not.
    if (purpose === 'plan' && !isHubAddress(path) && !existsSync(path)) continue
    // A plan of many runs fetches their data once.
    if (purpose === 'plan' && isCached(path, columns)) continue
    // Two files of one run are of one commit, also where the branch moves between them.
    const pinned = pins.get(path) ?? noted.get(path)?.commit
    const file = await prefetchRows(path, { columns, signal, ...(pinned !== undefined && { pinned }) })
    if (file) noted.set(path, file)
  }
  const onCommit = (source: string, commit: string) => noted.set(source, { source, commit })
  const status = download !== undefined && { status: download }
  for (const [place, only] of modelsOf(config, purpose))
    await fetchModel(place, { pins, onCommit, signal, ...status, only })
  return [...noted.values()]
}

/**
 * Files on this machine as they are now. What is no file of bytes that stay (a pipe), and what cannot be read, is left to who
 * reads it.
 */
const digestsOf = (files: readonly DataFile[]): ReadFile[] => {
  const digests = new Map<string, string>()
  for (const { path } of files) {
    if (path === null || path === undefined || isHubAddress(path)) continue
    try {
      if (statSync(path).isFile()) digests.set(path, hashFile(path).sha256)
    } catch {}
  }
  return [...digests].map(([path, sha256]) => ({ path, sha256 }))
}

/**
 * A recipe whose data files may be Parquet, or on the hub, and its models too. A resume refuses local ones that are others by then.
 * @param filesOf the files of rows and rubrics that a configuration names
 */
export const withDataFiles = <Config>(
  entry: RecipeEntry<Config>,
  filesOf: (config: Config) => readonly DataFile[] = () => [],
): RecipeEntry<Config> => ({
  ...entry,
  prefetch: (config, purpose, dir, events) =>
    prefetchAll(config, filesOf(config), purpose, { dir, ...events }),
  run: async (config: Config, options: RunOptions) => {
    const data = await prefetchAll(config, filesOf(config), 'run', {
      dir: options.resume ? options.dir : undefined,
      download: options.events?.download,
      signal: options.events?.signal,
    })
    for (const { source, commit } of data) options.events?.onMessage?.(`${source}: read at commit ${commit}`)
    return entry.run(config, { ...options, data, files: digestsOf(filesOf(config)) })
  },
})
