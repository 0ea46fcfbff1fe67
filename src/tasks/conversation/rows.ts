/** @file Conversations with rubrics from files: read, checked, split into those to train on and those to test on. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import { needsJudge, validateVerifiers } from '../../grade/rubric-grader.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { type RubricItem, readRubricFile } from '../../rubric/formats/index.ts'
import type { Columns } from '../../util/column-names.ts'
import { countEach } from '../../util/descriptive.ts'
import { ConfigError, DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { ConversationFiles } from './settings.ts'

/** A row: what was said, and what a good answer is. */
export interface ConversationRow {
  id: string
  messages: readonly ChatMessage[]
  rubric: Rubric
  reference?: string
  /** Ids of criteria that the author of the row gave. */
  named?: readonly string[]
}

const NO_PROMPT =
  'each row needs a prompt: {"prompt": "...", "criteria": [{"id": "short", "text": "...", "points": 1}]}; docs/howto/train-on-your-own.md shows every form'

/** The criteria of every row before those of its own. @throws DataError for an id that both have */
const withShared = (shared: Rubric | null, { rubric }: RubricItem, place: string): Rubric => {
  if (shared === null) return rubric
  const taken = rubric.criteria.find(({ id }) => shared.criteria.some(known => known.id === id))
  if (taken)
    throw new DataError(
      `${place}: criteria: expected ids other than those of the rubric for all rows, got ${JSON.stringify(taken.id)} again`,
      { hint: 'give it another id, or take it out of one of the two' },
    )
  if (rubric.tree || (shared.tree && rubric.criteria.length > 0))
    throw new DataError(`${place}: rubric: expected no tree beside a rubric for all rows`, {
      hint: 'write its criteria as a list, or take task.rubric out',
    })
  return { ...shared, criteria: [...shared.criteria, ...rubric.criteria] }
}

/**
 * Rows of a file whose items have prompts.
 * @param shared rubric of all rows, as `sharedRubric` reads and checks it; those that have criteria of their own have both
 * @throws DataError for an item without a prompt or without criteria, and for a verifier that does not exist
 */
export const readConversations = (
  path: string,
  shared: Rubric | null = null,
  columns?: Columns,
): ConversationRow[] =>
  readRubricFile(path, { promptsAlone: true, ...(columns && { columns }) }).items.map(item => {
    const { id, prompt, reference } = item
    const place = `${path}: item ${id}`
    if (!prompt || prompt.length === 0)
      throw new DataError(`${place}: expected a conversation to answer, got no prompt`, { hint: NO_PROMPT })
    const rubric = withShared(shared, item, place)
    if (shared === null && item.source === undefined && rubric.criteria.length === 0)
      throw new DataError(`${place}: expected criteria, got a prompt alone`, {
        hint: 'give the row criteria, or name a rubric for all rows: task.rubric of a training, --rubric of a command',
      })
    validateVerifiers(item.rubric, place)
    const messages = prompt.map(({ role, content }) => ({ role, content }))
    return {
      ...{ id, messages, rubric },
      ...(reference !== undefined && { reference }),
      named: namedCriteria(item, shared),
    }
  })

/** Ids that people gave; formats of others name criteria by their place in a row. */
const namedCriteria = ({ source, rubric }: RubricItem, shared: Rubric | null): string[] => [
  ...(shared?.criteria.map(({ id }) => id) ?? []),
  ...rubric.criteria.flatMap(({ id, title }) => (source === undefined || title !== undefined ? [id] : [])),
]

/**
 * The rubric for all rows, where a task names one.
 * @throws DataError for a file that holds none, or more than one, and for a verifier that does not exist
 */
export const sharedRubric = ({ rubric: path = null }: { rubric?: string | null }): Rubric | null => {
  if (path === null) return null
  const { items } = readRubricFile(path)
  if (items.length !== 1)
    throw new DataError(`${path}: expected one rubric for all rows, got ${items.length}`, {
      hint: 'name a file with one list of criteria; rubrics by row belong into task.file',
    })
  const [{ rubric }] = items
  validateVerifiers(rubric, path)
  return rubric
}

export interface ConversationSplit {
  train: ConversationRow[]
  test: ConversationRow[]
  /** Training rows left out because the same conversation is among the test rows. */
  repeated: number
  /** Criteria that statistics call by their ids; the others count by category. */
  named: ReadonlySet<string>
}

/** Most criteria that statistics tell apart: more are no names but numbers. */
const MOST_NAMED = 64

/** Ids that more than one row has. None where they are too many to be read. */
export const namesOf = (rows: readonly ConversationRow[]): ReadonlySet<string> => {
  const counts = countEach(rows.flatMap(({ named = [] }) => [...named]))
  const shared = [...counts].filter(([, count]) => count > 1).map(([id]) => id)
  return new Set(shared.length <= MOST_NAMED ? shared : [])
}

/** Equal for prompts that say the same: files differ in blanks at the ends and in further keys. */
export const promptKey = (prompt: readonly ChatMessage[]): string =>
  JSON.stringify(prompt.map(({ role, content }) => [role, content.trim()]))

const said = ({ messages }: ConversationRow): string => JSON.stringify(messages)

/**
 * Rows to train on and to test on: by a shuffle that depends on the file's rows alone, so that every seed and every arm has
 * the same test rows. No conversation is on both sides.
 * @throws ConfigError for no file, and when nothing is left to train on or to test on
 */
export const splitConversations = (task: ConversationFiles): ConversationSplit => {
  if (task.file === null)
    throw new ConfigError('task.file: expected the file of the conversations, got nothing', {
      hint: 'name a file of rows {prompt, criteria}, or of HealthBench',
    })
  const shared = sharedRubric(task)
  const rows = readConversations(task.file, shared, task.columns)
  const shuffled = new Rng('conversations split').shuffle(rows)
  const holdOut = task.holdOut ?? 0
  const test =
    task.testFile === null
      ? shuffled.slice(0, holdOut)
      : readConversations(task.testFile, shared, task.columns)
  const tested = new Set(test.map(said))
  const rest = task.testFile === null ? shuffled.slice(holdOut) : shuffled
  const train = rest.filter(row => !tested.has(said(row)))
  if (train.length === 0 || test.length === 0)
    throw new ConfigError(
      `task.${task.testFile === null ? 'holdOut' : 'testFile'}: expected rows on both sides, got ${train.length} to train on and ${test.length} to test on from ${rows.length}`,
      { hint: 'hold out fewer rows, or name another file' },
    )
  return { train, test, repeated: rest.length - train.length, named: namesOf([...train, ...test]) }
}

/** Whether any criterion of any row needs a judge. */
export const needJudge = (rows: readonly ConversationRow[]): boolean =>
  rows.some(({ rubric }) => needsJudge(rubric))
