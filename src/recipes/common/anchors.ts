/** @file Anchors of a run: read from a file, or made of the starting policy's answers and kept in the run's folder. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Task } from '../../tasks/task.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError, GradusError } from '../../util/errors.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { type AnchorRow, type AnchorSettings, readAnchorFile } from './anchors-config.ts'
import type { ProblemStream } from './problem-order.ts'

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

/** In the run's folder: anchors that were made, so that a resumed run has the same. */
const FILE = 'anchors.jsonl'

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
  const path = join(dir, FILE)
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
