/** @file What has been sampled for a step that is not learnt from yet, beside a checkpoint: a resume grades it and samples nothing anew. */

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readSafetensors, writeSafetensors } from '../model/safetensors.ts'
import type { TokenSpan } from '../rl/datum.ts'
import type { Rollout } from '../rl/rollout.ts'
import { EARLIER_CHECKPOINT } from '../runs/run-state.ts'
import { writeFileAtomic } from '../util/atomic.ts'
import { CheckpointError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import type { Continuation } from './sampling.ts'

/** A response with the log-probs that its ratio starts from, where they were computed anew. */
export type SampledResponse = Continuation & Pick<Rollout, 'oldLogprobs'>

/** What was sampled for one request. */
export interface SampledRequest {
  /** Hash of the prompts, so that responses are never paired with others. */
  prompts: string
  /** In the order of the request. */
  responses: readonly SampledResponse[]
}

/** Requests by the seed that their random streams are named by. */
export type Journal = ReadonlyMap<string, SampledRequest>

const NUMBERS = 'sampled-ahead.safetensors'
const NAMES = 'sampled-ahead.json'

const END = z.enum(['stop', 'length', 'over', 'turns', 'failed'])
const requestSchema = z.strictObject({
  seed: z.string(),
  prompts: z.string(),
  ends: z.array(END),
  /** By number of the response. */
  failures: z.record(z.string(), z.string()),
  /** Of the weights that drew each response; absent where the policy does not say. */
  versions: z.array(z.int()).optional(),
})
type SavedRequest = z.output<typeof requestSchema>
const journalSchema = z.strictObject({ requests: z.array(requestSchema) })

/** The numbers of all responses, one after the other. */
const joined = (parts: readonly ArrayLike<number>[]) => {
  const data = Float32Array.from(parts.flatMap(part => Array.from(part)))
  return { shape: [data.length], data }
}

/** Writes a journal into a checkpoint's folder. Token ids are exact in float32: no vocabulary has 2^24 words. */
export const saveJournal = (folder: string, journal: Journal): void => {
  const requests = [...journal].map(([seed, { prompts, responses }]) => ({
    seed,
    prompts,
    ends: responses.map(({ end }) => end),
    failures: Object.fromEntries(
      responses.flatMap(({ failure }, i) => (failure === undefined ? [] : [[String(i), failure]])),
    ),
    ...(responses.every(({ version }) => version !== undefined) && {
      versions: responses.map(({ version }) => version),
    }),
  }))
  const tensors = [...journal.values()].flatMap(({ responses: drawn }, r) => {
    const of = (name: string, pick: (each: SampledResponse) => ArrayLike<number>) =>
      [`${r}.${name}`, joined(drawn.map(pick))] as const
    const scored = drawn.some(({ oldLogprobs }) => oldLogprobs !== undefined)
    return [
      of('lengths', ({ tokens }) => [tokens.length]),
      of('tokens', ({ tokens }) => tokens),
      of('mask', ({ mask }) => mask),
      of('logprobs', ({ logprobs }) => logprobs),
      of('turns', ({ turns }) => [turns.length]),
      of('spans', ({ turns }) => turns.flatMap(({ start, end }) => [start, end])),
      ...(scored ? [of('oldLogprobs', ({ oldLogprobs, logprobs }) => oldLogprobs ?? logprobs)] : []),
    ]
  })
  writeSafetensors(join(folder, NUMBERS), new Map(tensors))
  writeFileAtomic(join(folder, NAMES), `${JSON.stringify({ requests }, null, 1)}\n`)
}

/** Removes the journal from a checkpoint's folder that is being made. */
export const dropJournal = (folder: string): void => {
  for (const name of [NAMES, NUMBERS]) rmSync(join(folder, name), { force: true })
}

/**
 * The journal in a checkpoint's folder; null where nothing was sampled ahead.
 * @throws CheckpointError for a broken one
 */
export const loadJournal = (folder: string): Journal | null => {
  const path = join(folder, NAMES)
  const numbers = join(folder, NUMBERS)
  if (!existsSync(path)) {
    if (!existsSync(numbers)) return null
    throw broken(path, `expected what ${NUMBERS} beside it holds, got no file`)
  }
  let named: unknown
  try {
    named = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw broken(path, `expected JSON (${(error as Error).message})`)
  }
  const { requests } = parseWith(journalSchema, named, path, CheckpointError)
  if (!existsSync(numbers))
    throw broken(numbers, 'expected the rollouts that were sampled ahead, got no file')
  const tensors = readSafetensors(numbers)
  return new Map(
    requests.map((request, r) => {
      const column = (name: string, length: number) => dataOf(tensors, numbers, `${r}.${name}`, length)
      const responses = drawnFrom(request, column, tensors.has(`${r}.oldLogprobs`))
      return [request.seed, { prompts: request.prompts, responses }]
    }),
  )
}

const drawnFrom = (
  { ends, failures, versions }: Pick<SavedRequest, 'ends' | 'failures' | 'versions'>,
  column: (name: string, length: number) => Float32Array,
  scored: boolean,
): SampledResponse[] => {
  const places = consecutive(column('lengths', ends.length))
  const turnPlaces = consecutive(column('turns', ends.length))
  const end = places.at(-1)?.end ?? 0
  const parts = (name: string) => {
    const data = column(name, end)
    return places.map(place => data.slice(place.start, place.end))
  }
  const [tokens, mask, logprobs] = ['tokens', 'mask', 'logprobs'].map(parts)
  const old = scored ? parts('oldLogprobs') : null
  const spans = column('spans', 2 * (turnPlaces.at(-1)?.end ?? 0))
  return ends.map((own, i) => ({
    tokens: Int32Array.from(tokens[i]),
    mask: Uint8Array.from(mask[i]),
    logprobs: logprobs[i],
    turns: spansIn(spans, turnPlaces[i]),
    end: own,
    ...(failures[i] !== undefined && { failure: failures[i] }),
    ...(versions?.[i] !== undefined && { version: versions[i] }),
    ...(old && { oldLogprobs: old[i] }),
  }))
}

/** Where parts of these lengths lie that follow each other. */
const consecutive = (lengths: ArrayLike<number>): TokenSpan[] => {
  let end = 0
  return Array.from(lengths, length => {
    end += length
    return { start: end - length, end }
  })
}

const spansIn = (spans: Float32Array, { start, end }: TokenSpan): TokenSpan[] =>
  Array.from({ length: end - start }, (_, i) => ({
    start: spans[2 * (start + i)],
    end: spans[2 * (start + i) + 1],
  }))

const dataOf = (
  tensors: ReturnType<typeof readSafetensors>,
  path: string,
  name: string,
  length: number,
): Float32Array => {
  const data = tensors.get(name)?.data
  if (data?.length === length) return data
  throw broken(path, `${name}: expected ${length} numbers, got ${data?.length ?? 'none'}`)
}

const broken = (path: string, what: string) =>
  new CheckpointError(`${path}: ${what}`, {
    hint: EARLIER_CHECKPOINT,
  })
