/** @file What a training was made with, noted when it is made: versions, commit, machine. */

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeEnvironment } from '../../runs/environment.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { packageVersion } from '../../util/package.ts'

export interface Provenance {
  versions: Record<string, string>
  machine: Record<string, string | number>
  /** The command; absent in records from before it was kept. */
  command?: string
}

/** What runs were made with, and how many of them. A run that went on under another commit counts for both. */
export interface TrainedWith extends Provenance {
  runs: number
}

const git = (root: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()

/** `1a2b3c4d5e6f`, with `+changes` where sources differ from it; null outside a clone. */
const commit = (): string | null => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  if (!existsSync(join(root, '.git'))) return null
  try {
    const changes = git(root, 'status', '--porcelain', '-uno', '--', 'src', 'assembly', 'package-lock.json')
    return `${git(root, 'rev-parse', '--short=12', 'HEAD')}${changes === '' ? '' : '+changes'}`
  } catch {
    return null
  }
}

/** What is at work now. @param command as a person would give it */
export const provenanceNow = (command: string): Provenance => {
  const revision = commit()
  return {
    versions: {
      gradus: packageVersion(),
      ...(revision !== null && { commit: revision }),
    },
    machine: describeEnvironment(),
    command,
  }
}

/** Each once, in the order of their first use. */
export const distinct = (all: readonly Provenance[]): Provenance[] => [
  ...new Map(all.map(each => [canonicalJson(each), each])).values(),
]

/** @param byRun what each run was made with */
export const countTrained = (byRun: readonly (readonly Provenance[])[]): TrainedWith[] =>
  distinct(byRun.flat()).map(each => {
    const own = canonicalJson(each)
    return { ...each, runs: byRun.filter(run => run.some(other => canonicalJson(other) === own)).length }
  })

const key = ({ runs: _runs, ...each }: TrainedWith): string => canonicalJson(each)

/** Counts of two lots of runs together. @param sign -1: those of the first lot that are not in the second */
export const addTrained = (
  one: readonly TrainedWith[],
  other: readonly TrainedWith[],
  sign: 1 | -1 = 1,
): TrainedWith[] => {
  const all = new Map(one.map(each => [key(each), each]))
  for (const each of other) {
    const runs = (all.get(key(each))?.runs ?? 0) + sign * each.runs
    all.set(key(each), { ...each, runs })
  }
  return [...all.values()].filter(({ runs }) => runs > 0)
}
