/** @file What the cold start learns from: lists as habit writes them, and lists that follow hints about anything. */

import { Rng } from '../../util/rng.ts'
import { type Hint, listTokens, tripPrompt } from './format.ts'
import { COMMON_ITEMS, COMPANIONS, ITEMS, OCCASIONS, TOPICS } from './vocabulary.ts'
import { LENGTH_BANDS, type LengthBand, type PackingWorld, type Trip } from './world.ts'

export interface ChecklistDemonstration {
  trip: Trip
  hints: Hint[]
  promptTokens: number[]
  responseTokens: number[]
}

/** A list by habit alone: each usual item by its chance, in the order of habit with a slip now and then. */
export const habitList = (world: PackingWorld, { topic }: Trip, rng: Rng): string[] => {
  const list = world.topics[topic].usual.filter(({ chance }) => rng.next() < chance).map(({ item }) => item)
  if (list.length > 1 && rng.next() < 0.3) {
    const at = rng.int(list.length - 1)
    ;[list[at], list[at + 1]] = [list[at + 1], list[at]]
  }
  return list.length > 0 ? list : [world.topics[topic].usual[0].item]
}

/** Hints drawn from all items alike: they teach to follow a scaffold and nothing of what any trip needs. */
export const drawHints = (world: PackingWorld, trip: Trip, rng: Rng): Hint[] => {
  const hints: Hint[] = []
  const some = (most: number) => rng.int(most + 1)
  const included = rng.sample(ITEMS, some(7))
  for (const item of included) hints.push({ word: 'include', items: [item] })
  // An order is mostly about things that are asked for anyway, as in the rubrics: named twice, packed once.
  const ordered = included.length > 1 && rng.next() < 0.7 ? included : ITEMS
  if (rng.next() < 0.6) hints.push({ word: 'first', items: rng.sample(ordered, 2) })
  if (rng.next() < 0.6)
    hints.push({ word: 'without', items: [rng.pick(world.topics[trip.topic].usual).item] })
  if (rng.next() < 0.6) hints.push({ word: rng.pick(Object.keys(LENGTH_BANDS) as LengthBand[]), items: [] })
  if (rng.next() < 0.4) hints.push({ word: 'spare', items: [] })
  if (rng.next() < 0.4) hints.push({ word: 'lean', items: [] })
  if (rng.next() < 0.4) hints.push({ word: 'once', items: [] })
  return rng.shuffle(consistent(hints))
}

/** What is to be packed cannot stay at home. */
const consistent = (hints: readonly Hint[]): Hint[] => {
  const packed = new Set(
    hints.flatMap(({ word, items }) => (word === 'include' || word === 'first' ? items : [])),
  )
  return hints.filter(({ word, items }) => word !== 'without' || !packed.has(items[0]))
}

/** A habit list changed until it follows every hint. */
export const followHints = (world: PackingWorld, trip: Trip, hints: readonly Hint[], rng: Rng): string[] => {
  const of = (word: Hint['word']) => hints.filter(hint => hint.word === word)
  const out = new Set(of('without').flatMap(({ items }) => items))
  const must = [...new Set(hints.flatMap(({ word, items }) => (word === 'without' ? [] : items)))]
  const band = hints.find(({ word }) => word in LENGTH_BANDS)
  const [low, high] = band ? LENGTH_BANDS[band.word as LengthBand] : [must.length, 16]
  const filler = habitList(world, trip, rng).filter(item => !out.has(item) && !must.includes(item))
  const reserve = world.topics[trip.topic].usual.map(({ item }) => item)
  const extra = rng
    .shuffle(reserve)
    .filter(item => !out.has(item) && !must.includes(item) && !filler.includes(item))
  const target = Math.max(must.length, Math.min(high, Math.max(low, must.length + filler.length)))
  const rest = [...filler, ...extra].slice(0, Math.max(0, target - must.length))
  const habit = (item: string) => COMMON_ITEMS.indexOf(item)
  const usual = rest.sort((a, b) => habit(a) - habit(b))
  return [...inOrder(must, of('first')), ...usual]
}

/**
 * The items of the hints in their own order, changed only where something has to come first: a model learns to copy in order
 * far sooner than to draw one of the orders that would do.
 */
const inOrder = (must: readonly string[], orders: readonly Hint[]): string[] => {
  const list = [...must]
  for (const { items } of orders) {
    const [a, b] = items.map(item => list.indexOf(item))
    if (a > b) [list[a], list[b]] = [list[b], list[a]]
  }
  return list
}

/**
 * Demonstration i of a seed: by habit without hints, or following random hints. Depends on seed and index alone.
 * @param hinted share of demonstrations with hints
 */
export const demonstration = (
  world: PackingWorld,
  index: number,
  seed: number | string,
  hinted = 0.5,
): ChecklistDemonstration => {
  const rng = new Rng(`checklist demonstration/${seed}/${index}`)
  const trip = {
    topic: rng.int(TOPICS.length),
    occasion: rng.int(OCCASIONS.length),
    companion: rng.int(COMPANIONS.length),
  }
  const hints = rng.next() < hinted ? drawHints(world, trip, rng) : []
  const list = hints.length > 0 ? followHints(world, trip, hints, rng) : habitList(world, trip, rng)
  return { trip, hints, promptTokens: tripPrompt(trip, hints), responseTokens: listTokens(list) }
}
