/** @file Micro-batches: sequences grouped by prompt, of similar length, padded into [P, G, T] arrays. */

import { MASKED } from '../../model/transformer.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { TensorValue, Values } from '../../tensor/index.ts'
import { DataError } from '../../util/errors.ts'

export interface Sequence {
  promptTokens: TokenIds
  tokens: TokenIds
  /** Scored in place of the tokens themselves. */
  targets?: TokenIds
  /** So many of the tokens, from the first, are the end of the prompt: others share what is before them, and no more. */
  ofPrompt?: number
}

/** Sequences that share a prompt; `members` are indices into the batch. */
interface Group {
  prompt: TokenIds
  members: number[]
  longest: number
}

/** A padded micro-batch. `slots[p * G + g]` is the index of the sequence there, -1 for padding. */
export interface MicroBatch {
  prompts: readonly TokenIds[]
  slots: readonly number[]
  /** In each slot the place of the first token that does not belong to the prompt. */
  starts: readonly number[]
  /** P, G, T, and S = longest prompt without its last token. */
  sizes: { P: number; G: number; T: number; S: number }
  /** Share of its places, of prompts and samples, that hold no token. */
  padding: number
  /** Whether no sample has a token: without its padding nothing would be left to compute. */
  isEmpty: boolean
}

/**
 * How many sequences of up to `longest` tokens go into a micro-batch behind one prompt. The prompt itself comes on top of the budget: it
 * is computed again for each part, which costs more than it takes.
 */
export const membersWithin = (tokenBudget: number, longest: number): number =>
  Math.max(1, Math.floor(tokenBudget / Math.max(1, longest)))

/** Parts of nearly one size that each fit into a micro-batch, where the whole does not. */
const inParts = (group: Group, lengths: readonly number[], tokenBudget: number): Group[] => {
  const { prompt, members, longest } = group
  const parts = Math.ceil(members.length / membersWithin(tokenBudget, longest))
  const size = Math.ceil(members.length / parts)
  return Array.from({ length: Math.ceil(members.length / size) }, (_, part) => {
    const own = members.slice(part * size, (part + 1) * size)
    return { prompt, members: own, longest: largest(own.map(member => lengths[member])) }
  })
}

/** Sequences that share a prompt, as many together as the budget allows; a prompt is recognised by its content. */
const groupByPrompt = (sequences: readonly Sequence[], tokenBudget: number): Group[] => {
  const groups = new Map<string, Group>()
  sequences.forEach(({ promptTokens, tokens }, index) => {
    const key = promptTokens.join(',')
    const group = groups.get(key) ?? { prompt: promptTokens, members: [], longest: 0 }
    groups.set(key, group)
    group.members.push(index)
    group.longest = Math.max(group.longest, tokens.length)
  })
  const lengths = sequences.map(({ tokens }) => tokens.length)
  return [...groups.values()].flatMap(group => inParts(group, lengths, tokenBudget))
}

/** What a model accepts. */
export interface ModelLimits {
  maxPositions: number
  vocabSize: number
}

const checkSequence = (
  { promptTokens, tokens, targets = tokens, ofPrompt = 0 }: Sequence,
  index: number,
  { maxPositions, vocabSize }: ModelLimits,
) => {
  if (promptTokens.length === 0)
    throw new DataError(`sequence ${index}: the prompt is empty`, {
      hint: 'give it at least one token, such as BOS',
    })
  if (promptTokens.length + tokens.length > maxPositions + 1)
    throw new DataError(
      `sequence ${index}: ${promptTokens.length + ofPrompt} prompt and ${tokens.length - ofPrompt} response tokens exceed the context of ${maxPositions}`,
      { hint: 'shorten the prompt or lower maxTokens' },
    )
  for (const part of [promptTokens, tokens, targets])
    for (let t = 0; t < part.length; t++)
      if (!(part[t] >= 0 && part[t] < vocabSize))
        throw new DataError(`sequence ${index}: token ${part[t]} is outside the vocabulary of ${vocabSize}`, {
          hint: 'the tokenizer does not belong to this model',
        })
}

/**
 * Cuts a batch into micro-batches of at most about `tokenBudget` padded tokens, longest first. Samples of one
 * prompt may exceed it by that prompt, and a single sequence by whatever it has.
 * @throws DataError for an empty prompt, a sequence beyond the context, or a token outside the vocabulary.
 */
export const microBatches = (
  sequences: readonly Sequence[],
  tokenBudget: number,
  limits: ModelLimits,
): MicroBatch[] => {
  sequences.forEach((sequence, index) => {
    checkSequence(sequence, index, limits)
  })
  const groups = groupByPrompt(sequences, tokenBudget)
  const order = groups
    .map((group, at) => ({ group, at }))
    .sort(
      (a, b) =>
        b.group.members.length - a.group.members.length || b.group.longest - a.group.longest || a.at - b.at,
    )
  const batches: Group[][] = []
  for (const { group } of order) {
    const last = batches[batches.length - 1]
    if (last && paddedTokens([...last, group]) <= tokenBudget) last.push(group)
    else batches.push([group])
  }
  return batches.map(groups => toMicroBatch(groups, sequences))
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
/** Of any number of values, where spreading them as arguments has a limit; 0 of none. */
const largest = (values: readonly number[]): number =>
  values.reduce((most, value) => Math.max(most, value), 0)

/** Graphs work on halves of a sample's length. */
const evenLength = (length: number): number => 2 * Math.ceil(length / 2)

const sizesOf = (groups: readonly Group[]) => ({
  P: groups.length,
  G: largest(groups.map(({ members }) => members.length)),
  T: evenLength(Math.max(1, largest(groups.map(({ longest }) => longest)))),
  S: largest(groups.map(({ prompt }) => prompt.length)) - 1,
})

const paddedTokens = (groups: readonly Group[]): number => {
  const { P, G, T, S } = sizesOf(groups)
  return P * (S + G * T)
}

const toMicroBatch = (groups: readonly Group[], sequences: readonly Sequence[]): MicroBatch => {
  const sizes = sizesOf(groups)
  const lengths = groups.flatMap(({ members }) => members.map(member => sequences[member].tokens.length))
  const tokens = sum(lengths)
  const promptTokens = sum(groups.map(({ prompt }) => prompt.length - 1))
  const slots = groups.flatMap(({ members }) => Array.from({ length: sizes.G }, (_, g) => members[g] ?? -1))
  const padding = 1 - (tokens + promptTokens) / paddedTokens(groups)
  const starts = slots.map(index => sequences[index]?.ofPrompt ?? 0)
  return { prompts: groups.map(({ prompt }) => prompt), slots, starts, sizes, padding, isEmpty: tokens === 0 }
}

/**
 * Inputs of `groupedInputs` and the targets. A sample's row starts with the prompt's last token, so that its first
 * target is the first response token; the rest of the prompt is the shared prefix.
 */
export const batchValues = (
  batch: MicroBatch,
  sequences: readonly Sequence[],
  maxPositions: number,
): Values => {
  const { P, G, T, S } = batch.sizes
  const count = P * S + P * G * T
  const tokens = new BigInt64Array(count)
  const positions = new BigInt64Array(count)
  const segments = new Int32Array(P * G * T)
  const targets = new BigInt64Array(P * G * T)
  const prefixMask = new Float32Array(P * S)
  for (let p = 0; p < P; p++) {
    const prompt = batch.prompts[p]
    for (let s = 0; s < S; s++) {
      const real = s < prompt.length - 1
      tokens[p * S + s] = BigInt(real ? prompt[s] : 0)
      positions[p * S + s] = BigInt(s)
      prefixMask[p * S + s] = real ? 0 : MASKED
    }
    for (let g = 0; g < G; g++) {
      const index = batch.slots[p * G + g]
      const response: TokenIds = index < 0 ? [] : sequences[index].tokens
      const wanted: TokenIds = index < 0 ? [] : (sequences[index].targets ?? response)
      for (let t = 0; t < T; t++) {
        const at = (p * G + g) * T + t
        const real = t < response.length
        tokens[P * S + at] = BigInt(
          t === 0 ? prompt[prompt.length - 1] : t <= response.length ? response[t - 1] : 0,
        )
        positions[P * S + at] = BigInt(Math.min(prompt.length - 1 + t, maxPositions - 1))
        segments[at] = real ? 0 : 1
        targets[at] = BigInt(real ? wanted[t] : 0)
      }
    }
  }
  return {
    tokens: { data: tokens, dims: [count] },
    positions: { data: positions, dims: [count] },
    segments: { data: segments, dims: [P, G, T] },
    targets: { data: targets, dims: [P, G, T] },
    ...(S > 0 && { prefixMask: { data: prefixMask, dims: [P, S] } }),
  }
}

/** Tokens that batches compute. @param logits how much more than one a token of a sample counts: logits are computed after it */
export const computedTokens = (
  batches: readonly MicroBatch[],
  sequences: readonly Sequence[],
  logits: number,
): number =>
  sum(
    batches.flatMap(({ prompts, slots }) => [
      ...prompts.map(({ length }) => length - 1),
      ...slots.map(index => (sequences[index]?.tokens.length ?? 0) * (1 + logits)),
    ]),
  )

/** The places that hold a token, in order. */
const takenPlaces = (count: number, isTaken: (place: number) => boolean): number[] =>
  Array.from({ length: count }, (_, place) => place).filter(isTaken)

/** The feeds of `Places`, by their names in `groupedInputs`. */
const placesValues = (name: string, count: number, taken: readonly number[]): Values => {
  const rowAt = new BigInt64Array(count)
  const isTaken = new Float32Array(count)
  taken.forEach((place, row) => {
    rowAt[place] = BigInt(row)
    isTaken[place] = 1
  })
  return {
    [`${name}RowAt`]: { data: rowAt, dims: [count] },
    [`${name}PlaceOf`]: { data: BigInt64Array.from(taken, BigInt), dims: [taken.length] },
    [`${name}Taken`]: { data: isTaken, dims: [count, 1] },
  }
}

/** What `batchValues` made, with tokens, positions and targets of the places alone that hold a token. */
export const withoutPadding = ({ sizes: { P, G, T, S } }: MicroBatch, values: Values): Values => {
  const { segments, prefixMask, ...rest } = values
  const prompts = prefixMask ? takenPlaces(P * S, place => prefixMask.data[place] === 0) : []
  const samples = takenPlaces(P * G * T, place => segments.data[place] === 0)
  const places = [...prompts, ...samples.map(place => P * S + place)]
  const pick = ({ data }: TensorValue, places: readonly number[]): TensorValue => ({
    data: BigInt64Array.from(places, place => data[place] as bigint),
    dims: [places.length],
  })
  const positions = Int32Array.from(rest.positions.data as BigInt64Array, Number)
  return {
    segments,
    ...(prefixMask && {
      prefixMask,
      ...placesValues('prompt', P * S, prompts),
      promptPositions: { data: positions.slice(0, P * S), dims: [P, S] },
    }),
    ...placesValues('sample', P * G * T, samples),
    samplePositions: { data: positions.slice(P * S), dims: [P, G, T] },
    tokens: pick(rest.tokens, places),
    positions: pick(rest.positions, places),
    targets: pick(rest.targets, samples),
  }
}

/** Where the last token of each sequence stands among the samples' places; without padding, among those that hold a token. */
export const lastPlaces = (
  { slots, sizes: { T } }: MicroBatch,
  sequences: readonly Sequence[],
  unpadded: boolean,
): TensorValue => {
  let before = 0
  const data = slots.flatMap((index, slot) => {
    if (index < 0) return []
    const { length } = sequences[index].tokens
    const start = unpadded ? before : slot * T
    before += length
    return [BigInt(start + length - 1)]
  })
  return { data: BigInt64Array.from(data), dims: [data.length] }
}

/** Spreads per-token numbers of the sequences over a micro-batch, [P, G, T]; padding is 0. */
export const spreadTokens = (
  batch: MicroBatch,
  perSequence: (index: number) => ArrayLike<number>,
): { data: Float32Array; dims: number[] } => {
  const { P, G, T } = batch.sizes
  const data = new Float32Array(P * G * T)
  batch.slots.forEach((index, slot) => {
    if (index >= 0) data.set(perSequence(index), slot * T + batch.starts[slot])
  })
  return { data, dims: [P, G, T] }
}

/** The part of a per-token output [P*G*T] that belongs to a slot. */
export const gatherTokens = (
  batch: MicroBatch,
  slot: number,
  length: number,
  output: Float32Array,
): Float32Array => {
  const start = slot * batch.sizes.T + batch.starts[slot]
  return output.slice(start, start + length)
}
