/** @file The thinking rubrics of a run: from nothing to the best that can be known, made once and kept in the run's folder. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { rubricFromBank } from '../../grade/author/index.ts'
import { validateRules } from '../../grade/rules/index.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { type RubricItem, readRubricFile, writeRubricFile } from '../../rubric/formats/index.ts'
import { lintRubric } from '../../rubric/lint.ts'
import type { ThinkingTask } from '../../tasks/scored-response.ts'
import type { Task } from '../../tasks/task.ts'
import type { Thinking, ThoughtItem } from '../../tasks/thinking.ts'
import { ConfigError, DataError } from '../../util/errors.ts'
import { resolveShipped } from '../../util/package.ts'
import { Rng } from '../../util/rng.ts'
import { drawAnswers, gradeSamples } from '../common/answers.ts'
import { MADE_ONCE } from '../common/deciding.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import { samplingOf } from '../common/training.ts'
import type { RitConfig } from './config.ts'
import { hasRule, type RitTask } from './tasks.ts'

const EMPTY: Rubric = { id: 'none', criteria: [] }

/** The rubrics by which training judges thinking: one for all questions, or one for each of some. */
export interface ThinkingRubrics<Problem> {
  /** Without criteria for a question that has none. */
  of(problem: Problem): Rubric
  /** What a person is told of them. */
  note: string
}

/**
 * The rubrics of a run. What is authored is authored once: a resumed run reads what it was.
 * @param policy as the run starts: its responses are the traces that a rubric is authored from
 * @param dir folder of the run
 * @throws ConfigError, DataError for a source that the task does not have, and a file that cannot be used
 */
export const thinkingRubrics = async <Problem>(
  config: RitConfig,
  ritTask: RitTask<Problem>,
  policy: Policy,
  dir: string,
): Promise<ThinkingRubrics<Problem>> => {
  const path = join(dir, MADE_ONCE.thinkingRubric)
  if (existsSync(path)) return rubricsOf(readRubricFile(path, { format: 'native' }).items, ritTask.task)
  const { source, file } = config.rubric
  const items =
    source === 'file'
      ? fileRubrics(file!)
      : [{ id: source, rubric: await makeRubric(config, ritTask, policy) }]
  const rubrics = rubricsOf(items, ritTask.task)
  const about = items.map(item => ({ ...item, rubric: { ...item.rubric, about: 'thinking' as const } }))
  writeRubricFile(path, { format: 'native', layout: 'single', items: about })
  return rubrics
}

/**
 * Rubrics by question: each goes to the question that has its id, or whose words are its prompt. One alone is for all of them.
 * @throws ConfigError where there are several, and none is about a question of training
 */
export const rubricsOf = <Problem>(
  items: readonly RubricItem[],
  { id, question, train }: Pick<Task<Problem>, 'id' | 'question' | 'train'>,
): ThinkingRubrics<Problem> => {
  if (items.length === 1) {
    const [{ rubric }] = items
    const ids = rubric.criteria.map(({ id }) => id).join(', ')
    return { of: () => rubric, note: `thinking is judged by ${rubric.criteria.length} criteria (${ids})` }
  }
  const byId = new Map(items.map(item => [item.id, item.rubric]))
  const byQuestion = new Map(
    items.flatMap(({ prompt, rubric }) => (prompt?.length ? [[prompt.at(-1)!.content.trim(), rubric]] : [])),
  )
  const own = (problem: Problem) => byId.get(id(problem)) ?? byQuestion.get(question(problem).trim())
  const known = train.filter(problem => own(problem) !== undefined).length
  if (known === 0)
    throw new ConfigError(
      `rubric.file: expected rubrics about questions of training, got ${items.length} about none of ${train.length}`,
      { hint: "give each the question's id as its id, or the question as its prompt" },
    )
  return {
    of: problem => own(problem) ?? EMPTY,
    note: `thinking is judged by ${items.length} rubrics; ${known} of ${train.length} questions of training have one, the others are paid for the answer alone`,
  }
}

/** The rubrics of a file. @throws ConfigError, DataError for one that asks for the answer */
export const fileRubrics = (path: string): RubricItem[] => {
  const { items } = readRubricFile(resolveShipped(path))
  if (items.every(({ rubric }) => rubric.criteria.length === 0))
    throw new ConfigError(`rubric.file: ${path}: expected criteria, got none`, {
      hint: 'write some, or set rubric.source to "none": the answer alone is paid for then',
    })
  for (const { rubric } of items) {
    const wrong = lintRubric(rubric, { thinking: true }).find(
      ({ rule, severity }) => rule === 'about-answer' && severity === 'error',
    )
    if (wrong)
      throw new ConfigError(`rubric.file: ${path}: ${wrong.message}`, {
        hint: wrong.fix ?? 'leave it to the rubric of the answer',
      })
  }
  return items
}

/**
 * Every criterion is one that somebody can decide: a rule that can be used, what the task executes, or anything where a model
 * judges.
 * @throws ConfigError, DataError naming the file and the first criterion that nobody decides
 */
export const checkFileRubrics = (
  path: string,
  { judge }: Pick<RitConfig, 'judge'>,
  { assertExecutes }: Pick<Thinking<never>, 'assertExecutes'>,
): void => {
  for (const { rubric } of fileRubrics(path)) {
    validateRules({ ...rubric, criteria: rubric.criteria.filter(hasRule) }, path)
    if (judge !== null) continue
    for (const criterion of rubric.criteria.filter(criterion => !hasRule(criterion)))
      try {
        if (!assertExecutes) throw new DataError(`${criterion.id}: expected a rule, got none`)
        assertExecutes(criterion)
      } catch (error) {
        if (!(error instanceof DataError)) throw error
        throw new ConfigError(`rubric.file: ${path}: ${error.message}`, {
          hint: 'give it a rule (verifier: {kind: rule, fn, params}), or name a judge in judge.fleet.endpoints',
        })
      }
  }
}

/** @throws ConfigError for a source that the task does not have */
export const checkRubricSource = (
  { rubric: { source, file } }: Pick<RitConfig, 'rubric'>,
  { oracle, bank = [] }: Pick<Thinking<never>, 'oracle' | 'bank'>,
): void => {
  const lacks = (what: string) => {
    throw new ConfigError(`rubric.source: expected ${what} for "${source}", got none`, {
      hint: 'write a rubric, or have one written by `gradus rubric author`, and name it in rubric.file',
    })
  }
  if (source === 'file' && file === null) lacks('rubric.file')
  if (source !== 'file' && file !== null)
    throw new ConfigError(`rubric.file: expected nothing with rubric.source "${source}", got ${file}`, {
      hint: 'set rubric.source to "file", or rubric.file to null',
    })
  if (source === 'oracle' && !oracle) lacks('a task whose good thinking is known')
  if (['random', 'initial', 'refined'].includes(source) && bank.length === 0)
    lacks('a task with a bank of criteria')
}

const makeRubric = async <Problem>(
  config: RitConfig,
  ritTask: RitTask<Problem>,
  policy: Policy,
): Promise<Rubric> => {
  const { source, criteria } = config.rubric
  const { oracle, bank = [] } = ritTask.task.thinking
  switch (source) {
    case 'none':
      return EMPTY
    case 'oracle':
      return oracle!
    case 'random':
      return {
        id: 'random',
        criteria: new Rng(`random rubric/${config.seed}`).sample(bank, Math.min(criteria, bank.length)),
      }
    default:
      return authored(config, ritTask, policy)
  }
}

/** A rubric from the bank, by what tells good traces from poor ones. */
const authored = async <Problem>(
  config: RitConfig,
  ritTask: RitTask<Problem>,
  policy: Policy,
): Promise<Rubric> => {
  const { source, criteria, rounds, traces } = config.rubric
  const refined = source === 'refined'
  const pairs = await tracePairs(config, ritTask.task, policy, refined ? traces.refined : traces.initial)
  const items = pairs.flatMap(({ good, poor }) => [good, poor])
  const { bank: known = [] } = ritTask.task.thinking
  const rubric: Rubric = { criteria: [...known] }
  const verdicts = await ritTask.verifier.verify(items.map(item => ({ ...item, rubric })))
  const bank = known.map((criterion, k) => ({
    ...criterion,
    met: verdicts.map(own => own[k]?.met ?? null),
  }))
  const { rubric: written } = rubricFromBank(
    bank,
    items.map((_, i) => i % 2 === 0),
    {
      ...{ propose: refined ? 4 : criteria, maxCriteria: criteria, rounds: refined ? rounds : 0 },
      // What chance alone gives in two standard errors is no discrimination; six traces are too few to ask for that.
      ...(refined && { minDiscrimination: 2 / Math.sqrt(items.length) }),
    },
  )
  if (written.criteria.length === 0)
    throw new DataError(
      `rubric.source: expected criteria that tell good traces of the start from poor ones, got none of ${bank.length} on ${pairs.length} pairs`,
      { hint: 'raise rubric.problems and rubric.traces, or name a rubric in rubric.file' },
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
  task: ThinkingTask<Problem>,
  policy: Policy,
  count: number,
): Promise<TracePair<Problem>[]> => {
  const { train, label } = task
  const order = shuffledPasses(train, `${label}/${config.seed}/traces`)
  const problems = Array.from({ length: Math.min(config.rubric.problems, train.length) }, (_, i) => order(i))
  const samples = Math.max(2, config.rollout.samples)
  const sampling = { ...samplingOf(config, task.stopTokens), seed: `${config.seed}/traces` }
  const drawn = await drawAnswers(policy, problems, { samples, sampling }, own => task.prompt(own))
  const answers_P = await gradeSamples(task, problems, drawn)
  const pairs = answers_P.flatMap((answers): TracePair<Problem>[] => {
    const own = answers
      .flatMap(({ problem, tokens, said: { score } }) =>
        score === null ? [] : [{ item: { problem, response: task.thinking.read(tokens) }, score }],
      )
      .sort((a, b) => b.score - a.score)
    const [best, worst] = [own[0], own.at(-1)]
    return best && worst && best.score > worst.score
      ? [{ good: best.item, poor: worst.item, gap: best.score - worst.score }]
      : []
  })
  if (pairs.length === 0)
    throw new DataError(
      `rubric.source: expected good and poor traces of the start, got ${problems.length} problems whose ${samples} responses are all alike`,
      { hint: 'raise rubric.problems or rollout.samples, or name a rubric in rubric.file' },
    )
  return pairs.sort((a, b) => b.gap - a.gap).slice(0, count)
}
