import { describe, expect, it } from 'vitest'
import { RuleGrader } from '../../grade/rules/index.ts'
import { createTokenizer } from '../../model/tokenizer.ts'
import { signedScore } from '../../rubric/index.ts'
import { Rng } from '../../util/rng.ts'
import { mean } from '../../util/statistics.ts'
import {
  ALL_TRIPS,
  CHECKLIST_VOCABULARY,
  checklistText,
  checklistTokenizer,
  demonstration,
  habitList,
  hintOf,
  hintsOf,
  isList,
  listTokens,
  PackingWorld,
  splitTrips,
  type Trip,
  tripName,
  tripPrompt,
} from './index.ts'
import { COMMON_ITEMS, ITEMS, SPECIAL_ITEMS, TOPICS } from './vocabulary.ts'

const world = new PackingWorld()
const grader = new RuleGrader()

const verdictsOn = (trip: Trip, list: readonly string[]) =>
  grader.grade({ prompt: [], response: list.join(' ') }, world.rubric(trip).criteria)

const scoreOf = async (trip: Trip, list: readonly string[]) =>
  signedScore(world.rubric(trip), await verdictsOn(trip, list)).score!

const trips = new Rng('test trips').sample(ALL_TRIPS, 60)

/** What a policy that knows all the hidden rules would pack. */
const perfectList = (trip: Trip): string[] => {
  const { wanted, needed, usual } = world.topics[trip.topic]
  const order = world.order(trip)
  const must = [...new Set([...order, ...wanted, ...needed, world.companions[trip.companion]])]
  const { min } = world.rubric(trip).criteria.find(({ id }) => id === 'length')!.verifier!.params as {
    min: number
  }
  const filler = usual
    .map(({ item }) => item)
    .filter(item => !must.includes(item) && item !== world.avoided(trip))
  return [...must, ...filler].slice(0, Math.max(min, must.length))
}

describe('the world of packing', () => {
  it('has words of one token each, and no word twice', () => {
    expect(new Set(CHECKLIST_VOCABULARY).size).toBe(CHECKLIST_VOCABULARY.length)
    expect(new Set(ITEMS).size).toBe(64)
    expect(ALL_TRIPS).toHaveLength(2560)
  })

  it('is the same for a seed and another for another', () => {
    const rubrics = (seed: string) => trips.map(trip => new PackingWorld(seed).rubric(trip))
    expect(rubrics('a')).toEqual(rubrics('a'))
    expect(rubrics('a')).not.toEqual(rubrics('b'))
  })

  it('gives every trip 12 criteria with points of both signs, all of them rules and sayable as hints', () => {
    for (const trip of trips) {
      const { criteria, id } = world.rubric(trip)
      expect(id).toBe(tripName(trip))
      expect(criteria).toHaveLength(12)
      expect(criteria.filter(({ points }) => points < 0)).toHaveLength(4)
      expect(new Set(criteria.map(({ points }) => points)).size).toBeGreaterThan(3)
      for (const criterion of criteria) {
        expect(Math.abs(criterion.points)).toBeLessThanOrEqual(10)
        expect(hintOf(criterion)!.items.every(item => ITEMS.includes(item))).toBe(true)
      }
    }
  })

  it('asks for special things, which are never habit, and for what habit does otherwise', () => {
    for (const { topic, ...rest } of trips) {
      const { usual, needed } = world.topics[topic]
      expect(usual.every(({ item }) => COMMON_ITEMS.includes(item))).toBe(true)
      expect(needed.every(item => SPECIAL_ITEMS.includes(item))).toBe(true)
      expect(
        usual.find(({ item }) => item === world.avoided({ topic, ...rest }))!.chance,
      ).toBeGreaterThanOrEqual(0.7)
    }
  })

  it('can be met in full', async () => {
    for (const trip of trips) expect(await scoreOf(trip, perfectList(trip))).toBe(1)
  })

  it('gives habit about a third, and spraying less than habit', async () => {
    const rng = new Rng('habit')
    const habit = await Promise.all(trips.map(trip => scoreOf(trip, habitList(world, trip, rng))))
    expect(mean(habit)).toBeGreaterThan(0.25)
    expect(mean(habit)).toBeLessThan(0.45)
    const sprays = trips.flatMap(trip =>
      [8, 16, 28].map(extra =>
        scoreOf(trip, [...habitList(world, trip, rng), ...rng.sample(SPECIAL_ITEMS, extra)]),
      ),
    )
    expect(mean(await Promise.all(sprays))).toBeLessThan(mean(habit))
    const stuffed = await Promise.all(
      trips.map(trip => {
        const list = habitList(world, trip, rng)
        return scoreOf(trip, [...list, ...list, ...list].slice(0, 26))
      }),
    )
    expect(mean(stuffed)).toBeLessThan(mean(habit) - 0.1)
    const everything = await Promise.all(trips.map(trip => scoreOf(trip, ITEMS)))
    expect(mean(everything)).toBeLessThan(mean(habit) + 0.05)
  })

  it('holds whole topics out where asked to, and leaves the other trips where they were', () => {
    const all = splitTrips()
    const { train, test, heldOut } = splitTrips(4)
    const topicsOf = (trips: readonly Trip[]) => new Set(trips.map(({ topic }) => topic))
    expect(topicsOf(heldOut).size).toBe(4)
    expect(heldOut).toHaveLength((4 * ALL_TRIPS.length) / TOPICS.length)
    const unseen = topicsOf(heldOut)
    expect([...topicsOf([...train, ...test])].filter(topic => unseen.has(topic))).toEqual([])
    expect(train).toEqual(all.train.filter(({ topic }) => !unseen.has(topic)))
    expect(test).toEqual(all.test.filter(({ topic }) => !unseen.has(topic)))
    expect(splitTrips(4)).toEqual({ train, test, heldOut })
  })

  it('splits trips so that every word is on both sides and no trip is', () => {
    const { train, test, heldOut } = splitTrips()
    expect(heldOut).toEqual([])
    expect(test.length).toBeGreaterThanOrEqual(2000)
    expect(new Set([...train, ...test].map(tripName)).size).toBe(2560)
    for (const part of ['topic', 'occasion', 'companion'] as const)
      expect(new Set(train.map(trip => trip[part])).size).toBe(
        new Set(ALL_TRIPS.map(trip => trip[part])).size,
      )
  })
})

describe('prompts and lists', () => {
  const trip = { topic: 0, occasion: 2, companion: 1 }

  it('read as text, with the scaffold between trip and colon', () => {
    const hints = hintsOf(world.rubric(trip).criteria)
    const text = checklistText(tripPrompt(trip, hints))
    expect(checklistText(tripPrompt(trip))).toBe('beach winter ben:')
    expect(text).toMatch(
      /^beach winter ben include \w+ include .* first \w+ \w+ (few|some|many) without \w+ spare lean once:$/,
    )
    expect(checklistText(listTokens(['tent', 'rope']))).toBe('tent rope')
  })

  it('are lists only with items and an end', () => {
    expect(isList(listTokens(['tent']))).toBe(true)
    expect(isList(listTokens(['tent']).slice(0, -1))).toBe(false)
    expect(isList(listTokens([]))).toBe(false)
    expect(isList([...tripPrompt(trip), 2])).toBe(false)
  })

  it('have a tokenizer that gives the same ids', () => {
    const files = checklistTokenizer(96)
    const tokenizer = createTokenizer(
      JSON.parse(files['tokenizer.json']),
      JSON.parse(files['tokenizer_config.json']),
    )
    const prompt = tripPrompt(trip, hintsOf(world.rubric(trip).criteria))
    expect(tokenizer.encode(checklistText(prompt), { addSpecialTokens: true })).toEqual(prompt)
    expect(tokenizer.decode(listTokens(['tent', 'rope'])).trim()).toBe('tent rope')
  })

  it('turn hints round for spoilt rubrics', () => {
    const { criteria } = world.rubric(trip)
    const of = (id: string, changes: object = {}) => {
      const criterion = criteria.find(each => each.id === id)!
      return hintOf({ ...criterion, ...changes })?.word ?? null
    }
    expect([of('wanted-1'), of('avoid')]).toEqual(['include', 'without'])
    expect([of('wanted-1', { points: -3 }), of('avoid', { points: 3 })]).toEqual(['without', 'include'])
    expect([of('length', { points: -3 }), of('stray', { points: 3 })]).toEqual([null, null])
    const order = criteria.find(({ id }) => id === 'order')!
    expect(hintOf({ ...order, points: -1 })!.items).toEqual(hintOf(order)!.items.toReversed())
    const denied = { kind: 'rule' as const, fn: 'contains', params: { all: ['tent'], negate: true } }
    expect(of('wanted-1', { verifier: denied })).toBe('without')
    expect(of('wanted-1', { verifier: { kind: 'rule', fn: 'coin' } })).toBeNull()
  })

  it('refuse a criterion of another task', () => {
    expect(() => hintOf({ id: 'x', text: 'is kind', points: 1 })).toThrow(
      'criterion x: expected one of the packing task',
    )
  })
})

describe('demonstrations', () => {
  const all = Array.from({ length: 400 }, (_, i) => demonstration(world, i, 'test'))

  it('depend on seed and index alone', () => {
    expect(demonstration(world, 7, 'test')).toEqual(all[7])
    expect(demonstration(world, 7, 'other')).not.toEqual(all[7])
  })

  it('follow their hints', async () => {
    for (const { hints, responseTokens } of all) {
      const list = checklistText(responseTokens).split(' ')
      expect(new Set(list).size).toBe(list.length)
      for (const { word, items } of hints) {
        const places = items.map(item => list.indexOf(item))
        if (word === 'include') expect(places[0]).toBeGreaterThanOrEqual(0)
        if (word === 'without') expect(places[0]).toBe(-1)
        if (word === 'first') expect(places[1]).toBeGreaterThan(places[0])
      }
    }
  })

  it('never show a special thing without a hint: that is the bottleneck', () => {
    for (const { hints, responseTokens } of all) {
      const hinted = new Set(hints.flatMap(({ items }) => items))
      const special = checklistText(responseTokens)
        .split(' ')
        .filter(item => SPECIAL_ITEMS.includes(item))
      expect(special.every(item => hinted.has(item))).toBe(true)
    }
    expect(all.filter(({ hints }) => hints.length === 0).length).toBeGreaterThan(150)
  })
})
