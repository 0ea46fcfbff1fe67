/** @file Predicates about thinking over a trip: what may stand in a rubric for thinking, and whether a text meets it, exactly. */

import { z } from 'zod'
import type { Criterion } from '../../../rubric/criterion.ts'
import { DataError } from '../../../util/errors.ts'
import { parseWith } from '../../../util/schema.ts'
import type { ThoughtResponse } from '../../thinking.ts'
import { COMMON_ITEMS, COMPANIONS, ITEMS, OCCASIONS, SPECIAL_ITEMS, TOPICS } from '../vocabulary.ts'
import { LENGTH_BANDS, type PackingWorld, type Trip } from '../world.ts'
import { leftThings, plannedThings, readStatements, type Statement, thoughtWords } from './thought.ts'

/** Name of the verifier of criteria that are such predicates. */
export const THOUGHT_VERIFIER = 'packing_thought'

/** What a predicate is about. */
interface Seen {
  world: PackingWorld
  trip: Trip
  words: readonly string[]
  statements: readonly Statement[]
  planned: readonly string[]
  left: readonly string[]
  /** Things of the list after the thinking. */
  packed: readonly string[]
}

/**
 * - `true`: goes by the hidden rules; whoever meets it knows something of the trip
 * - `form`: how the thinking is written; some of it goes with good plans, all of it can be had without knowing anything
 * - `irrelevant`, `harmful`: has nothing to do with good lists, or goes with poor ones
 * - `outcome`: looks at the list itself; no criterion about thinking
 */
export type PredicateNature = 'true' | 'form' | 'irrelevant' | 'harmful' | 'outcome'

interface Predicate {
  nature: PredicateNature
  text(params: Params): string
  holds(seen: Seen, params: Params): boolean
}

const paramsSchema = z.strictObject({
  /** Name of the predicate. */
  is: z.string(),
  least: z.int().min(1).optional(),
  most: z.int().min(0).optional(),
  word: z.string().optional(),
})
type Params = z.output<typeof paramsSchema>

const THINGS: ReadonlySet<string> = new Set(ITEMS)
const SPECIAL: ReadonlySet<string> = new Set(SPECIAL_ITEMS)
const COMMON: ReadonlySet<string> = new Set(COMMON_ITEMS)

const countIn = (things: readonly string[], named: readonly string[]) =>
  things.filter(thing => named.includes(thing)).length
const askedFor = ({ world, trip }: Seen): Set<string> => {
  const { usual, needed } = world.topics[trip.topic]
  return new Set([...usual.map(({ item }) => item), ...needed, world.companions[trip.companion]])
}
const distinct = (words: readonly string[], among: ReadonlySet<string>) =>
  new Set(words.filter(word => among.has(word))).size
const orders = ({ statements }: Seen) =>
  statements.filter(({ kind, items }) => kind === 'first' && items.length >= 2)
const bands = ({ statements }: Seen) => statements.flatMap(({ band }) => band ?? [])
const signature = ({ kind, items, band }: Statement) => [kind, ...items, band].join(' ')
const unsure = ({ statements }: Seen) => statements.some(({ kind }) => kind === 'perhaps' || kind === 'hmm')

const least = ({ least: count = 1 }: Params) => count
const most = ({ most: count = 0 }: Params) => count
const things = (count: number) => (count === 1 ? 'one thing' : `${count} things`)

const PREDICATES: Readonly<Record<string, Predicate>> = {
  'companion-need': {
    nature: 'true',
    text: () => 'Names the unusual thing that the companion needs',
    holds: ({ world, trip, planned }) => planned.includes(world.companions[trip.companion]),
  },
  'place-needs': {
    nature: 'true',
    text: params => `Names at least ${things(least(params))} of the unusual ones that the place needs`,
    holds: ({ world, trip, planned }, params) =>
      countIn(world.topics[trip.topic].needed, planned) >= least(params),
  },
  'place-wants': {
    nature: 'true',
    text: params => `Names at least ${things(least(params))} of the usual ones that the place asks for`,
    holds: ({ world, trip, planned }, params) =>
      countIn(world.topics[trip.topic].wanted, planned) >= least(params),
  },
  'leaves-right': {
    nature: 'true',
    text: () => 'Says to leave at home what must stay at home on such a trip',
    holds: ({ world, trip, left }) => left.includes(world.avoided(trip)),
  },
  'right-number': {
    nature: 'true',
    text: () => 'Says how many things such an occasion means, and says it right',
    holds: seen => {
      const said = new Set(bands(seen))
      return said.size === 1 && said.has(seen.world.occasions[seen.trip.occasion].band)
    },
  },
  'right-order': {
    nature: 'true',
    text: () => 'Says which thing comes before which, and says it right',
    holds: seen => {
      const [before, after] = seen.world.order(seen.trip)
      return orders(seen).some(({ items }) => items[0] === before && items[1] === after)
    },
  },
  'no-strays': {
    nature: 'true',
    text: params => `Plans something, and no more than ${most(params)} of it is what nobody needs there`,
    holds: (seen, params) => {
      const asked = askedFor(seen)
      const strays = seen.planned.filter(thing => !asked.has(thing)).length
      return seen.planned.length > 0 && strays <= most(params)
    },
  },
  'plan-fits': {
    nature: 'true',
    text: () => 'Plans no more things than the occasion allows, and at least three',
    holds: ({ world, trip, planned }) => {
      const [, high] = LENGTH_BANDS[world.occasions[trip.occasion].band]
      return planned.length >= 3 && planned.length <= high
    },
  },
  'says-order': {
    nature: 'form',
    text: () => 'Says that some thing comes before another',
    holds: seen => orders(seen).length > 0,
  },
  'says-number': {
    nature: 'form',
    text: () => 'Says whether the occasion means few, some or many things',
    holds: seen => bands(seen).length > 0,
  },
  'says-leave': {
    nature: 'form',
    text: () => 'Says that something stays at home',
    holds: ({ left }) => left.length > 0,
  },
  'no-repeat': {
    nature: 'form',
    text: () => 'Says nothing twice',
    holds: ({ statements }) => new Set(statements.map(signature)).size === statements.length,
  },
  'no-contradiction': {
    nature: 'form',
    text: () => 'Does not leave at home what it plans to pack',
    holds: ({ planned, left }) => countIn(left, planned) === 0,
  },
  decided: {
    nature: 'form',
    text: () => 'Is sure: no perhaps and no hmm',
    holds: seen => !unsure(seen),
  },
  plans: {
    nature: 'form',
    text: params => `Plans at least ${things(least(params))}`,
    holds: ({ planned }, params) => planned.length >= least(params),
  },
  special: {
    nature: 'form',
    text: params => `Names at least ${things(least(params))} that nobody packs by habit`,
    holds: ({ words }, params) => distinct(words, SPECIAL) >= least(params),
  },
  common: {
    nature: 'form',
    text: params => `Names at least ${things(least(params))} that everybody packs now and then`,
    holds: ({ words }, params) => distinct(words, COMMON) >= least(params),
  },
  long: {
    nature: 'form',
    text: params => `Takes at least ${least(params)} words`,
    holds: ({ words }, params) => words.length >= least(params),
  },
  speaks: {
    nature: 'form',
    text: ({ word = 'place' }) => `Speaks of the ${word}`,
    holds: ({ words, trip }, { word }) =>
      words.includes(
        word === 'companion'
          ? COMPANIONS[trip.companion]
          : word === 'occasion'
            ? OCCASIONS[trip.occasion]
            : TOPICS[trip.topic],
      ),
  },
  names: {
    nature: 'irrelevant',
    text: ({ word }) => `Names the ${word}`,
    holds: ({ words }, { word = '' }) => words.includes(word),
  },
  even: {
    nature: 'irrelevant',
    text: () => 'Has an even number of words',
    holds: ({ words }) => words.length % 2 === 0,
  },
  alphabetical: {
    nature: 'irrelevant',
    text: () => 'Names its first two things in the order of the alphabet',
    holds: ({ words }) => {
      const [first, second] = words.filter(word => THINGS.has(word))
      return second !== undefined && first < second
    },
  },
  hedges: {
    nature: 'harmful',
    text: () => 'Weighs what might be: says perhaps or hmm',
    holds: unsure,
  },
  short: {
    nature: 'harmful',
    text: params => `Takes at most ${most(params)} words`,
    holds: ({ words }, params) => words.length <= most(params),
  },
  repeats: {
    nature: 'harmful',
    text: () => 'Says something twice, to be sure',
    holds: ({ statements }) => new Set(statements.map(signature)).size < statements.length,
  },
  'planned-is-packed': {
    nature: 'outcome',
    text: () => 'Plans something, and the list packs all of it',
    holds: ({ planned, packed }) => planned.length > 0 && planned.every(thing => packed.includes(thing)),
  },
}

const criterion = (id: string, params: Params): Criterion => ({
  id,
  text: PREDICATES[params.is].text(params),
  points: 1,
  ...(PREDICATES[params.is].nature === 'outcome' && { tags: ['outcome-proxy'] }),
  verifier: { kind: 'rule', fn: THOUGHT_VERIFIER, params },
})

/** Every predicate that there is, with parameters; an author of rubrics chooses among those about thinking. */
export const THOUGHT_BANK: readonly Criterion[] = [
  criterion('companion-need', { is: 'companion-need' }),
  criterion('place-needs-1', { is: 'place-needs', least: 1 }),
  criterion('place-needs-2', { is: 'place-needs', least: 2 }),
  criterion('place-wants-1', { is: 'place-wants', least: 1 }),
  criterion('place-wants-2', { is: 'place-wants', least: 2 }),
  criterion('place-wants-3', { is: 'place-wants', least: 3 }),
  criterion('leaves-right', { is: 'leaves-right' }),
  criterion('right-number', { is: 'right-number' }),
  criterion('right-order', { is: 'right-order' }),
  criterion('no-strays', { is: 'no-strays', most: 0 }),
  criterion('few-strays', { is: 'no-strays', most: 1 }),
  criterion('plan-fits', { is: 'plan-fits' }),
  criterion('says-order', { is: 'says-order' }),
  criterion('says-number', { is: 'says-number' }),
  criterion('says-leave', { is: 'says-leave' }),
  criterion('no-repeat', { is: 'no-repeat' }),
  criterion('no-contradiction', { is: 'no-contradiction' }),
  criterion('decided', { is: 'decided' }),
  ...[3, 5, 8].map(count => criterion(`plans-${count}`, { is: 'plans', least: count })),
  ...[1, 3].map(count => criterion(`special-${count}`, { is: 'special', least: count })),
  ...[2, 4].map(count => criterion(`common-${count}`, { is: 'common', least: count })),
  ...[15, 25].map(count => criterion(`long-${count}`, { is: 'long', least: count })),
  ...['place', 'occasion', 'companion'].map(word => criterion(`speaks-${word}`, { is: 'speaks', word })),
  ...['map', 'tent', 'anvil'].map(word => criterion(`names-${word}`, { is: 'names', word })),
  criterion('even', { is: 'even' }),
  criterion('alphabetical', { is: 'alphabetical' }),
  criterion('hedges', { is: 'hedges' }),
  criterion('short-8', { is: 'short', most: 8 }),
  criterion('repeats', { is: 'repeats' }),
  criterion('planned-is-packed', { is: 'planned-is-packed' }),
]

/** What kind of predicate a criterion is; null for one that is none. */
export const natureOf = ({ verifier }: Criterion): PredicateNature | null => {
  const name = verifier?.fn === THOUGHT_VERIFIER ? verifier.params?.is : undefined
  return typeof name === 'string' && Object.hasOwn(PREDICATES, name) ? PREDICATES[name].nature : null
}

/** The criteria of the bank that speak of thinking alone. */
export const THINKING_BANK: readonly Criterion[] = THOUGHT_BANK.filter(one => natureOf(one) !== 'outcome')

/** What good thinking about a trip is, by how lists are really judged: nothing in it can be had without knowing the trip. */
export const ORACLE_IDS: readonly string[] = [
  'companion-need',
  'place-needs-2',
  'place-wants-3',
  'leaves-right',
  'right-number',
  'right-order',
  'no-strays',
]

/**
 * Whether thinking meets a criterion of the bank.
 * @throws DataError for a criterion that is no such predicate
 */
export const meetsThought = (
  world: PackingWorld,
  trip: Trip,
  { thinking, answer }: Pick<ThoughtResponse, 'thinking' | 'answer'>,
  criteria: readonly Criterion[],
): boolean[] => {
  const statements = readStatements(thinking)
  const seen: Seen = {
    world,
    trip,
    words: thoughtWords(thinking),
    statements,
    planned: plannedThings(statements),
    left: leftThings(statements),
    packed: answer.split(/\s+/),
  }
  return criteria.map(one => {
    const { predicate, params } = predicateOf(one)
    return predicate.holds(seen, params)
  })
}

/** @throws DataError for a criterion that is no predicate about packing */
export const assertThought = (criterion: Criterion): void => void predicateOf(criterion)

/** @throws DataError */
const predicateOf = ({ id, verifier }: Criterion): { predicate: Predicate; params: Params } => {
  if (verifier?.fn !== THOUGHT_VERIFIER)
    throw new DataError(
      `criterion ${JSON.stringify(id)}: expected a verifier ${THOUGHT_VERIFIER}, got ${verifier?.fn ?? 'none'}; thinking about packing is judged by its own predicates`,
    )
  const params = parseWith(
    paramsSchema,
    verifier.params,
    `criterion ${JSON.stringify(id)}: params`,
    DataError,
  )
  if (!Object.hasOwn(PREDICATES, params.is))
    throw new DataError(
      `criterion ${JSON.stringify(id)}: params.is: expected one of ${Object.keys(PREDICATES).join(', ')}, got ${JSON.stringify(params.is)}`,
    )
  return { predicate: PREDICATES[params.is], params }
}

/** How much of each statement is right: what a process reward is made of. One a statement; a hedge decides nothing and is wrong. */
export const statementVerdicts = (world: PackingWorld, trip: Trip, thinking: string): boolean[] => {
  const { needed, wanted } = world.topics[trip.topic]
  const needs = [world.companions[trip.companion], ...needed]
  const [before, after] = world.order(trip)
  const all = (items: readonly string[], of: readonly string[]) =>
    items.length > 0 && items.every(item => of.includes(item))
  return readStatements(thinking).map(({ kind, subject, items, band }) => {
    switch (kind) {
      case 'needs':
        return subject === COMPANIONS[trip.companion] ? all(items, needs.slice(0, 1)) : all(items, needed)
      case 'wants':
        return all(items, wanted)
      case 'leave':
        return all(items, [world.avoided(trip)])
      case 'means':
        return band === world.occasions[trip.occasion].band
      case 'first':
        return items[0] === before && items[1] === after
      default:
        return false
    }
  })
}
