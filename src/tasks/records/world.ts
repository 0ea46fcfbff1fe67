/** @file The world of the records task: archives that name their fields each in its own way, and records behind a keyed look-up. */

import { z } from 'zod'
import { Rng } from '../../util/rng.ts'
import { leastAndMost } from '../../util/setting-shapes.ts'
import { wordsIn } from '../../util/words.ts'

/** What a question asks by; archives hold each under a field whose name begins so. */
export const RELATIONS: readonly string[] = wordsIn(`
  guide boss friend doctor rival tutor host agent cousin pilot editor partner
`)
export type Relation = (typeof RELATIONS)[number]

/** How field names end. Which one an archive uses for a relation is nowhere written; some are more usual than others. */
export const ENDINGS = ['_name', '_ref', '_id', '_link'] as const
export type Ending = (typeof ENDINGS)[number]

/** How usual each ending is over all archives. */
const ENDING_SHARES: readonly number[] = [0.4, 0.3, 0.2, 0.1]

export const ARCHIVE_COLOURS: readonly string[] = wordsIn(`
  amber azure coral ebony ivory jade lilac olive pearl ruby sepia umber
`)
export const ARCHIVE_PLACES: readonly string[] = wordsIn(`
  abbey arena castle depot forum guild harbor lodge market museum palace tower
`)

/** A family of questions: those about one archive share its field names. */
export interface Archive {
  /** Archives of the same name in another world have other fields and records: what was learnt of one says nothing of them. */
  world: string
  colour: (typeof ARCHIVE_COLOURS)[number]
  place: (typeof ARCHIVE_PLACES)[number]
}

export const PEOPLE: readonly string[] = wordsIn(`
  ann bob cem dia eli fay gus hal ida jon kim leo mia ned ola pam quin ray sue tom
  uma val wes xia yan zoe abe bea cal dot eve fin gil hub ivy jed kay lou max nan
`)

/** Numbers that records are cited by. */
export const RECORDS = 40

/** What the record of a person says under a field. */
export interface Entry {
  /** 1..RECORDS */
  record: number
  person: string
  /** Out of date: another archive took over, and what it says is wrong. */
  old: boolean
}

export interface RecordsQuestion {
  id: string
  archive: Archive
  person: string
  /** The chain: whose whose whose. */
  relations: readonly Relation[]
}

/** Relations that an archive keeps; questions about it are made of these, so that they share field names. */
const KEPT = 6

export const archiveName = ({ colour, place }: Archive): string => `${colour} ${place}`

const keyOf = (archive: Archive): string => `${archive.world}/${archiveName(archive)}`

export const relationsOf = (archive: Archive): Relation[] =>
  new Rng(`records relations/${keyOf(archive)}`).sample(RELATIONS, KEPT)

/** The ending by which an archive names the field of a relation. */
export const endingOf = (archive: Archive, relation: Relation): Ending =>
  drawEnding(new Rng(`records field/${keyOf(archive)}/${relation}`))

/** An ending as often as archives have it. */
export const drawEnding = (rng: Rng): Ending => {
  let left = rng.next()
  for (const [i, share] of ENDING_SHARES.entries()) {
    left -= share
    if (left < 0) return ENDINGS[i]
  }
  return ENDINGS[0]
}

/** How often a field that an archive does not use has a record that is out of date, in place of none. */
const OLD_SHARE = 0.3

/**
 * The keyed look-up: what an archive says of a person under a field; null where it has nothing. It depends on archive, person
 * and field alone, so that a question that comes again finds the same.
 */
export const lookUp = (archive: Archive, person: string, { relation, ending }: Field): Entry | null => {
  const rng = new Rng(`records/${keyOf(archive)}/${person}/${relation}${ending}`)
  const old = ending !== endingOf(archive, relation)
  if (old && rng.next() >= OLD_SHARE) return null
  const others = PEOPLE.filter(name => name !== person)
  return { record: 1 + rng.int(RECORDS), person: rng.pick(others), old }
}

/** The name of a field; plain JSON, as memory keeps it. */
export type Field = {
  relation: Relation
  ending: Ending
}

export const fieldName = ({ relation, ending }: Field): string => `${relation}${ending}`

/** What leads to the answer, step by step. */
export const truthOf = ({ archive, person, relations }: RecordsQuestion): (Entry & { field: Field })[] => {
  let current = person
  return relations.map(relation => {
    const field = { relation, ending: endingOf(archive, relation) }
    const found = lookUp(archive, current, field)!
    current = found.person
    return { ...found, field }
  })
}

export const recordsAnswer = (question: RecordsQuestion): string => truthOf(question).at(-1)!.person

/** `who is the host of the guide of ann (amber lodge)` as a judge reads it. */
export const recordsQuestionText = ({ archive, person, relations }: RecordsQuestion): string =>
  `In the records of the ${archiveName(archive)}: who is ${[...relations]
    .reverse()
    .map(relation => `the ${relation} of`)
    .join(' ')} ${person}?`

/** The world of test questions: archives of the same names as in training, with fields and records of their own. */
export const RECORDS_TEST_WORLD = 'held-out:records'

export interface QuestionOptions {
  /** Fewest and most look-ups. Default 2 to 4. */
  hops?: { min: number; max: number }
}

/** Question `index` of a world. It depends on world, index and options alone. */
export const recordsQuestion = (
  world: string,
  index: number,
  { hops: { min, max } = { min: 2, max: 4 } }: QuestionOptions = {},
): RecordsQuestion => {
  const rng = new Rng(`records question/${world}/${index}`)
  const archive = { world, colour: rng.pick(ARCHIVE_COLOURS), place: rng.pick(ARCHIVE_PLACES) }
  const relations = rng.sample(relationsOf(archive), min + rng.int(max - min + 1))
  const person = rng.pick(PEOPLE)
  const id = [world, archive.colour, archive.place, person, ...relations].join('-')
  return { id, archive, person, relations }
}

/** Another question about the same archive: other people, and relations of which some are the same. */
export const siblingOf = ({ archive, relations }: RecordsQuestion, index: number): RecordsQuestion => {
  const rng = new Rng(`records sibling/${keyOf(archive)}/${index}`)
  const own = rng.sample(relationsOf(archive), relations.length)
  const person = rng.pick(PEOPLE)
  const id = [archive.world, archive.colour, archive.place, person, ...own].join('-')
  return { id, archive, person, relations: own }
}

/** The first of its siblings that is another question and asks by one of its relations: lessons about that one are of use here. */
export const relatedTo = (question: RecordsQuestion): RecordsQuestion => {
  for (let index = 0; ; index++) {
    const sibling = siblingOf(question, index)
    const shares = sibling.relations.some(relation => question.relations.includes(relation))
    if (shares && sibling.id !== question.id) return sibling
  }
}

const hops = z.int().positive().max(6)

/** Fewest and most look-ups that a question needs. */
export const hopsSchema = leastAndMost(hops.default(2), hops.default(4))

/** What questions are asked, and how much may be looked up for one. */
export const recordsShape = {
  hops: hopsSchema.prefault({}).describe('Fewest and most look-ups that a question needs.'),
  calls: z.int().positive().default(8).describe('Most look-ups of an agent.'),
}
