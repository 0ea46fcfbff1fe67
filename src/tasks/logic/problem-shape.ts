/** @file What problems of the logic task look like: what their generator is told, and how settings say it. */

import { z } from 'zod'
import { fraction } from '../../util/setting-shapes.ts'
import { ALL_NOUNS, NOUNS } from './vocabulary.ts'

/**
 * `real`: statistics of the real ProntoQA rows; `shortcut-free`: none of their shallow cues; `varied`: nor does the size of a
 * problem tell how long its proof is, or the last kind's place where it stops.
 */
export const LOGIC_STYLES = ['real', 'shortcut-free', 'varied'] as const

export type LogicStyle = (typeof LOGIC_STYLES)[number]

/** Relative frequency by hop count, e.g. `{ 3: 0.2, 5: 0.8 }`. */
export type HopWeights = Readonly<Record<number, number>>

/** Longest proof, in hops, that kinds, adjectives and step numbers suffice for. */
export const MAX_HOPS = 16

/** Kinds that problems may draw from: the real rows' ten, or up to all there are. */
export const KINDS = { least: NOUNS.length, most: ALL_NOUNS.length } as const

const range = z.tuple([z.int().min(1), z.int().min(1)])

/** What problems look like beyond their style; absent: as the style has it. Ranges are uniform, both ends included. */
export const problemShape = {
  order: z.enum(['root-to-leaf', 'shuffled']).optional().describe('Order of the sentences of a problem.'),
  distractors: z
    .enum(['none', 'off-chain', 'connected'])
    .optional()
    .describe(
      'Rules about the queried adjective that do not concern the individual: none, one about a separate kind (`off-chain`), or some about kinds with rules of their own (`connected`).',
    ),
  negation: z
    .strictObject({
      gold: fraction.describe('Probability that the rule that settles the query is negated.'),
      other: fraction.describe('Probability that a rule about another property is negated.'),
    })
    .optional()
    .describe('How often rules that give a property are negated.'),
  mentions: z
    .literal([1, 2, 4])
    .optional()
    .describe(
      'With connected distractors: number of rules about the queried adjective, with the one that settles the query. 1: no other one.',
    ),
  sideKinds: range
    .optional()
    .describe("With connected distractors: number of kinds beside the individual's own, [fewest, most]."),
  // One tells a two-way proof where to stop.
  above: range
    .optional()
    .describe(
      'With connected distractors: number of kinds above the one that settles the query, [fewest, most]; absent: one.',
    ),
  // More than ten bring ten more families of adjectives; absent: ten where no proof is longer than five hops, else all.
  kinds: z
    .int()
    .min(KINDS.least)
    .max(KINDS.most)
    .optional()
    .describe(
      'Number of kinds that problems draw from. More than ten need the long vocabulary, which fresh weights then have.',
    ),
}

type Range = readonly [min: number, max: number]

export interface LogicGeneratorOptions
  extends Omit<z.output<z.ZodObject<typeof problemShape>>, 'sideKinds' | 'above'> {
  /** 1 to 16: rules applied in the proof, counted as in the real rows (five = four from kind to kind, one property). */
  hops?: number | HopWeights
  style?: LogicStyle
  /** `three-way` adds Unknown; the labels are equally likely either way. */
  labels?: 'two-way' | 'three-way'
  /**
   * Kinds on the chain, uniform in [min, max], at least hops + 1 and at most 9 of ten kinds; the real rows' distribution when
   * absent.
   */
  nodes?: Range
  sideKinds?: Range
  above?: Range
}

/** What has no value of its own where it is not given. */
export type OwnDefault = 'nodes' | 'mentions' | 'sideKinds' | 'above'

/** The options with everything filled in that is not drawn. */
export type SettledOptions = Required<Omit<LogicGeneratorOptions, OwnDefault>> &
  Pick<LogicGeneratorOptions, OwnDefault>
