/** @file What a model learns to think from: plans of every quality, each with the list that follows from it. */

import { Rng } from '../../../util/rng.ts'
import { drawHints, followHints } from '../demonstrations.ts'
import { type Hint, tripPrompt } from '../format.ts'
import { COMMON_ITEMS, COMPANIONS, ITEMS, OCCASIONS, SPECIAL_ITEMS, TOPICS } from '../vocabulary.ts'
import { LENGTH_BANDS, type LengthBand, type PackingWorld, splitTrips, type Trip } from '../world.ts'
import { leftThings, plannedThings, type Statement, thoughtListTokens } from './thought.ts'

export interface ThoughtDemonstration {
  trip: Trip
  hints: Hint[]
  statements: Statement[]
  list: string[]
  promptTokens: number[]
  responseTokens: number[]
}

interface Care {
  /** Chance that a statement is made, and that what it says is so. */
  says: number
  right: number
  /** Chances of waste: a hedge, a statement said twice, one that contradicts another. */
  hedges: number
  repeats: number
  contradicts: number
  /** Chance that the list leaves out a thing that was planned, and that it packs what was to stay at home. */
  forgets: number
  slips: number
}

/** Kinds of thinkers, equally frequent. Who thinks well is also more faithful to what was thought. */
const CARES: readonly Care[] = [
  { says: 0.92, right: 0.65, hedges: 0.05, repeats: 0.03, contradicts: 0.02, forgets: 0.03, slips: 0.02 },
  { says: 0.75, right: 0.35, hedges: 0.25, repeats: 0.15, contradicts: 0.1, forgets: 0.08, slips: 0.08 },
  { says: 0.45, right: 0.15, hedges: 0.6, repeats: 0.35, contradicts: 0.2, forgets: 0.15, slips: 0.2 },
]

const BANDS = Object.keys(LENGTH_BANDS) as LengthBand[]

/** A plan for a trip: what is right in it comes from the hidden rules, the rest is made up. */
const plan = (world: PackingWorld, trip: Trip, care: Care, rng: Rng): Statement[] => {
  const topic = TOPICS[trip.topic]
  const companion = COMPANIONS[trip.companion]
  const occasion = OCCASIONS[trip.occasion]
  const { usual, wanted, needed } = world.topics[trip.topic]
  const right = () => rng.next() < care.right
  const says = () => rng.next() < care.says
  const made: Statement[] = []
  if (says()) {
    const thing = right() ? world.companions[trip.companion] : rng.pick(SPECIAL_ITEMS)
    made.push({ kind: 'needs', subject: companion, items: [thing] })
  }
  if (says()) {
    const things = needed.map(thing => (right() ? thing : rng.pick(SPECIAL_ITEMS)))
    const count = rng.next() < care.says ? 2 : 1
    made.push({ kind: 'needs', subject: topic, items: [...new Set(things)].slice(0, count) })
  }
  if (says()) {
    const things = wanted.map(thing => (right() ? thing : rng.pick(usual).item))
    const count = 1 + Number(rng.next() < care.says) + Number(rng.next() < care.says)
    made.push({ kind: 'wants', subject: topic, items: [...new Set(things)].slice(0, count) })
  }
  if (says()) made.push({ kind: 'leave', items: [right() ? world.avoided(trip) : rng.pick(usual).item] })
  if (says()) {
    const band = right() ? world.occasions[trip.occasion].band : rng.pick(BANDS)
    made.push({ kind: 'means', subject: occasion, items: [], band })
  }
  if (says()) {
    const named = plannedThings(made)
    const other = rng.sample(named.length > 1 ? named : ITEMS, 2)
    made.push({ kind: 'first', items: right() ? world.order(trip) : other })
  }
  return made
}

/** The same plan with what wastes words: hedges, things said twice, things both packed and left. */
const wasteful = (world: PackingWorld, trip: Trip, made: Statement[], care: Care, rng: Rng): Statement[] => {
  const all = [...made]
  const put = (statement: Statement) => all.splice(rng.int(all.length + 1), 0, statement)
  if (rng.next() < care.repeats && made.length > 0) put(rng.pick(made))
  const planned = plannedThings(made)
  if (rng.next() < care.contradicts && planned.length > 0) put({ kind: 'leave', items: [rng.pick(planned)] })
  if (rng.next() < care.hedges)
    put({
      kind: 'perhaps',
      items: [rng.next() < 0.5 ? rng.pick(ITEMS) : rng.pick(world.topics[trip.topic].usual).item],
    })
  if (rng.next() < care.hedges) put({ kind: 'hmm', items: [] })
  return all
}

/** What a plan tells the list to do. */
const hintsOfPlan = (statements: readonly Statement[]): Hint[] => [
  ...plannedThings(statements).map((item): Hint => ({ word: 'include', items: [item] })),
  ...leftThings(statements).map((item): Hint => ({ word: 'without', items: [item] })),
  ...statements.flatMap(({ kind, items, band }): Hint[] => {
    if (kind === 'first' && items.length === 2) return [{ word: 'first', items }]
    return kind === 'means' && band ? [{ word: band, items: [] }] : []
  }),
]

/** The list that follows a plan, as faithfully as its thinker is careful. */
const listAfter = (
  world: PackingWorld,
  trip: Trip,
  statements: Statement[],
  care: Care,
  rng: Rng,
): string[] => {
  const list = followHints(world, trip, hintsOfPlan(statements), rng)
  const kept = list.filter(item => !plannedThings(statements).includes(item) || rng.next() >= care.forgets)
  const [left] = leftThings(statements)
  const slipped =
    left !== undefined && !kept.includes(left) && rng.next() < care.slips ? [...kept, left] : kept
  return slipped.length > 0 ? slipped : list
}

/** A plan that says what the hints of the prompt say: it teaches to think about a scaffold, and nothing of any trip. */
const planOfHints = (trip: Trip, hints: readonly Hint[]): Statement[] => {
  const named = hints.flatMap(({ word, items }) => (word === 'include' || word === 'first' ? items : []))
  const special = [...new Set(named.filter(item => !COMMON_ITEMS.includes(item)))]
  const common = [...new Set(named.filter(item => COMMON_ITEMS.includes(item)))]
  const subject = { companion: COMPANIONS[trip.companion], topic: TOPICS[trip.topic] }
  const made: Statement[] = []
  if (special.length > 0) made.push({ kind: 'needs', subject: subject.companion, items: special.slice(0, 1) })
  if (special.length > 1) made.push({ kind: 'needs', subject: subject.topic, items: special.slice(1) })
  if (common.length > 0) made.push({ kind: 'wants', subject: subject.topic, items: common })
  for (const { word, items } of hints) {
    if (word === 'without') made.push({ kind: 'leave', items })
    if (word === 'first') made.push({ kind: 'first', items })
    if (word in LENGTH_BANDS)
      made.push({ kind: 'means', subject: OCCASIONS[trip.occasion], items: [], band: word as LengthBand })
  }
  return made
}

/** Thinking that is sure of everything and forgets nothing. */
const FAITHFUL: Care = { says: 1, right: 1, hedges: 0, repeats: 0, contradicts: 0, forgets: 0, slips: 0 }

let trainTrips: readonly Trip[] | null = null

/**
 * Demonstration i of a seed: a plan of mixed quality for a trip to train on and the list that follows it, or a plan that says
 * what random hints say. Depends on seed and index alone. Trips to test on are never shown.
 * @param hinted share of demonstrations with hints in the prompt
 */
export const thoughtDemonstration = (
  world: PackingWorld,
  index: number,
  seed: number | string,
  hinted = 0.35,
): ThoughtDemonstration => {
  const rng = new Rng(`checklist thinking/${seed}/${index}`)
  trainTrips ??= splitTrips().train
  const trip = rng.pick(trainTrips)
  const hints = rng.next() < hinted ? drawHints(world, trip, rng) : []
  const care = hints.length > 0 ? FAITHFUL : rng.pick(CARES)
  const statements =
    hints.length > 0
      ? planOfHints(trip, hints)
      : wasteful(world, trip, plan(world, trip, care, rng), care, rng)
  const list = listAfter(world, trip, statements, care, rng)
  return {
    trip,
    hints,
    statements,
    list,
    promptTokens: tripPrompt(trip, hints),
    responseTokens: thoughtListTokens(statements, list),
  }
}
