/** @file The thinking rubric of a run: from nothing to the best that can be known, made once and kept in the run's folder. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rubricFromBank } from '../../grade/author/index.ts'
import type { Policy } from '../../policy/policy.ts'
import { parseRubric, type Rubric } from '../../rubric/criterion.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { lintRubric } from '../../rubric/lint.ts'
import type { ThoughtItem } from '../../tasks/thinking.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { ConfigError, DataError } from '../../util/errors.ts'
import { resolveShipped } from '../../util/package.ts'
import { Rng } from '../../util/rng.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import { samplingOf } from '../common/training.ts'
import type { RitConfig } from './config.ts'
import type { RitTask } from './task.ts'

/** In the run's folder, in the native format of rubric files. */
export const RUBRIC_FILE = 'thinking-rubric.json'

const EMPTY: Rubric = { id: 'none', criteria: [] }

/**
 * The rubric by which training judges thinking. What is authored is authored once: a resumed run reads what it was.
 * @param policy as the run starts: its responses are the traces that a rubric is authored from
 * @param dir folder of the run
 * @throws ConfigError, DataError for a source that the task does not have, and a file that cannot be used
 */
export const thinkingRubric = async <Problem>(
  config: RitConfig,
  kit: RitTask<Problem>,
  policy: Policy,
  dir: string,
): Promise<Rubric> => {
  const path = join(dir, RUBRIC_FILE)
  if (existsSync(path)) return readKept(path)
  const rubric: Rubric = { ...(await makeRubric(config, kit, policy)), about: 'thinking' }
  writeFileAtomic(path, `${JSON.stringify(rubric, null, 2)}\n`)
  return rubric
}

const readKept = (path: string): Rubric => {
  try {
    return parseRubric(JSON.parse(readFileSync(path, 'utf8')), path)
  } catch (error) {
    if (error instanceof DataError) throw error
    throw new DataError(`${path}: expected a rubric as JSON (${(error as Error).message})`)
  }
}

/** @throws ConfigError, DataError */
export const fileRubric = (path: string): Rubric => {
  const { items } = readRubricFile(resolveShipped(path))
  if (items.length !== 1)
    throw new ConfigError(
      `rubric.file: ${path}: expected one rubric for the thinking of all questions, got ${items.length}`,
      { hint: 'keep one rubric in the file' },
    )
  const { rubric } = items[0]
  const wrong = lintRubric(rubric, { thinking: true }).find(
    ({ rule, severity }) => rule === 'about-answer' && severity === 'error',
  )
  if (wrong)
    throw new ConfigError(`rubric.file: ${path}: ${wrong.message}`, {
      hint: wrong.fix ?? 'leave it to the rubric of the answer',
    })
  return rubric
}

/** @throws ConfigError for a source that the task does not have */
export const checkRubricSource = (
  { rubric: { source, file } }: Pick<RitConfig, 'rubric'>,
  kit: Pick<RitTask<never>, 'oracle' | 'bank'>,
): void => {
  const lacks = (what: string) => {
    throw new ConfigError(`rubric.source: expected ${what} for "${source}", got none`, {
      hint: 'write a rubric, or have one written by `gradus rubric generate`, and name it in rubric.file',
    })
  }
  if (source === 'file' && file === null) lacks('rubric.file')
  if (source !== 'file' && file !== null)
    throw new ConfigError(`rubric.file: expected nothing with rubric.source "${source}", got ${file}`, {
      hint: 'set rubric.source to "file", or rubric.file to null',
    })
  if (source === 'oracle' && !kit.oracle) lacks('a task whose good thinking is known')
  if (['random', 'initial', 'refined'].includes(source) && kit.bank.length === 0)
    lacks('a task with a bank of criteria')
}

const makeRubric = async <Problem>(
  config: RitConfig,
  kit: RitTask<Problem>,
  policy: Policy,
): Promise<Rubric> => {
  const { source, criteria, file } = config.rubric
  switch (source) {
    case 'none':
      return EMPTY
    case 'oracle':
      return kit.oracle!
    case 'file':
      return fileRubric(file!)
    case 'random':
      return {
        id: 'random',
        criteria: new Rng(`random rubric/${config.seed}`).sample(
          kit.bank,
          Math.min(criteria, kit.bank.length),
        ),
      }
    default:
      return authored(config, kit, policy)
  }
}

/** A rubric from the bank, by what tells good traces from poor ones (spec 3.2). */
const authored = async <Problem>(
  config: RitConfig,
  kit: RitTask<Problem>,
  policy: Policy,
): Promise<Rubric> => {
  const { source, criteria, rounds, traces } = config.rubric
  const refined = source === 'refined'
  const pairs = await tracePairs(config, kit, policy, refined ? traces.refined : traces.initial)
  const items = pairs.flatMap(({ good, poor }) => [good, poor])
  const rubric: Rubric = { criteria: [...kit.bank] }
  const verdicts = await kit.verifier.verify(items.map(item => ({ ...item, rubric })))
  const bank = kit.bank.map((criterion, k) => ({
    ...criterion,
    met: verdicts.map(own => own[k]?.met ?? null),
  }))
  const { rubric: written } = rubricFromBank(
    bank,
    items.map((_, i) => i % 2 === 0),
    { propose: refined ? 4 : criteria, maxCriteria: criteria, rounds: refined ? rounds : 0 },
  )
  return { id: source, criteria: written.criteria }
}

interface TracePair<Problem> {
  good: ThoughtItem<Problem>
  poor: ThoughtItem<Problem>
  gap: number
}

/** Responses of the start to a problem each: its best and its worst, of the problems where they are furthest apart. */
const tracePairs = async <Problem>(
  config: RitConfig,
  { task, train, orderLabel }: RitTask<Problem>,
  policy: Policy,
  count: number,
): Promise<TracePair<Problem>[]> => {
  const order = shuffledPasses(train, `${orderLabel}/${config.seed}/traces`)
  const problems = Array.from({ length: Math.min(config.rubric.problems, train.length) }, (_, i) => order(i))
  const samples = Math.max(2, config.rollout.samples)
  const drawn = await policy.sample({
    ...samplingOf(config, task.stopTokens),
    prompts: problems.map(problem => task.prompt(problem)),
    samplesPerPrompt: samples,
    seed: `${config.seed}/traces`,
  })
  const items = drawn.map(({ prompt, tokens }) => ({
    problem: problems[prompt],
    response: task.read(tokens),
  }))
  const grades = await task.gradeAnswers(items)
  const pairs = problems.flatMap((_, p): TracePair<Problem>[] => {
    const own = items
      .map((item, i) => ({ item, score: grades[i].score }))
      .slice(p * samples, (p + 1) * samples)
      .filter(({ score }) => score !== null)
      .sort((a, b) => b.score! - a.score!)
    const [best, worst] = [own[0], own.at(-1)]
    return best && worst && best.score! > worst.score!
      ? [{ good: best.item, poor: worst.item, gap: best.score! - worst.score! }]
      : []
  })
  if (pairs.length === 0)
    throw new DataError(
      `rubric.source: expected good and poor traces of the start, got ${problems.length} problems whose ${samples} responses are all alike`,
      { hint: 'raise rubric.problems or rollout.samples, or name a rubric in rubric.file' },
    )
  return pairs.sort((a, b) => b.gap - a.gap).slice(0, count)
}
