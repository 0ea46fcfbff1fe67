/** @file How much of a row file belongs to a checkpoint: counted while it grows, checked and gone back to at a resume. */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { z } from 'zod'
import { hasFile, writeFileAtomic } from '../util/atomic.ts'
import { largestOf } from '../util/descriptive.ts'
import { describeFailure } from '../util/file-failure.ts'
import { tryJson } from '../util/json.ts'
import { hashBytes } from '../util/manifest.ts'
import { guardWrite } from './errors.ts'
import { cutTo } from './row-files.ts'

export const rowExtentSchema = z.strictObject({
  /** Lines that are not blank. */
  rows: z.int().nonnegative(),
  /** Of the last row that has one. */
  lastStep: z.number().nullable(),
  bytes: z.int().nonnegative(),
  /** SHA-256 of those bytes. */
  sha256: z.string(),
})

/** What a row file held at a moment. */
export type RowExtent = z.output<typeof rowExtentSchema>

/** A count of what a row file holds that grows with it, so that a checkpoint need not read it again. */
export class RowTally {
  readonly #path: string
  readonly #hash = createHash('sha256')
  #rows = 0
  #lastStep: number | null = null
  #bytes = 0

  private constructor(path: string) {
    this.#path = path
  }

  /** Counts a file as it is; a missing one holds nothing. */
  static of(path: string): RowTally {
    const tally = new RowTally(path)
    const bytes = hasFile(path) ? readFileSync(path) : Buffer.alloc(0)
    const steps = linesOf(bytes).map(line => stepOf(tryJson(line)))
    tally.#add(bytes, steps)
    return tally
  }

  #add(bytes: Buffer, steps: readonly (number | null)[]): void {
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    this.#rows += steps.length
    this.#lastStep = steps.findLast(step => step !== null) ?? this.#lastStep
  }

  /** Counts rows that were just appended. */
  append(bytes: Buffer, rows: readonly unknown[]): void {
    this.#add(bytes, rows.map(stepOf))
  }

  /** False when somebody else has written the file since. */
  get holds(): boolean {
    return sizeOf(this.#path) === this.#bytes
  }

  get extent(): RowExtent {
    const { rows, lastStep, bytes } = { rows: this.#rows, lastStep: this.#lastStep, bytes: this.#bytes }
    return { rows, lastStep, bytes, sha256: this.#hash.copy().digest('hex') }
  }
}

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0)

const linesOf = (bytes: Buffer): string[] =>
  bytes
    .toString('utf8')
    .split('\n')
    .filter(text => text.trim() !== '')

/** The step of a row; null where it has none. */
export const stepOf = (row: unknown): number | null => {
  const step = (row as { step?: unknown } | null | undefined)?.step
  return typeof step === 'number' ? step : null
}

const EVENTS = 'events.jsonl'

/** Whether a file still begins with what it held then. */
const beginsWith = (path: string, { bytes, sha256 }: RowExtent): boolean => {
  if (sizeOf(path) < bytes) return false
  if (bytes === 0) return true
  const hash = createHash('sha256')
  hashBytes(hash, path, bytes)
  return hash.digest('hex') === sha256
}

/**
 * Goes back to what a file held then, byte for byte. Rows of later steps go, and so do rows of earlier ones that came later.
 * Of events those without a step stay; in the other files such a row is a damaged one.
 * @throws RunError when the file cannot be written; it is as it was then
 */
export const cutBackTo = (path: string, { bytes }: RowExtent): void => {
  if (sizeOf(path) <= bytes) return
  const later = readFileSync(path).subarray(bytes)
  const kept = (basename(path) === EVENTS ? linesOf(later) : []).filter(text => {
    const row = tryJson(text) ?? null
    return row !== null && stepOf(row) === null
  })
  if (kept.length === 0) {
    cutTo(path, bytes)
    return
  }
  const rest = Buffer.from(kept.map(text => `${text}\n`).join(''))
  if (later.equals(rest)) return
  const head = readFileSync(path).subarray(0, bytes)
  guardWrite(path, () => writeFileAtomic(path, [head, rest]))
}

const NAMED_STEPS = 5

const stepList = (named: readonly number[], count = named.length): string => {
  const more = count - Math.min(count, NAMED_STEPS)
  return `${count === 1 ? 'step' : 'steps'} ${named.slice(0, NAMED_STEPS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

const isStep = (step: number): boolean => Number.isSafeInteger(step) && step > 0

/** The first of the steps from 1 that are not there, and how many there are up to the last; a step may be any number. */
const missingSteps = (seen: ReadonlySet<number>): { named: number[]; count: number } => {
  const whole = [...seen].filter(isStep)
  const count = largestOf(whole, 0) - whole.length
  const named: number[] = []
  for (let step = 1; named.length < Math.min(count, NAMED_STEPS); step++)
    if (!seen.has(step)) named.push(step)
  return { named, count }
}

/** What is the matter with the steps of metrics, which go up one by one from 1: missing, doubled, out of order. */
export const stepProblems = (steps: readonly number[]): string[] => {
  const seen = new Set<number>()
  const doubled = new Set<number>()
  for (const step of steps) (seen.has(step) ? doubled : seen).add(step)
  const missing = missingSteps(seen)
  const odd = [...seen].filter(step => !isStep(step))
  const inOrder = steps.every((step, i) => i === 0 || step >= steps[i - 1])
  return [
    ...(missing.count > 0 ? [`${stepList(missing.named, missing.count)} missing`] : []),
    ...(doubled.size > 0 ? [`${stepList([...doubled])} more than once`] : []),
    ...(odd.length > 0 ? [`${stepList(odd)} ${odd.length === 1 ? 'is' : 'are'} no whole number from 1`] : []),
    ...(inOrder ? [] : ['steps out of order']),
  ]
}

/** The rows of a file as they stand, with the number of each line; null for a line that is not JSON. @throws DataError for no plain file */
export const numberedRows = (path: string): { line: number; row: unknown }[] =>
  (hasFile(path) ? readFileSync(path, 'utf8') : '')
    .split('\n')
    .flatMap((text, i) => (text.trim() === '' ? [] : [{ line: i + 1, row: tryJson(text) ?? null }]))

/** Why a file does not begin with what it held then, as far as can be told; null where it does. */
export const rowDamage = (path: string, extent: RowExtent): string | null => {
  const name = basename(path)
  try {
    return rowsChanged(path, name, extent)
  } catch (error) {
    return `${name}: cannot be read: ${describeFailure(error)?.what ?? (error as Error).message}`
  }
}

const rowsChanged = (path: string, name: string, extent: RowExtent): string | null => {
  if (beginsWith(path, extent)) return null
  if (!existsSync(path)) return `${name}: expected ${extent.rows} rows, the file is missing`
  const found = numberedRows(path)
  const broken = found.slice(0, extent.rows).find(({ row }) => row === null)
  if (broken) return `${name}:${broken.line}: not JSON`
  const upTo = extent.lastStep === null ? '' : ` up to step ${extent.lastStep}`
  const steps = found.flatMap(({ row }) => stepOf(row) ?? []).filter(step => step <= (extent.lastStep ?? 0))
  const problems = name === 'metrics.jsonl' ? stepProblems(steps) : []
  if (problems.length > 0) return `${name}: ${problems.join(', ')}`
  if (found.length < extent.rows) return `${name}: expected ${extent.rows} rows${upTo}, got ${found.length}`
  return `${name}: its ${extent.rows} rows${upTo} are not those that were written`
}
