/** @file sweep.json: what a sweep varies and which runs it has, for whoever looks at its folder later. */

import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { writeFileAtomic } from '../../util/atomic.ts'
import { ConfigError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { axisLabel } from './axes.ts'

const schema = z.looseObject({
  /** The recipe or file, and the preset. */
  target: z.string(),
  preset: z.string().nullable(),
  /** Settings with one value. */
  fixed: z.record(z.string(), z.unknown()),
  /** Keys that vary, in their order. */
  varied: z.array(z.string()),
  /** By the name of the run's folder: its values. */
  runs: z.record(z.string(), z.record(z.string(), z.unknown())),
})

export type SweepRecord = z.output<typeof schema>

const fileOf = (dir: string): string => join(dir, 'sweep.json')

export const isSweep = (dir: string): boolean => existsSync(fileOf(dir))

/** @throws ConfigError for one that cannot be read */
export const readSweep = (dir: string): SweepRecord => {
  const file = fileOf(dir)
  try {
    return parseWith(schema, JSON.parse(readFileSync(file, 'utf8')), file)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ConfigError(`${file}: not JSON: ${error.message}`, {
      hint: 'remove it, and give the same command again: runs that are done stay',
    })
  }
}

export const writeSweep = (dir: string, record: SweepRecord): void =>
  writeFileAtomic(fileOf(dir), `${JSON.stringify(record, null, 2)}\n`)

/** What sets runs apart where all of them are of one sweep that varies more than the seed; undefined elsewhere. */
export const sweepLabels = (dirs: readonly string[]): Map<string, string> | undefined => {
  const parents = new Set(dirs.map(dir => dirname(dir)))
  const [parent] = parents
  if (parents.size !== 1 || !isSweep(parent)) return undefined
  const { runs, varied } = readSweep(parent)
  if (varied.every(key => key === 'seed')) return undefined
  const labels = dirs.map(dir => [dir, runs[basename(dir)]] as const)
  if (labels.some(([, values]) => values === undefined)) return undefined
  return new Map(labels.map(([dir, values]) => [dir, axisLabel(values)]))
}
