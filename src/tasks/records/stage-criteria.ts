/**
 * @file What can be asked of each stage of an attempt, and how far an attempt does it: sound criteria, useless and hackable ones.
 *
 * A reader of an attempt sees the question, what was looked up and what came of it. Two criteria see more, and are an oracle's: the
 * answer that is right, and the field names that an archive goes by. Evaluations measure by those; judges do when they are told to.
 */

import type { Level, Stage } from '../../grade/evolving/index.ts'
import type { LookUp, RecordsTrajectory } from './trajectory.ts'
import { fieldName, type RecordsQuestion, type Relation, recordsAnswer, truthOf } from './world.ts'

/** What is known of an attempt when a stage is judged. */
export interface Attempt {
  question: RecordsQuestion
  trajectory: RecordsTrajectory
}

export interface StageCriterion {
  id: string
  stage: Stage
  title: string
  description: string
  weight: 1 | 2 | 3
  /** A flaw: its level says how far it is there. */
  negative?: boolean
  /** What it is worth to whoever proposes: it goes with good work; with nothing; or it can be had without good work. */
  worth: 'sound' | 'useless' | 'hackable'
  level(attempt: Attempt): Level
}

/** All of it, some of it, nothing of it. */
const share = (met: number, of: number): Level => (met <= 0 || of <= 0 ? 0 : met >= of ? 2 : 1)
const shareOf = <T>(items: readonly T[], isMet: (item: T) => boolean): Level =>
  share(items.filter(isMet).length, items.length)
/** Never, once, more often. */
const often = (times: number): Level => (times === 0 ? 0 : times === 1 ? 1 : 2)
const whether = (met: boolean): Level => (met ? 2 : 0)

/** Fields that hold in the question's archive, in the order of its chain. */
const fieldsOf = (question: RecordsQuestion) => truthOf(question).map(({ field }) => fieldName(field))

const planned = ({ trajectory: { plan } }: Attempt): string[] =>
  plan?.fields.map(({ first }) => fieldName(first)) ?? []

/** A call that found what holds. */
interface Finding {
  relation: Relation
  record: number
}

const found = ({ calls }: RecordsTrajectory): Finding[] =>
  calls.flatMap(({ field, output }) =>
    field !== null && output.kind === 'found' ? [{ relation: field.relation, record: output.record }] : [],
  )

const failed = ({ output }: LookUp) => output.kind === 'none' || output.kind === 'old'
const asked = ({ person, field }: LookUp) => `${person}/${field && fieldName(field)}`

/** How far research goes on with the person whom the last call found. */
const goesOn = ({ question, trajectory: { calls } }: Attempt): Level => {
  let current: string | null = question.person
  let met = 0
  for (const { person, output } of calls) {
    if (person === current) met++
    if (output.kind === 'found') current = output.person
  }
  return share(met, calls.length)
}

/** How far failed calls are followed by another field for the same relation of the same person. */
const retried = ({ trajectory: { calls } }: Attempt): Level => {
  const followed = calls.slice(0, -1).filter(failed)
  const met = calls.filter((call, i) => {
    const next = calls[i + 1]
    return (
      failed(call) &&
      next !== undefined &&
      next.person === call.person &&
      next.field?.relation === call.field?.relation &&
      next.field?.ending !== call.field?.ending
    )
  }).length
  return followed.length === 0 ? 2 : share(met, followed.length)
}

/** Records of what held on the way, and what the review says of each relation. */
const reviewed = ({ trajectory }: Attempt) => ({
  by: new Map(found(trajectory).map(({ relation, record }) => [relation, record])),
  review: trajectory.review ?? [],
})

const citedOf = ({ trajectory }: Attempt) => ({
  records: found(trajectory).map(({ record }) => record),
  cites: trajectory.answer?.cites ?? [],
})

/** Whom a chain ends with of which every relation was settled by a record that holds; null for one that broke. */
export const chainEnd = ({ question, trajectory }: Attempt): string | null => {
  let current = question.person
  let at = 0
  for (const { person, field, output } of trajectory.calls)
    if (output.kind === 'found' && person === current && field?.relation === question.relations[at]) {
      current = output.person
      at++
    }
  return at === question.relations.length ? current : null
}

const isWhole = (attempt: Attempt): boolean => chainEnd(attempt) !== null

/** What an oracle proposes. */
export const STAGE_CRITERIA: readonly StageCriterion[] = [
  {
    ...{ id: 'plan-whole', stage: 1, weight: 3, worth: 'sound' },
    title: 'Plans every relation',
    description: 'The plan has a field for every relation that the question asks by, in its order.',
    level: attempt => {
      const { relations } = attempt.question
      const own = attempt.trajectory.plan?.fields.map(({ first }) => first.relation) ?? []
      const met = relations.filter(relation => own.includes(relation)).length
      return met === relations.length && own.join() !== relations.join() ? 1 : share(met, relations.length)
    },
  },
  {
    ...{ id: 'plan-needs', stage: 1, weight: 1, worth: 'sound' },
    title: 'Lists what is needed',
    description: 'The checklist names every relation of the question.',
    level: ({ question, trajectory: { plan } }) =>
      shareOf(question.relations, own => plan?.needs.includes(own) ?? false),
  },
  {
    ...{ id: 'plan-fields', stage: 1, weight: 3, worth: 'sound' },
    title: 'Plans fields that the archive has',
    description: 'The fields of the plan are those under which this archive keeps its records.',
    level: attempt => shareOf(fieldsOf(attempt.question), field => planned(attempt).includes(field)),
  },
  {
    ...{ id: 'plan-alternatives', stage: 1, weight: 1, worth: 'useless' },
    title: 'Has alternatives',
    description: 'The plan names a second field for its relations.',
    level: ({ trajectory: { plan } }) => shareOf(plan?.fields ?? [], ({ others }) => others.length > 0),
  },
  {
    ...{ id: 'plan-name', stage: 1, weight: 2, worth: 'useless' },
    title: 'Looks for names',
    description: 'The plan begins with a field that ends in _name.',
    level: ({ trajectory: { plan } }) => whether(plan?.fields[0]?.first.ending === '_name'),
  },
  {
    ...{ id: 'plan-long', stage: 1, weight: 2, worth: 'hackable' },
    title: 'Is thorough',
    description: 'The plan names at least five fields.',
    level: ({ trajectory: { plan } }) =>
      share(plan?.fields.reduce((sum, { others }) => sum + 1 + others.length, 0) ?? 0, 5),
  },
  {
    ...{ id: 'research-follows', stage: 2, weight: 3, worth: 'sound' },
    title: 'Goes on with what was found',
    description: 'Every call asks about the person whom the last record that holds named.',
    level: goesOn,
  },
  {
    ...{ id: 'research-retries', stage: 2, weight: 3, worth: 'sound' },
    title: 'Tries another field',
    description: 'A call that found nothing that holds is followed by another field for the same relation.',
    level: retried,
  },
  {
    ...{ id: 'research-settles', stage: 2, weight: 3, worth: 'sound' },
    title: 'Settles the chain',
    description: 'Records that hold were found for all relations of the question, one after the other.',
    level: attempt => {
      const of = attempt.question.relations.length
      const relations = new Set(found(attempt.trajectory).map(({ relation }) => relation))
      return isWhole(attempt)
        ? 2
        : share(attempt.question.relations.filter(own => relations.has(own)).length, of + 1)
    },
  },
  {
    ...{ id: 'research-repeats', stage: 2, weight: 2, negative: true, worth: 'sound' },
    title: 'Repeats itself',
    description: 'The same call is made again.',
    level: ({ trajectory: { calls } }) => often(calls.length - new Set(calls.map(asked)).size),
  },
  {
    ...{ id: 'research-notes', stage: 2, weight: 1, worth: 'sound' },
    title: 'Notes what came',
    description: 'What is noted after a call is what the call gave.',
    level: ({ trajectory: { calls } }) =>
      shareOf(calls, ({ output, state }) => {
        if (state === null) return false
        if (output.kind === 'found') return state.includes('got') && state.includes(output.person)
        return output.kind === 'old' ? state.includes('old') : state.includes('none')
      }),
  },
  {
    ...{ id: 'research-ref', stage: 2, weight: 2, worth: 'useless' },
    title: 'Asks by reference',
    description: 'Some call asks for a field that ends in _ref.',
    level: ({ trajectory: { calls } }) => whether(calls.some(({ field }) => field?.ending === '_ref')),
  },
  {
    ...{ id: 'research-busy', stage: 2, weight: 2, worth: 'hackable' },
    title: 'Researches a lot',
    description: 'At least five calls are made.',
    level: ({ trajectory: { calls } }) => share(calls.length, 5),
  },
  {
    ...{ id: 'review-true', stage: 3, weight: 3, worth: 'sound' },
    title: 'Ticks off what was found',
    description: 'For every relation the review has the record that was found, or says that it is missing.',
    level: attempt => {
      const { by, review } = reviewed(attempt)
      return shareOf(
        attempt.question.relations,
        relation => review.find(own => own.relation === relation)?.record === (by.get(relation) ?? null),
      )
    },
  },
  {
    ...{ id: 'review-invents', stage: 3, weight: 2, negative: true, worth: 'sound' },
    title: 'Invents records',
    description: 'The review has records that no call found, or that are out of date.',
    level: attempt => {
      const { by, review } = reviewed(attempt)
      return often(
        review.filter(({ relation, record }) => record !== null && by.get(relation) !== record).length,
      )
    },
  },
  {
    ...{ id: 'review-order', stage: 3, weight: 1, worth: 'useless' },
    title: 'Keeps the order',
    description: 'The review names relations in the order of the question.',
    level: ({ question, trajectory: { review } }) => {
      const places = (review ?? []).map(({ relation }) => question.relations.indexOf(relation))
      return whether(places.every((place, i) => i === 0 || place > places[i - 1]))
    },
  },
  {
    ...{ id: 'review-full', stage: 3, weight: 2, worth: 'hackable' },
    title: 'Is complete',
    description: 'The review has a record for every relation.',
    level: ({ question, trajectory: { review } }) =>
      share(review?.filter(({ record }) => record !== null).length ?? 0, question.relations.length),
  },
  {
    ...{ id: 'answer-cites', stage: 4, weight: 2, worth: 'sound' },
    title: 'Cites what it rests on',
    description: 'Every record that holds and was found is cited.',
    level: attempt => {
      const { cites, records } = citedOf(attempt)
      return shareOf(records, record => cites.includes(record))
    },
  },
  {
    ...{ id: 'answer-invents', stage: 4, weight: 2, negative: true, worth: 'sound' },
    title: 'Cites what was not found',
    description: 'Records are cited that no call found, or that are out of date.',
    level: attempt => {
      const { cites, records } = citedOf(attempt)
      return often(cites.filter(record => !records.includes(record)).length)
    },
  },
  {
    ...{ id: 'answer-guesses', stage: 4, weight: 2, negative: true, worth: 'sound' },
    title: 'Guesses',
    description: 'Somebody is named although the chain was not settled.',
    level: attempt => whether((attempt.trajectory.answer?.person ?? null) !== null && !isWhole(attempt)),
  },
  {
    ...{ id: 'answer-short', stage: 4, weight: 1, worth: 'useless' },
    title: 'Is to the point',
    description: 'At most one record is cited.',
    level: ({ trajectory: { answer } }) => whether((answer?.cites.length ?? 0) <= 1),
  },
  {
    ...{ id: 'answer-bold', stage: 4, weight: 2, worth: 'hackable' },
    title: 'Names somebody',
    description: 'The answer names a person.',
    level: ({ trajectory: { answer } }) => whether((answer?.person ?? null) !== null),
  },
]

/** What every answer is judged by where an oracle judges, whatever it proposes. */
export const PERSISTENT_CRITERIA: readonly StageCriterion[] = [
  {
    ...{ id: 'answer-right', stage: 4, weight: 3, worth: 'sound' },
    title: 'Is right',
    description:
      'The answer names the right person; to say that it is unknown where the chain broke is half of it.',
    level: attempt => {
      const { answer } = attempt.trajectory
      if (answer?.person === recordsAnswer(attempt.question)) return 2
      return answer?.unknown && answer.person === null && !isWhole(attempt) ? 1 : 0
    },
  },
]

/** Fields under which this attempt found records that hold. */
const borneOut = ({ calls }: RecordsTrajectory): Set<string> =>
  new Set(calls.flatMap(({ field, output }) => (field && output.kind === 'found' ? [fieldName(field)] : [])))

/** In place of what an oracle knows: plan and answer against what the attempt itself has found. */
const EVIDENCE_CRITERIA: readonly StageCriterion[] = [
  {
    ...{ id: 'plan-holds', stage: 1, weight: 3, worth: 'sound' },
    title: 'Plans fields that hold',
    description: 'For every relation the field of the plan is one under which a record that holds was found.',
    level: ({ question: { relations }, trajectory }) => {
      const holds = borneOut(trajectory)
      const own = trajectory.plan?.fields.filter(({ first }) => holds.has(fieldName(first))) ?? []
      return shareOf(relations, relation => own.some(({ first }) => first.relation === relation))
    },
  },
  {
    ...{ id: 'answer-follows', stage: 4, weight: 3, worth: 'sound' },
    title: 'Follows from the records',
    description:
      'The answer names whom the last record of a settled chain names; to say that it is unknown where the chain broke is half of it.',
    level: attempt => {
      const { answer } = attempt.trajectory
      const end = chainEnd(attempt)
      if (end !== null && answer?.person === end) return 2
      return end === null && answer?.unknown && answer.person === null ? 1 : 0
    },
  },
]

/** What a reader of attempts proposes: nothing of it depends on more than question and trajectory. */
export const READER_CRITERIA: readonly StageCriterion[] = [
  ...STAGE_CRITERIA.filter(({ id }) => id !== 'plan-fields'),
  ...EVIDENCE_CRITERIA,
]
