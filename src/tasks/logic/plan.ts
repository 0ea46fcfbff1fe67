/** @file The skeleton of a generated problem: kinds, properties, the fact and the query, before any wording. */

import type { LogicLabel } from '../../grade/logic/problem.ts'
import type { Rng } from '../../util/rng.ts'
import type { LogicGeneratorOptions, SettledOptions } from './problem-shape.ts'
import { ADJECTIVE_FAMILIES, ALL_FAMILIES, ALL_NOUNS, NOUNS } from './vocabulary.ts'

/** "Every `noun` is (not) `adjective`." */
interface Property {
  noun: string
  adjective: string
  negated: boolean
}

/** What a problem says, without words and order. */
export interface ProblemPlan {
  label: LogicLabel
  /** Kinds from the fact's kind upwards to the last one. */
  path: string[]
  /** Kinds from the most special to the most general, so that a rule's subject comes before its object's own rules. */
  nouns: string[]
  /** The one kind directly above a kind. */
  parents: ReadonlyMap<string, string>
  properties: Property[]
  /** Property rules about the queried adjective that do not bear on the individual; at any place among the sentences. */
  strays: Property[]
  /** Where on `path` the property that settles the query is; null for Unknown. */
  target: number | null
  query: { adjective: string; negated: boolean }
}

/** What a plan is drawn with: `nodes` are of chains alone; mentions, kinds beside and above of trees. */
export interface ProofPlanOptions extends Omit<SettledOptions, 'hops' | 'labels' | 'style' | 'order'> {
  /** Rules applied in the proof: hops - 1 from kind to kind, one to the property. */
  hops: number
  label: LogicLabel
}

const nounsOf = ({ kinds }: ProofPlanOptions): readonly string[] => ALL_NOUNS.slice(0, kinds)

/** Families of adjectives that go with so many kinds. */
export const familiesOf = (kinds: number): readonly (readonly string[])[] =>
  kinds > NOUNS.length ? ALL_FAMILIES : ADJECTIVE_FAMILIES

/** A place, as often as its weight says; -1 where none is above 0. */
export const drawIndex = (rng: Rng, weights: readonly number[]): number => {
  let left = rng.next() * weights.reduce((sum, weight) => sum + weight, 0)
  for (const [i, weight] of weights.entries()) {
    left -= weight
    if (left < 0) return i
  }
  return weights.findLastIndex(weight => weight > 0)
}

const drawBetween = (rng: Rng, [min, max]: readonly [number, number]): number => min + rng.int(max - min + 1)

/** Extra kinds beyond the necessary hops + 1 and how often, as counted in the 200 real rows (6 to 9 kinds). */
const EXTRA_NODES_CUMULATIVE = [0.065, 0.105, 0.185, 1]

const drawNodes = (rng: Rng, hops: number, range: ProofPlanOptions['nodes']): number => {
  if (range) return drawBetween(rng, range)
  const u = rng.next()
  return hops + 1 + EXTRA_NODES_CUMULATIVE.findIndex(bound => u < bound)
}

const chance = (rng: Rng, probability: number) => rng.next() < probability

const link = (nouns: readonly string[]): Map<string, string> => {
  const parents = new Map<string, string>()
  for (let i = 0; i + 1 < nouns.length; i++) parents.set(nouns[i], nouns[i + 1])
  return parents
}

/** The sign of the query that makes the label true, given the sign of the property that settles it. */
const querySign = (rng: Rng, label: LogicLabel, goldNegated: boolean): boolean =>
  label === 'Unknown' ? chance(rng, 0.5) : label === 'True' ? goldNegated : !goldNegated

const drawAdjectives = (rng: Rng, kinds: number, count: number): string[] =>
  rng.sample(familiesOf(kinds), count).map(family => rng.pick(family))

/**
 * One chain of kinds as in ProntoQA. All but the last kind have a property, adjectives of different families; the individual
 * enters at a uniform place that leaves the proof its hops and at least one kind after.
 * Unknown: the individual enters above a kind with the queried adjective, the stray has it too with the opposite sign, and
 * nothing on the way up says anything about it.
 */
export const chainPlan = (rng: Rng, options: ProofPlanOptions): ProblemPlan => {
  const { hops, label, negation } = options
  const unknown = label === 'Unknown'
  // Unknown takes one kind below the fact's and one above it.
  const count = Math.max(drawNodes(rng, hops, options.nodes), unknown ? 3 : 2)
  const order = rng.shuffle(nounsOf(options))
  const chain = order.slice(0, count)
  const start = unknown ? 1 + rng.int(Math.max(1, count - 1 - hops)) : rng.int(count - hops)
  const goldAt = unknown ? rng.int(start) : start + hops - 1
  const adjectives = drawAdjectives(rng, options.kinds, count - 1)
  const properties = adjectives.map((adjective, i) => ({
    noun: chain[i],
    adjective,
    negated: chance(rng, i === goldAt ? negation.gold : negation.other),
  }))
  const gold = properties[goldAt]
  const stray = {
    noun: order[count + rng.int(order.length - count)],
    adjective: gold.adjective,
    negated: !gold.negated,
  }
  return {
    label,
    path: chain.slice(start),
    nouns: chain,
    parents: link(chain),
    properties,
    strays: options.distractors === 'none' ? [] : [stray],
    target: unknown ? null : hops - 1,
    query: { adjective: gold.adjective, negated: querySign(rng, label, gold.negated) },
  }
}

/** Kinds beside the path, at most: enough for four mentions on kinds that are subject and object of other rules. */
const SIDE_KINDS = 5

/** Kinds beside a path when nothing else is asked for. */
const usualSides = (hops: number, pathLength: number, strays: number): number =>
  Math.max(hops + SIDE_KINDS - pathLength, strays + 1)

/** Kinds above the one that settles the query or, for Unknown, above the last one that a rule leads to: which there may be. */
const kindsAfter = (
  mentions: number,
  unknown: boolean,
  [min, max]: readonly [number, number] = [1, 1],
): readonly number[] =>
  !unknown ? Array.from({ length: max - min + 1 }, (_, i) => min + i) : mentions === 4 ? [0] : [0, 1]

/** An Unknown proof exhausts the path: at least one rule to apply. */
const pathOf = (hops: number, after: number, unknown: boolean) => Math.max(hops + after, unknown ? 2 : 1)

/** Rules about the queried adjective that do not bear on the individual. */
export const straysOf = (mentions: number, unknown: boolean) => (unknown ? mentions : mentions - 1)

/** Most kinds of a tree with so many mentions of the queried adjective. */
export const mostTreeKinds = (
  hops: number,
  mentions: number,
  { labels, sideKinds, above }: Pick<LogicGeneratorOptions, 'labels' | 'sideKinds' | 'above'>,
): number => {
  const counts = (labels === 'two-way' ? [false] : [false, true]).flatMap(unknown =>
    kindsAfter(mentions, unknown, above).map(after => {
      const path = pathOf(hops, after, unknown)
      const strays = straysOf(mentions, unknown)
      return path + (sideKinds ? Math.max(sideKinds[1], strays + 1) : usualSides(hops, path, strays))
    }),
  )
  return Math.max(...counts)
}

/**
 * A tree of kinds without the real rows' shortcuts. The queried adjective occurs two or four times, half of them negated (or
 * once, where that is asked for); every mention's kind is the subject and the object of other rules (from two hops on). Kinds beside the path hang below
 * it, so they bear on others than the individual.
 */
export const treePlan = (rng: Rng, options: ProofPlanOptions): ProblemPlan => {
  const { hops, label, negation } = options
  const unknown = label === 'Unknown'
  const mentions = options.mentions ?? (rng.int(2) === 0 ? 2 : 4)
  const strayCount = straysOf(mentions, unknown)
  // The kind that settles the query has at least one above it, as every stray's has.
  const possible = kindsAfter(mentions, unknown, options.above)
  const after = possible.length === 1 ? possible[0] : rng.pick(possible)
  const order = rng.shuffle(nounsOf(options))
  const pathLength = pathOf(hops, after, unknown)
  const path = order.slice(0, pathLength)
  const sideCount = options.sideKinds
    ? Math.max(drawBetween(rng, options.sideKinds), strayCount + 1)
    : usualSides(hops, pathLength, strayCount)
  const sides = order.slice(pathLength, pathLength + sideCount)
  const parents = link(path)
  // The first sides form one line, the deepest first, whose kinds from the second on are objects too.
  const line = sides.slice(0, strayCount + 1)
  for (const [noun, parent] of link(line)) parents.set(noun, parent)
  parents.set(line[line.length - 1], rng.pick(path))
  const others = sides.slice(strayCount + 1)
  for (const [i, noun] of others.entries())
    parents.set(noun, rng.pick([...path, ...line, ...others.slice(0, i)]))
  const goldNegated = chance(rng, negation.gold)
  const fillerCount = Math.max(0, path.length + sides.length - 2 - mentions)
  // Ten families, less one a mention, are what ten kinds need at most.
  const adjectives = drawAdjectives(rng, options.kinds, Math.max(10 - mentions, fillerCount + 1))
  const asked = adjectives[0]
  const signs = strayNegations(rng, mentions, unknown ? null : goldNegated)
  const strays = line.slice(1).map((noun, i) => ({ noun, adjective: asked, negated: signs[i] }))
  const target = unknown ? null : hops - 1
  const gold = target === null ? [] : [{ noun: path[target], adjective: asked, negated: goldNegated }]
  const taken = new Set([...strays, ...gold].map(property => property.noun))
  const free = rng.shuffle([...path, ...sides].filter(noun => !taken.has(noun)))
  // Of families there are twenty: of many kinds a few have no property.
  const fillers = free.slice(0, Math.min(fillerCount, adjectives.length - 1)).map((noun, i) => ({
    noun,
    adjective: adjectives[i + 1],
    negated: chance(rng, negation.other),
  }))
  return {
    label,
    path,
    nouns: [...others.toReversed(), ...line, ...path],
    parents,
    properties: [...gold, ...fillers],
    strays,
    target,
    query: { adjective: asked, negated: querySign(rng, label, goldNegated) },
  }
}

/** Signs of the strays such that, with the gold one, half of all mentions are negated; a single one's at random. */
const strayNegations = (rng: Rng, mentions: number, goldNegated: boolean | null): boolean[] => {
  if (mentions === 1) return goldNegated === null ? [chance(rng, 0.5)] : []
  const negatedLeft = mentions / 2 - (goldNegated === true ? 1 : 0)
  const total = goldNegated === null ? mentions : mentions - 1
  return rng.shuffle(Array.from({ length: total }, (_, i) => i < negatedLeft))
}
