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

const paramsSchema = z.strictObject({
  /** Name of the predicate. */
  is: z.string(),
  least: z.int().min(1).optional(),
  most: z.int().min(0).optional(),
  word: z.string().optional(),
})
type Params = z.output<typeof paramsSchema>

interface Predicate {
  is: string
  nature: PredicateNature
  /** With gaps: `{things}` for at least so many things, `{least}`, `{most}`, `{word}`. */
  text: string
  holds(seen: Seen, params: Required<Omit<Params, 'is'>>): boolean
  /** The criteria of the bank that it makes, with their parameters. */
  bank: Readonly<Record<string, Omit<Params, 'is'>>>
}

const predicates =
  (nature: PredicateNature) =>
  (
    is: string,
    text: string,
    holds: Predicate['holds'],
    bank: Predicate['bank'] = { [is]: {} },
  ): Predicate => ({
    ...{ is, nature, text, holds, bank },
  })
const sound = predicates('true')
const form = predicates('form')
const irrelevant = predicates('irrelevant')
const harmful = predicates('harmful')

const atLeast = (is: string, ...counts: number[]): Predicate['bank'] =>
  Object.fromEntries(counts.map(least => [`${is}-${least}`, { least }]))
const about = (is: string, ...words: string[]): Predicate['bank'] =>
  Object.fromEntries(words.map(word => [`${is}-${word}`, { word }]))

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
const repeats = ({ statements }: Seen) => new Set(statements.map(signature)).size < statements.length
const unsure = ({ statements }: Seen) => statements.some(({ kind }) => kind === 'perhaps' || kind === 'hmm')

const PREDICATES: readonly Predicate[] = [
  sound('companion-need', 'Names the unusual thing that the companion needs', ({ world, trip, planned }) =>
    planned.includes(world.companions[trip.companion]),
  ),
  sound(
    'place-needs',
    'Names at least {things} of the unusual ones that the place needs',
    ({ world, trip, planned }, { least }) => countIn(world.topics[trip.topic].needed, planned) >= least,
    atLeast('place-needs', 1, 2),
  ),
  sound(
    'place-wants',
    'Names at least {things} of the usual ones that the place asks for',
    ({ world, trip, planned }, { least }) => countIn(world.topics[trip.topic].wanted, planned) >= least,
    atLeast('place-wants', 1, 2, 3),
  ),
  sound(
    'leaves-right',
    'Says to leave at home what must stay at home on such a trip',
    ({ world, trip, left }) => left.includes(world.avoided(trip)),
  ),
  sound('right-number', 'Says how many things such an occasion means, and says it right', seen => {
    const said = new Set(bands(seen))
    return said.size === 1 && said.has(seen.world.occasions[seen.trip.occasion].band)
  }),
  sound('right-order', 'Says which thing comes before which, and says it right', seen => {
    const [before, after] = seen.world.order(seen.trip)
    return orders(seen).some(({ items }) => items[0] === before && items[1] === after)
  }),
  sound(
    'no-strays',
    'Plans something, and no more than {most} of it is what nobody needs there',
    (seen, { most }) => {
      const asked = askedFor(seen)
      const strays = seen.planned.filter(thing => !asked.has(thing)).length
      return seen.planned.length > 0 && strays <= most
    },
    { 'no-strays': { most: 0 }, 'few-strays': { most: 1 } },
  ),
  sound(
    'plan-fits',
    'Plans no more things than the occasion allows, and at least three',
    ({ world, trip, planned }) => {
      const [, high] = LENGTH_BANDS[world.occasions[trip.occasion].band]
      return planned.length >= 3 && planned.length <= high
    },
  ),
  form('says-order', 'Says that some thing comes before another', seen => orders(seen).length > 0),
  form(
    'says-number',
    'Says whether the occasion means few, some or many things',
    seen => bands(seen).length > 0,
  ),
  form('says-leave', 'Says that something stays at home', ({ left }) => left.length > 0),
  form('no-repeat', 'Says nothing twice', seen => !repeats(seen)),
  form(
    'no-contradiction',
    'Does not leave at home what it plans to pack',
    ({ planned, left }) => countIn(left, planned) === 0,
  ),
  form('decided', 'Is sure: no perhaps and no hmm', seen => !unsure(seen)),
  form(
    'plans',
    'Plans at least {things}',
    ({ planned }, { least }) => planned.length >= least,
    atLeast('plans', 3, 5, 8),
  ),
  form(
    'special',
    'Names at least {things} that nobody packs by habit',
    ({ words }, { least }) => distinct(words, SPECIAL) >= least,
    atLeast('special', 1, 3),
  ),
  form(
    'common',
    'Names at least {things} that everybody packs now and then',
    ({ words }, { least }) => distinct(words, COMMON) >= least,
    atLeast('common', 2, 4),
  ),
  form(
    'long',
    'Takes at least {least} words',
    ({ words }, { least }) => words.length >= least,
    atLeast('long', 15, 25),
  ),
  form(
    'speaks',
    'Speaks of the {word}',
    ({ words, trip }, { word }) => {
      const said = { companion: COMPANIONS[trip.companion], occasion: OCCASIONS[trip.occasion] }
      return words.includes(word === 'companion' || word === 'occasion' ? said[word] : TOPICS[trip.topic])
    },
    about('speaks', 'place', 'occasion', 'companion'),
  ),
  irrelevant(
    'names',
    'Names the {word}',
    ({ words }, { word }) => words.includes(word),
    about('names', 'map', 'tent', 'anvil'),
  ),
  irrelevant('even', 'Has an even number of words', ({ words }) => words.length % 2 === 0),
  irrelevant('alphabetical', 'Names its first two things in the order of the alphabet', ({ words }) => {
    const [first, second] = words.filter(word => THINGS.has(word))
    return second !== undefined && first < second
  }),
  harmful('hedges', 'Weighs what might be: says perhaps or hmm', unsure),
  harmful('short', 'Takes at most {most} words', ({ words }, { most }) => words.length <= most, {
    'short-8': { most: 8 },
  }),
  harmful('repeats', 'Says something twice, to be sure', seen => repeats(seen)),
  predicates('outcome')(
    'planned-is-packed',
    'Plans something, and the list packs all of it',
    ({ planned, packed }) => planned.length > 0 && planned.every(thing => packed.includes(thing)),
  ),
]
const BY_NAME: ReadonlyMap<string, Predicate> = new Map(PREDICATES.map(one => [one.is, one]))

const filled = (text: string, { least, most, word }: Omit<Params, 'is'>): string =>
  text
    .replace('{things}', least === 1 ? 'one thing' : `${least} things`)
    .replace('{least}', String(least))
    .replace('{most}', String(most))
    .replace('{word}', String(word))

/** Every predicate that there is, with parameters; an author of rubrics chooses among those about thinking. */
export const THOUGHT_BANK: readonly Criterion[] = PREDICATES.flatMap(({ is, nature, text, bank }) =>
  Object.entries(bank).map(([id, params]) => ({
    id,
    text: filled(text, params),
    points: 1,
    ...(nature === 'outcome' && { tags: ['outcome-proxy'] }),
    verifier: { kind: 'rule', fn: THOUGHT_VERIFIER, params: { is, ...params } },
  })),
)

/** What kind of predicate a criterion is; null for one that is none. */
export const natureOf = ({ verifier }: Criterion): PredicateNature | null => {
  const name = verifier?.fn === THOUGHT_VERIFIER ? verifier.params?.is : undefined
  return typeof name === 'string' ? (BY_NAME.get(name)?.nature ?? null) : null
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
    return predicate.holds(seen, { least: 1, most: 0, word: '', ...params })
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
  const predicate = BY_NAME.get(params.is)
  if (!predicate)
    throw new DataError(
      `criterion ${JSON.stringify(id)}: params.is: expected one of ${[...BY_NAME.keys()].join(', ')}, got ${JSON.stringify(params.is)}`,
    )
  return { predicate, params }
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
