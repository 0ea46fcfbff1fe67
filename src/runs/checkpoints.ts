/** @file The checkpoints of a run: sealed with a manifest of their files and of the run's rows, and distinguished as whole or damaged. */

import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { hasFile } from '../util/atomic.ts'
import { hashFile, manifestProblems, readManifest, writeManifest } from '../util/manifest.ts'
import { guardWrite } from './errors.ts'
import { type RowExtent, rowDamage, rowExtentSchema } from './row-extent.ts'
import { loadRunState, type RunState, stepOfName } from './run-state.ts'

const momentSchema = z.looseObject({
  step: z.int().nonnegative(),
  configHash: z.string(),
  /** The run's config.json. */
  config: z.strictObject({ bytes: z.int(), sha256: z.string() }).nullable(),
  /** By file name: what the run's row files held. */
  rows: z.record(z.string(), rowExtentSchema),
})

/** What a checkpoint's manifest says of its run. */
export type RunMoment = z.output<typeof momentSchema>

/** Writes the manifest of a checkpoint that is otherwise complete. @param runDir whose row files held `rows` */
export const sealCheckpoint = async (
  dir: string,
  runDir: string,
  { step, configHash }: RunState,
  rows: Record<string, RowExtent>,
): Promise<void> => {
  const config = join(runDir, 'config.json')
  const moment: RunMoment = {
    step,
    configHash,
    config: existsSync(config) ? hashFile(config) : null,
    rows,
  }
  await writeManifest(dir, moment)
}

/** A checkpoint and what is the matter with it. */
export interface CheckedCheckpoint {
  name: string
  dir: string
  /** By its folder's name. */
  step: number
  /** What is damaged, a sentence each; none: it is whole, as far as it can be told. */
  problems: string[]
  /** Null where the state cannot be read. */
  state: RunState | null
  /** Null where there is no manifest, or a damaged one. */
  moment: RunMoment | null
}

/**
 * Checks a checkpoint against its manifest: every file's size and hash, the step, the state.
 * @param sizesOnly does not read the files: at once, and blind to flipped bits
 */
export const checkCheckpoint = (dir: string, sizesOnly = false): CheckedCheckpoint => {
  const name = basename(dir)
  const step = stepOfName(name) ?? Number.NaN
  const problems: string[] = []
  const attempt = <T>(read: () => T): T | null => {
    try {
      return read()
    } catch (error) {
      problems.push((error as Error).message.replace(`${dir}/`, ''))
      return null
    }
  }
  const manifest = attempt(() => readManifest(dir))
  const hadProblem = problems.length > 0
  if (manifest) problems.push(...manifestProblems(dir, manifest, { sizesOnly }))
  const moment = manifest && attempt(() => momentSchema.parse(manifest.about))
  const state = problems.some(problem => problem.startsWith('run-state.json'))
    ? null
    : attempt(() => loadRunState(dir))
  for (const [what, found] of [
    ['manifest', moment?.step],
    ['state', state?.step],
  ] as const)
    if (found !== undefined && found !== step) problems.push(`its ${what} is of step ${found}`)
  if (manifest === null && !hadProblem) problems.push('manifest.json is missing')
  return { name, dir, step, problems, state, moment }
}

/** The checkpoints of a run in the order in which a resume tries them: `latest`, those before it, then any other. */
export const checkpointsToTry = (runDir: string): string[] => {
  const root = join(runDir, 'checkpoints')
  const all = existsSync(root)
    ? readdirSync(root)
        .flatMap(name => (stepOfName(name) === null ? [] : [{ name, step: stepOfName(name)! }]))
        .sort((a, b) => b.step - a.step)
    : []
  const latest = all.find(({ name }) => name === pointedTo(runDir))
  if (!latest) return all.map(({ name }) => join(root, name))
  const [before, after] = [
    all.filter(({ step }) => step <= latest.step),
    all.filter(({ step }) => step > latest.step),
  ]
  return [...before, ...after].map(({ name }) => join(root, name))
}

/** What `checkpoints/latest` says; '' where it says nothing, or cannot be read. */
export const pointedTo = (runDir: string): string => {
  const pointer = join(runDir, 'checkpoints', 'latest')
  try {
    return hasFile(pointer) ? basename(readFileSync(pointer, 'utf8').trim()) : ''
  } catch {
    return ''
  }
}

/** Which row files of a run no longer begin with what a checkpoint says they held, and why. */
export const rowProblems = (runDir: string, { rows }: RunMoment): string[] =>
  Object.entries(rows).flatMap(([file, extent]) => rowDamage(join(runDir, file), extent) ?? [])

/** Gives a damaged checkpoint another name: out of the way, and there to be looked at. Returns that name. */
export const setAside = (dir: string): string => {
  const aside = `${dir}.damaged`
  guardWrite(aside, () => {
    rmSync(aside, { recursive: true, force: true })
    renameSync(dir, aside)
  })
  return basename(aside)
}
