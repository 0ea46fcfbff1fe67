/** @file Prompts of the records task as tokens, and what the small model wrote as text. */

import { type RecordsReflection, shownReflection } from './lessons.ts'
import { encodeRecords, RECORDS_TOKENS, recordsToken, TAGS } from './vocabulary.ts'
import { type Archive, archiveName, type RecordsQuestion } from './world.ts'

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
