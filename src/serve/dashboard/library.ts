/**
 * @file Which runs and experiments there are: looked for under the folders that were named, each given a name for addresses. No
 * address has a path in it, and nothing outside these folders is opened, whatever links say.
 */

import { type Dirent, existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { DataError } from '../../util/errors.ts'

export interface FoundRun {
  id: string
  dir: string
  name: string
  /** Folders between the one that was named and the run. */
  folder: string
}

export interface FoundExperiment {
  id: string
  dir: string
  name: string
  /** The folder of the work, `paper/hash`: what was registered, and runs by arm; else that of the results. */
  isWork: boolean
}

/** Runs lie at most so many folders below the one that was named: `runs/rit/runs/arm/start-a/seed-1`. */
const MOST_LEVELS = 6
/** A folder with more runs shows the first. */
const MOST_RUNS = 5_000
/** Folders of a run that hold no further runs. */
const NOT_RUNS: ReadonlySet<string> = new Set(['checkpoints', 'node_modules', '.git'])

/** Whether a path lies in a folder, links followed. */
const isInside = (path: string, folder: string): boolean => {
  try {
    const real = realpathSync(path)
    const root = realpathSync(folder)
    return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)
  } catch {
    return false
  }
}

/**
 * A file of a run by its name; null where it is not there, is no plain file, or is a link out of the run's folder.
 */
export const fileOf = (dir: string, name: string): string | null => {
  const path = join(dir, name)
  try {
    if (!lstatSync(path).isSymbolicLink()) return statSync(path).isFile() ? path : null
    return isInside(path, dir) && statSync(path).isFile() ? path : null
  } catch {
    return null
  }
}

const hasRun = (dir: string): boolean => fileOf(dir, 'config.json') !== null

/** The address of a page of a run, with what is asked for of it. */
export const runAddress = (run: string, path: string, query: Record<string, unknown> = {}): string => {
  const known = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return `/run/${encodeURIComponent(run)}/${path}?${new URLSearchParams(Object.fromEntries(known))}`
}

/** Results of an experiment, as `gradus experiment` writes them. */
const hasExperiment = (dir: string): boolean =>
  fileOf(dir, 'controls.json') !== null && fileOf(dir, 'summary.md') !== null

const hasWork = (dir: string): boolean =>
  /^[0-9a-f]{16}$/.test(basename(dir)) && fileOf(dir, 'registration.json') !== null

const foldersIn = (dir: string): string[] => {
  let entries: Dirent[]
  try {
    entries = readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
  return entries
    .filter(entry => entry.isDirectory() && !NOT_RUNS.has(entry.name) && !entry.name.startsWith('.'))
    .map(({ name }) => name)
}

export class Library {
  readonly #roots: string[]
  #runs = new Map<string, FoundRun>()
  #experiments = new Map<string, FoundExperiment>()

  /**
   * @param roots folders of runs, runs, or folders of an experiment
   * @throws DataError for one that is not there
   */
  constructor(roots: readonly string[]) {
    this.#roots = roots.map(root => {
      const path = resolve(root)
      if (!existsSync(path) || !statSync(path).isDirectory())
        throw new DataError(`${root}: expected a folder with runs, found none`, {
          hint: 'name the folder of a run, or one that holds runs',
        })
      return path
    })
    this.look()
  }

  /** Looks again which there are. */
  look(): void {
    const runs = new Map<string, FoundRun>()
    const experiments = new Map<string, FoundExperiment>()
    for (const root of this.#roots) {
      const single = hasRun(root)
      const take = (dir: string, levels: number): void => {
        if (runs.size >= MOST_RUNS) return
        const path = relative(root, dir)
        const below = path === '' ? basename(root) : path
        if (hasRun(dir)) {
          const id = freeId(runs, single ? join(basename(root), path) : below, dir)
          const folder = relative(root, join(dir, '..')).replace(/^\.\.$/, '')
          runs.set(id, { id, dir, name: basename(dir), folder })
        }
        const isWork = !hasExperiment(dir)
        if (!isWork || hasWork(dir)) {
          const id = freeId(experiments, below, dir)
          experiments.set(id, { id, dir, name: basename(isWork ? dirname(dir) : dir), isWork })
        }
        if (levels > 0) for (const name of foldersIn(dir)) take(join(dir, name), levels - 1)
      }
      take(root, MOST_LEVELS)
    }
    this.#runs = runs
    this.#experiments = experiments
  }

  get runs(): FoundRun[] {
    return [...this.#runs.values()]
  }

  get experiments(): FoundExperiment[] {
    return [...this.#experiments.values()]
  }

  run(id: string): FoundRun | null {
    return this.#runs.get(id) ?? null
  }

  experiment(id: string): FoundExperiment | null {
    return this.#experiments.get(id) ?? null
  }
}

/** A name that stands in an address as it is: folders joined by `~`; the same under another root gets a number. */
const freeId = (taken: ReadonlyMap<string, { dir: string }>, path: string, dir: string): string => {
  const id = path.split(/[\\/]/).join('~')
  for (let n = 1; ; n++) {
    const name = n === 1 ? id : `${id}~${n}`
    const other = taken.get(name)
    if (other === undefined || other.dir === dir) return name
  }
}
