/** @file Lessons: what a reflection says about an archive and about how to work, as text, and how much of it is true. */

import { Rng } from '../../util/rng.ts'
import { type Attempt, chainEnd } from './stage-criteria.ts'
import type { Output } from './trajectory.ts'
import { ADVICE, type Advice, encodeRecords, RECORDS_TOKENS, recordsToken, TAGS } from './vocabulary.ts'
import {
  type Archive,
  archiveName,
  ENDINGS,
  type Ending,
  endingOf,
  type Field,
  fieldName,
  PEOPLE,
  RELATIONS,
  type RecordsQuestion,
  type Relation,
  recordsAnswer,
} from './world.ts'

/** What is worth knowing next time: which field an archive uses, which it does not, or (worth nothing elsewhere) an answer. */
export type Lesson =
  | { kind: 'use'; field: Field }
  | { kind: 'not'; field: Field }
  | { kind: 'answer'; person: string }

/** What a reflection says. */
export interface RecordsReflection {
  advice: readonly Advice[]
  lessons: readonly Lesson[]
}

/** As many lessons as a reflection may give. */
export const MOST_LESSONS = 4

const lessonText = (lesson: Lesson): string =>
  lesson.kind === 'answer' ? ` answer ${lesson.person}` : ` ${lesson.kind} ${fieldName(lesson.field)}`

const adviceText = (advice: readonly Advice[]): string => advice.map(name => ` ${ADVICE[name]};`).join('')

/** The two blocks of a reflection. */
export const reflectionText = ({ advice, lessons }: RecordsReflection): string =>
  `${TAGS.rubrics}${adviceText(advice)}${TAGS.rubricsEnd}${TAGS.takeaways}${lessons.map(lessonText).join('')}${TAGS.takeawaysEnd}`

/** What an agent is shown of one, before its question. */
const shownReflection = (archive: Archive, { advice, lessons }: RecordsReflection): string =>
  `${TAGS.reference} ${archiveName(archive)}${adviceText(advice)}${lessons.map(lessonText).join('')}${TAGS.referenceEnd}`

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
const oneOf = (words: readonly string[]) => `(?:${words.map(escaped).join('|')})`
const LESSON = new RegExp(
  ` (use|not) (${oneOf(RELATIONS)})(${oneOf(ENDINGS)})| (answer) (${oneOf(PEOPLE)})`,
  'y',
)
const ADVICE_BY_TEXT = new Map<string, Advice>(
  Object.entries(ADVICE).map(([name, text]) => [text, name as Advice]),
)

const readLessons = (text: string): Lesson[] | null => {
  const lessons: Lesson[] = []
  for (let at = 0; at < text.length; at = LESSON.lastIndex) {
    LESSON.lastIndex = at
    const found = LESSON.exec(text)
    if (!found) return null
    const [, kind, relation, ending, , person] = found
    lessons.push(
      person === undefined
        ? {
            kind: kind as 'use' | 'not',
            field: { relation: relation as Relation, ending: ending as Ending },
          }
        : { kind: 'answer', person },
    )
  }
  return lessons
}

const readAdvice = (text: string): Advice[] | null => {
  const found = text.split(';').map(part => part.trim())
  if (found.pop() !== '') return null
  const advice = found.map(part => ADVICE_BY_TEXT.get(part))
  return advice.every(one => one !== undefined) ? advice : null
}

/**
 * Reads a reflection: exactly two blocks, with one to four lessons; null for anything else.
 * @param text what the reflector wrote
 */
export const readRecordsReflection = (text: string): RecordsReflection | null => {
  const { rubrics, rubricsEnd, takeaways, takeawaysEnd } = TAGS
  const middle = `${rubricsEnd}${takeaways}`
  if (!text.startsWith(rubrics) || !text.endsWith(takeawaysEnd)) return null
  const parts = text.slice(rubrics.length, text.length - takeawaysEnd.length).split(middle)
  if (parts.length !== 2) return null
  const advice = readAdvice(parts[0])
  const lessons = readLessons(parts[1])
  if (advice === null || lessons === null) return null
  return lessons.length >= 1 && lessons.length <= MOST_LESSONS ? { advice, lessons } : null
}

export const isTrueLesson = (lesson: Lesson, question: RecordsQuestion): boolean => {
  if (lesson.kind === 'answer') return lesson.person === recordsAnswer(question)
  const { relation, ending } = lesson.field
  return (lesson.kind === 'use') === (endingOf(question.archive, relation) === ending)
}

/** Whether an attempt shows it: a record that holds under this field, or none; the person whom a settled chain ends with. */
export const isBorneOut = (lesson: Lesson, attempt: Attempt): boolean => {
  if (lesson.kind === 'answer') return lesson.person === chainEnd(attempt)
  const wanted: readonly Output['kind'][] = lesson.kind === 'use' ? ['found'] : ['none', 'old']
  return attempt.trajectory.calls.some(
    ({ field, output }) =>
      field !== null && fieldName(field) === fieldName(lesson.field) && wanted.includes(output.kind),
  )
}

/** Advice that makes attempts better; the rest makes them longer, or bolder. */
export const GOOD_ADVICE: readonly Advice[] = [
  'complete',
  'retry',
  'fresh',
  'follow',
  'tick',
  'cite',
  'honest',
]

/** What a judge of reflections scores, each in [0, 1] (definition d62). */
export interface Usefulness {
  diagnosticAccuracy: number
  specificity: number
  scopeAndBalance: number
}

/** Lessons that say the same again are worth nothing. */
const distinct = (lessons: readonly Lesson[]) => new Set(lessons.map(lessonText)).size

/**
 * How useful a reflection is: what of it is true; how much of this question's chain it settles; and how much of it holds for
 * other questions too.
 * @param holds who says which lessons are true; default: the archive itself
 */
export const usefulnessOf = (
  { advice, lessons }: RecordsReflection,
  question: RecordsQuestion,
  holds: (lesson: Lesson) => boolean = lesson => isTrueLesson(lesson, question),
): Usefulness => {
  const good = advice.filter(name => GOOD_ADVICE.includes(name)).length
  const right = lessons.filter(holds).length
  const settled = question.relations.filter(relation =>
    lessons.some(lesson => lesson.kind === 'use' && lesson.field.relation === relation && holds(lesson)),
  )
  const portable = lessons.filter(({ kind }) => kind !== 'answer').length
  return {
    diagnosticAccuracy: (good + right) / (advice.length + lessons.length),
    specificity: settled.length / question.relations.length,
    scopeAndBalance: (portable / lessons.length) * (distinct(lessons) / lessons.length),
  }
}

/** A reflection of the same make about nothing: as many of everything, each of its statements drawn at random (placebo). */
export const placeboOf = ({ advice, lessons }: RecordsReflection, key: string): RecordsReflection => {
  const rng = new Rng(`placebo/${key}`)
  const field = (): Field => ({ relation: rng.pick(RELATIONS), ending: rng.pick(ENDINGS) })
  return {
    advice: rng.sample(Object.keys(ADVICE) as Advice[], advice.length),
    lessons: lessons.map(
      ({ kind }): Lesson =>
        kind === 'answer' ? { kind, person: rng.pick(PEOPLE) } : { kind, field: field() },
    ),
  }
}

/** What memory gives an agent: a reflection, and the archive that it is about. */
export interface Reference {
  archive: Archive
  reflection: RecordsReflection
}

const questionLine = ({ archive, person, relations }: RecordsQuestion): string =>
  `${TAGS.question} ${archiveName(archive)} ${person} ${relations.join(' ')}${TAGS.questionEnd}`

/** `<bos> [references] question`: the agent goes on from here. */
export const agentPrompt = (question: RecordsQuestion, references: readonly Reference[] = []): number[] => [
  RECORDS_TOKENS.bos,
  ...references.flatMap(({ archive, reflection }) => encodeRecords(shownReflection(archive, reflection))),
  ...encodeRecords(questionLine(question)),
]

/** The question and an attempt at it, and the tag that asks for a reflection. */
export const reflectorPrompt = (question: RecordsQuestion, attempt: ArrayLike<number>): number[] => [
  ...agentPrompt(question),
  ...Array.from(attempt),
  recordsToken(TAGS.reflect),
]
