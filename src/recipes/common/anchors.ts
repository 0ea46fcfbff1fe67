/** @file Anchors, labelled answers that proposed criteria have to tell apart: settings, check, words for a plan; read from a file, or made of the starting policy and kept in the run. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { chanceOfAdmission } from '../../grade/anchors.ts'
import type { Task } from '../../tasks/task.ts'
import { orAbsent } from '../../train/config.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError, GradusError } from '../../util/errors.ts'
import { formatInteger, percent, plural } from '../../util/format.ts'
import { jsonlLines, parseRow, readJsonl } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { MADE_ONCE } from './deciding.ts'
import type { ProblemStream } from './problem-order.ts'
import { mayBeMissing, type RunMode, refuse } from './refuse.ts'

const anchorsSchema = z.strictObject({
  file: orAbsent(
    z.string().min(1),
    'File of labelled answers: rows {prompt, response, good}. A question may occur several times.',
  ),
  start: orAbsent(
    z.int().min(2).max(1000).multipleOf(2),
    "In place of a file: number of answers of the starting policy to training questions, a right and a wrong one for each question. The task must know the right answers. They are kept in the run's `anchors.jsonl`.",
  ),
  minAgreement: z
    .number()
    .gt(0.5)
    .max(1)
    .default(0.7)
    .describe(
      'Least balanced accuracy of a criterion: the mean of the share of good answers that earn it and the share of bad ones that do not. A criterion that all answers meet has 0.5.',
    ),
})
export type AnchorSettings = z.output<typeof anchorsSchema>

/** The setting of a recipe whose criteria are proposed while it trains. */
export const anchorsSetting = orAbsent(
  anchorsSchema,
  'Labelled answers that a proposed criterion must tell apart before it counts (arXiv 2610.11464); absent: none.',
)

interface WithAnchors {
  anchors?: AnchorSettings
}

const text = z.string().refine(value => value.trim() !== '', 'text; write something')
const rowSchema = z.object({ prompt: text, response: text, good: z.boolean() })
export type AnchorRow = z.output<typeof rowSchema>

/** @throws DataError for an answer with two labels: whatever a criterion says of it, it is wrong once */
const refuseContradictions = (rows: readonly AnchorRow[], places: readonly string[]): void => {
  const known = new Map<string, number>()
  for (const [i, { prompt, response, good }] of rows.entries()) {
    const name = JSON.stringify([prompt.trim(), response.trim()])
    const first = known.get(name) ?? i
    known.set(name, first)
    if (rows[first].good !== good)
      throw new DataError(
        `${places[i]}: good: expected ${!good}, as ${places[first]} says of the same answer, got ${good}`,
        { hint: 'keep one of the two' },
      )
  }
}

/** @throws DataError naming file and line of what cannot be used, and for a file with answers of one kind alone */
const readAnchorFile = (path: string): AnchorRow[] => {
  const lines = jsonlLines(path)
  const rows = lines.map(({ text, place }) =>
    parseRow(text, place, row => parseWith(rowSchema, row, '', DataError)),
  )
  refuseContradictions(
    rows,
    lines.map(({ place }) => place),
  )
  for (const side of [true, false])
    if (!rows.some(({ good }) => good === side))
      throw new DataError(
        `${path}: expected good answers and bad ones, got ${plural(rows.length, 'row')}, none with good ${side}`,
        { hint: 'label some of either kind: {"prompt": ..., "response": ..., "good": true or false}' },
      )
  return rows
}

/**
 * The rows of the file, where one is named that is there.
 * @param task `proposes`: whether criteria are proposed at all; `madeUp`: questions are made up while training, so that no text of one
 * can be judged
 * @throws ConfigError for settings that name no anchors, or two kinds; DataError for a file that cannot be used
 */
export const checkAnchors = (
  { anchors }: WithAnchors,
  { proposes, madeUp }: { proposes: boolean; madeUp: boolean },
  purpose: RunMode,
): readonly AnchorRow[] => {
  if (anchors === undefined) return []
  const { file, start } = anchors
  if (!proposes)
    refuse('anchors: expected nothing where no criterion is proposed, got settings', 'leave anchors out')
  if ((file === undefined) === (start === undefined))
    refuse(
      `anchors: expected either file or start, got ${file === undefined ? 'neither' : 'both'}`,
      'name a file of {prompt, response, good}, or set start to a number of answers that are made of the starting policy',
    )
  if (file !== undefined && madeUp)
    refuse(
      'anchors.file: expected nothing with a task whose questions are made up while it trains, got a file',
      'set anchors.start in its place, for example to 10',
    )
  return file === undefined || mayBeMissing(file, purpose) ? [] : readAnchorFile(file)
}

/** Criteria that one call is asked about at most: as many as a rubric has by default. */
export const TRIED_TOGETHER = 15

/** For a plan: how many anchors there are at most, ten where their file comes later. */
export const anchorCount = ({ anchors }: WithAnchors, rows: readonly AnchorRow[]): number => {
  if (anchors === undefined) return 0
  return anchors.start ?? (rows.length === 0 ? 10 : rows.length)
}

/**
 * For a plan: what anchors there are, and what a criterion needs; none without.
 * @param calls of the judge: how many a question, and a step, at most
 */
export const anchorLines = (
  settings: WithAnchors,
  rows: readonly AnchorRow[],
  calls: { question: number; step: number },
): string[] => {
  const { anchors } = settings
  if (anchors === undefined) return []
  const { file, minAgreement } = anchors
  const count = anchorCount(settings, rows)
  const good = rows.length === 0 ? count / 2 : rows.filter(own => own.good).length
  const from =
    file === undefined
      ? `${count} answers of the start, half of them right`
      : rows.length === 0
        ? `${file} (not there yet: ten answers are assumed)`
        : `${good} good and ${count - good} bad answers of ${file}`
  const chance = percent(chanceOfAdmission(good, count - good, minAgreement))
  return [
    `anchors      ${from}; criteria count from an agreement of ${percent(minAgreement)} on: one that is always met has 50%, one whose verdicts are coin tosses is admitted in ${chance} of cases`,
    `             at most ${formatInteger(calls.question)} calls a question besides, ${formatInteger(calls.step)} a step`,
  ]
}

/** A labelled answer as a judge is shown it. */
interface Anchor<Problem, Shown> {
  problem: Problem
  shown: Shown
  good: boolean
}

export interface Anchors<Problem, Shown> {
  minAgreement: number
  /** Those that criteria about a problem are tried on. */
  of(problem: Problem): readonly Anchor<Problem, Shown>[]
}

/** An answer of the starting policy. */
interface StartAnswer<Shown> {
  response: string
  shown: Shown
  /** Null where nobody knows. */
  right: boolean | null
}

interface AnchorSource<Problem, Shown> {
  task: Pick<Task<Problem>, 'question' | 'fromQuestion'>
  /** Training problems. */
  problem: ProblemStream<Problem>
  /** A response of a file as the judge is to see it. */
  read(problem: Problem, response: string, name: string): Shown
  /** What `shown` of the run's own file has to be. */
  shown: z.ZodType<Shown>
  /** Answers of the starting policy, by problem. @param round names what is drawn */
  answers(problems: readonly Problem[], round: number): Promise<StartAnswer<Shown>[][]>
}

/** Answers of either kind to a question from which on those to others do not count. */
const ENOUGH = 3

/**
 * The anchors of a run; undefined without the setting. The policy must still be the one that the run starts from.
 * @throws DataError for a file that cannot be used, GradusError where the start is nearly always right, or wrong
 */
export const openAnchors = async <Problem, Shown>(
  { anchors: settings }: { anchors?: AnchorSettings },
  dir: string,
  source: AnchorSource<Problem, Shown>,
): Promise<Anchors<Problem, Shown> | undefined> => {
  if (settings === undefined) return undefined
  const { task, read, problem: problemAt } = source
  const { file, start, minAgreement } = settings
  const anchors =
    file === undefined
      ? (await madeAnchors(start!, dir, source)).map(({ problem, shown, good }) => ({
          ...{ problem: problemAt(problem), shown, good },
        }))
      : readAnchorFile(file).map(({ prompt, response, good }, i) => {
          const problem = task.fromQuestion!(prompt)
          return { problem, shown: read(problem, response, `anchor ${i + 1}`), good }
        })
  const asked = anchors.map(({ problem }) => task.question(problem))
  const isEnough = (own: typeof anchors) =>
    [true, false].every(side => own.filter(({ good }) => good === side).length >= ENOUGH)
  return {
    minAgreement,
    of: problem => {
      const question = task.question(problem)
      const own = anchors.filter((_, i) => asked[i] === question)
      return isEnough(own) ? own : anchors
    },
  }
}

/** A row of the run's own file: a label with the number of its problem in the stream of training. */
interface MadeRow<Shown> extends AnchorRow {
  problem: number
  shown: Shown
}

const madeAnchors = async <Problem, Shown>(
  count: number,
  dir: string,
  source: AnchorSource<Problem, Shown>,
): Promise<MadeRow<Shown>[]> => {
  const path = join(dir, MADE_ONCE.anchors)
  const { shown } = source
  const schema = z.object({
    ...{ prompt: z.string(), response: z.string(), good: z.boolean() },
    problem: z.int(),
    shown,
  })
  if (existsSync(path)) {
    const kept = readJsonl(path, row => parseWith(schema, row, '', DataError) as MadeRow<Shown>)
    const good = kept.filter(own => own.good).length
    if (kept.length === count && 2 * good === count) return kept
    throw new DataError(
      `${path}: expected ${count} answers, half of them good, as the run has made them, got ${kept.length} with ${good} good`,
      {
        hint: 'put the file back as it was, or begin a new run: the policy is no longer the one that it was made of',
      },
    )
  }
  const rows = await makeAnchors(count / 2, source)
  writeFileAtomic(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return rows
}

/** Problems that are asked together, and rounds after which it is given up. */
const ASKED = 16
const ROUNDS = 16

/** A right and a wrong answer to each of so many questions, so that hard questions do not count as a cause. */
const makeAnchors = async <Problem, Shown>(
  pairs: number,
  { task, problem: problemAt, answers }: AnchorSource<Problem, Shown>,
): Promise<MadeRow<Shown>[]> => {
  const rows: MadeRow<Shown>[] = []
  const seen = new Set<string>()
  for (let round = 0; round < ROUNDS && rows.length < 2 * pairs; round++) {
    const numbers = Array.from({ length: ASKED }, (_, i) => round * ASKED + i)
    const problems = numbers.map(problemAt)
    const answers_P = await answers(problems, round)
    for (const [p, problem] of problems.entries()) {
      const prompt = task.question(problem)
      const pair = [true, false].map(good => answers_P[p].find(({ right }) => right === good))
      if (rows.length === 2 * pairs || seen.has(prompt) || pair.includes(undefined)) continue
      seen.add(prompt)
      for (const { response, shown, right } of pair as StartAnswer<Shown>[])
        rows.push({ prompt, response, good: right!, problem: numbers[p], shown })
    }
  }
  if (rows.length === 2 * pairs) return rows
  throw new GradusError(
    `anchors.start: expected ${pairs} questions that the starting policy answers right and wrong, got ${rows.length / 2} among ${ROUNDS * ASKED}`,
    { hint: 'lower anchors.start, start from another policy, or name a file of labelled answers' },
  )
}
