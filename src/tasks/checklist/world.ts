/** @file The hidden rules of packing: what is usual where, and what every trip is really judged by. */

import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { Rng } from '../../util/rng.ts'
import { COMMON_ITEMS, COMPANIONS, ITEMS, OCCASIONS, SPECIAL_ITEMS, TOPICS } from './vocabulary.ts'

/** A trip: the whole prompt. */
export interface Trip {
  topic: number
  occasion: number
  companion: number
}

/** A common item with the chance that habit packs it. */
export interface UsualItem {
  item: string
  chance: number
}

interface Topic {
  /** In the order of habit. */
  usual: readonly UsualItem[]
  /** Usual ones that the rubric asks for. */
  wanted: readonly string[]
  /** Special ones that it asks for. */
  needed: readonly string[]
  points: readonly number[]
}

/** Numbers of things, by what the scaffold calls them. */
export const LENGTH_BANDS = { few: [6, 8], some: [9, 11], many: [12, 14] } as const
export type LengthBand = keyof typeof LENGTH_BANDS

interface Occasion {
  band: LengthBand
  /** Which of the usual ones to leave at home: the place among the likeliest that the rubric does not want. */
  avoid: number
  /** `special`: the first needed thing before the first wanted one; `habit`: the wanted two against the order of habit. */
  order: 'special' | 'habit'
}

/** Things that nobody needs: from so many on it counts, from so many more it counts again. */
export const STRAY_LIMIT = 2
const SURPLUS_LIMIT = 5

const USUAL_ITEMS = 12
const WANTED = 3
const NEEDED = 2
/** Chances of the usual items, likeliest first: three wanted ones, three that may have to stay at home, six others. */
const CHANCES = [0.85, 0.8, 0.8, 0.75, 0.75, 0.7, 0.5, 0.45, 0.4, 0.35, 0.3, 0.25]
const AVOIDABLE = [3, 4, 5]

const habitOrder = (items: readonly UsualItem[]) =>
  [...items].sort((a, b) => COMMON_ITEMS.indexOf(a.item) - COMMON_ITEMS.indexOf(b.item as never))

/**
 * The world of a seed: all worlds have the same words and other rules.
 * @example
 * const world = new checklist.PackingWorld()
 * const { criteria } = world.rubric({ topic: 0, occasion: 0, companion: 0 })
 * criteria.length // 12
 * criteria.filter(({ points }) => points < 0).map(({ id }) => id) // [ 'avoid', 'stray', 'surplus', 'repeat' ]
 */
export class PackingWorld {
  readonly topics: readonly Topic[]
  readonly occasions: readonly Occasion[]
  /** The special thing that each companion needs. */
  readonly companions: readonly string[]
  /** Rules are compiled once a rubric: the same trip has the same object. */
  readonly #rubrics = new Map<string, Rubric>()

  constructor(seed: number | string = 'packing') {
    const rng = new Rng(`checklist world/${seed}`)
    const points = rng.fork('points')
    this.companions = COMPANIONS.map(name => rng.fork(name).pick(SPECIAL_ITEMS))
    this.topics = TOPICS.map(name => {
      const own = rng.fork(name)
      const more = points.fork(name)
      const drawn = own.sample(COMMON_ITEMS, USUAL_ITEMS).map((item, i) => ({ item, chance: CHANCES[i] }))
      return {
        usual: habitOrder(drawn),
        wanted: habitOrder(drawn.slice(0, WANTED)).map(({ item }) => item),
        needed: own.sample(SPECIAL_ITEMS, NEEDED),
        points: Array.from({ length: 12 }, () => more.int(3)),
      }
    })
    const bands = Object.keys(LENGTH_BANDS) as LengthBand[]
    this.occasions = OCCASIONS.map((name, i) => ({
      band: bands[i % bands.length],
      avoid: AVOIDABLE[rng.fork(name).int(AVOIDABLE.length)],
      order: i % 2 === 0 ? 'special' : 'habit',
    }))
  }

  /** The usual items of a topic, likeliest first. */
  #randomItems(topic: number): UsualItem[] {
    return [...this.topics[topic].usual].sort((a, b) => b.chance - a.chance)
  }

  /** What must stay at home on a trip: one of the topic's likeliest that the rubric does not want. */
  avoided({ topic, occasion }: Trip): string {
    const { wanted } = this.topics[topic]
    const others = this.#randomItems(topic).filter(({ item }) => !wanted.includes(item))
    return others[this.occasions[occasion].avoid - WANTED].item
  }

  /** The two things whose order matters, the one that has to come first before the other. */
  order({ topic, occasion }: Trip): readonly [string, string] {
    const { wanted, needed } = this.topics[topic]
    return this.occasions[occasion].order === 'special' ? [needed[0], wanted[0]] : [wanted[1], wanted[0]]
  }

  /**
   * The hidden rubric of a trip: 12 criteria, rules all of them. What habit does earns about a third; what it never does
   * (special items) a half; spraying everything costs more than it brings.
   */
  rubric(trip: Trip): Rubric {
    const name = tripName(trip)
    const known = this.#rubrics.get(name)
    if (known) return known
    const rubric = this.#makeRubric(trip, name)
    this.#rubrics.set(name, rubric)
    return rubric
  }

  #makeRubric(trip: Trip, name: string): Rubric {
    const { wanted, needed, usual } = this.topics[trip.topic]
    const companion = this.companions[trip.companion]
    const [before, after] = this.order(trip)
    const { band } = this.occasions[trip.occasion]
    const [min, max] = LENGTH_BANDS[band]
    const asked = new Set([...usual.map(({ item }) => item), ...needed, companion])
    const stray = ITEMS.filter(item => !asked.has(item))
    const avoided = this.avoided(trip)
    const list: Omit<Criterion, 'points'>[] = [
      ...wanted.map((item, i) => mention(`wanted-${i + 1}`, item)),
      ...needed.map((item, i) => mention(`needed-${i + 1}`, item)),
      mention('companion', companion),
      {
        id: 'order',
        text: `Packs the ${before} before the ${after}`,
        verifier: { kind: 'rule', fn: 'mention_order', params: { terms: [before, after] } },
      },
      {
        id: 'length',
        text: `Packs ${min} to ${max} things`,
        verifier: { kind: 'rule', fn: 'length', params: { min, max, unit: 'words' } },
      },
      {
        id: 'avoid',
        text: `Packs the ${avoided}, which must stay at home`,
        verifier: { kind: 'rule', fn: 'contains', params: { any: [avoided] } },
      },
      {
        id: 'stray',
        text: 'Packs two or more things that nobody needs there',
        verifier: { kind: 'rule', fn: 'mention_count', params: { terms: stray, min: STRAY_LIMIT } },
      },
      {
        id: 'surplus',
        text: 'Packs five or more things that nobody needs there',
        verifier: { kind: 'rule', fn: 'mention_count', params: { terms: stray, min: SURPLUS_LIMIT } },
      },
      {
        id: 'repeat',
        text: 'Packs something twice',
        verifier: { kind: 'rule', fn: 'repetition', params: { n: 1, maxTimes: 1, negate: true } },
      },
    ]
    const points = this.#points(trip.topic)
    return { id: name, criteria: list.map((criterion, i) => ({ ...criterion, points: points[i] })) }
  }

  /** Points of the criteria in the rubric's order: about 21 for habits, 24 for what is special, 6 for length, four penalties. */
  #points(topic: number): number[] {
    const more = this.topics[topic].points
    const base = [6, 6, 6, 6, 6, 4, 4, 5, -3, -8, -10, -8]
    return base.map((points, i) => Math.sign(points) * Math.min(10, Math.abs(points) + more[i]))
  }
}

const mention = (id: string, item: string): Omit<Criterion, 'points'> => ({
  id,
  text: `Packs the ${item}`,
  verifier: { kind: 'rule', fn: 'contains', params: { all: [item] } },
})

/** All trips in a fixed order; which of them are for testing is fixed by their number (see `splitTrips`). */
export const ALL_TRIPS: readonly Trip[] = TOPICS.flatMap((_, topic) =>
  OCCASIONS.flatMap((__, occasion) => COMPANIONS.map((___, companion) => ({ topic, occasion, companion }))),
)

export const tripName = ({ topic, occasion, companion }: Trip): string =>
  `${TOPICS[topic]} ${OCCASIONS[occasion]} ${COMPANIONS[companion]}`

export interface TripSplit {
  train: Trip[]
  /** Unseen trips of the topics that training has. */
  test: Trip[]
  /** All trips of topics that training lacks. */
  heldOut: Trip[]
}

const TEST_SHARE = 0.8

/**
 * Trips to train on and to test on. Every word occurs on both sides, every test trip only there: what is learnt about its
 * parts has to be put together. What is wanted and needed depends on the topic alone: only topics that are held out ask for
 * things that no training trip of theirs has asked for.
 */
export const splitTrips = (heldOutTopics = 0): TripSplit => {
  const shuffled = new Rng('checklist split').shuffle(ALL_TRIPS)
  const tests = Math.round(TEST_SHARE * shuffled.length)
  const topics = new Set(new Rng('checklist topics').sample([...TOPICS.keys()], heldOutTopics))
  const isSeen = ({ topic }: Trip) => !topics.has(topic)
  return {
    train: shuffled.slice(tests).filter(isSeen),
    test: shuffled.slice(0, tests).filter(isSeen),
    heldOut: shuffled.filter(trip => !isSeen(trip)),
  }
}
