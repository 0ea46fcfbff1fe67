/** @file Waves: what of a request is decoded together, and the parts of it that engines share or that hear their replies apart. */

import type { TokenIds } from '../../rl/datum.ts'

/** Where replies are not instant, rows go in so many parts at most, of so many rows at least. */
const MAX_PARTS = 4
const PART_ROWS = 16

/** Samples `first` .. `first + samples - 1` of some prompts, generated together. */
export interface Wave {
  prompts: readonly number[]
  first: number
  samples: number
}

/**
 * Cuts 0..count-1 into as few parts of at most `largest` as there can be, all of about the same size.
 * @param multiple there are so many parts, or twice as many and so on, while each has something
 */
const evenParts = (count: number, largest: number, multiple = 1): { start: number; end: number }[] => {
  const parts = multiple * Math.ceil(Math.ceil(count / largest) / multiple)
  const each = Math.ceil(count / Math.max(1, parts))
  return Array.from({ length: parts }, (_, i) => ({
    start: i * each,
    end: Math.min(count, (i + 1) * each),
  })).filter(({ start, end }) => start < end)
}

/** How many neighbours have the same prompt, where that is a number for all of them; else 1. */
export const groupSize = (prompts: readonly TokenIds[]): number => {
  const isSame = (a: TokenIds, b: TokenIds) => a.length === b.length && a.every((token, t) => token === b[t])
  const first = prompts.findIndex(prompt => !isSame(prompt, prompts[0]))
  const size = first < 0 ? prompts.length : first
  const fits = prompts.every((prompt, i) => isSame(prompt, prompts[i - (i % size)]))
  return fits && prompts.length % size === 0 ? size : 1
}

/**
 * Prompts of similar length go together, so that little is padded; a group too large for one wave takes several.
 * @param samples of each prompt, at least one @param rows of a wave at most @param options `engines`: among so many the waves are to be shared
 */
export const wavesOf = (
  prompts: readonly TokenIds[],
  samples: number,
  rows: number,
  { firstSample = 0, engines = 1 }: { firstSample?: number; engines?: number } = {},
): Wave[] => {
  const order = prompts.map((_, i) => i).sort((a, b) => prompts[b].length - prompts[a].length || a - b)
  const groups = evenParts(samples, rows, prompts.length === 1 ? engines : 1)
  // The first is the largest.
  const together = Math.floor(rows / groups[0].end)
  return evenParts(order.length, together, engines).flatMap(({ start, end }) =>
    groups.map(part => ({
      prompts: order.slice(start, end),
      first: firstSample + part.start,
      samples: part.end - part.start,
    })),
  )
}

/**
 * The same, but that a wave has no more rows than there is room for.
 * @param room for rows of so many samples a prompt, by their longest prompt
 */
export const wavesWithRoom = (
  prompts: readonly TokenIds[],
  samples: number,
  rows: number,
  room: (samples: number, promptTokens: number) => number,
  firstSample = 0,
): Wave[] =>
  wavesOf(prompts, samples, rows, { firstSample }).flatMap(wave => {
    const most = room(wave.samples, prompts[wave.prompts[0]].length)
    if (wave.prompts.length * wave.samples <= most) return [wave]
    const own = wave.prompts.map(i => prompts[i])
    const parts = wavesOf(own, wave.samples, most, { firstSample: wave.first })
    return parts.map(part => ({ ...part, prompts: part.prompts.map(at => wave.prompts[at]) }))
  })

/** Parts of a wave that hear their replies apart from each other. */
export const waveParts = (wave: Wave): Wave[] => {
  const count = Math.min(MAX_PARTS, Math.floor((wave.prompts.length * wave.samples) / PART_ROWS))
  if (count < 2) return [wave]
  return evenParts(wave.prompts.length, Math.ceil(wave.prompts.length / count)).map(({ start, end }) => ({
    ...wave,
    prompts: wave.prompts.slice(start, end),
  }))
}
