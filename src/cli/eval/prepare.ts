/** @file What of an evaluation can be known before a model is opened: task, problems, metrics, gates. */

import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { isServerAddress } from '../../chat/model-address.ts'
import { needsJudge } from '../../grade/rubric-grader.ts'
import { type AskSettings, SavedAnswers } from '../../measure/answers.ts'
import { GRADING } from '../../measure/grading.ts'
import { MEASURED_KINDS } from '../../measure/kinds.ts'
import { type MetricName, metricNames } from '../../measure/metrics.ts'
import { spoken } from '../../measure/spoken.ts'
import {
  type MeasuredKind,
  type MeasuredProblem,
  type MeasuredTask,
  measuredProblems,
  measuredTask,
} from '../../measure/task.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import { existingModel } from '../../recipes/common/starting-model.ts'
import { mainTest, type Task } from '../../tasks/task.ts'
import { shortHash } from '../../util/canonical.ts'
import { UsageError } from '../../util/errors.ts'
import { knownKeys, meantOr, parseWith } from '../../util/schema.ts'
import { StatusLine } from '../../util/status-line.ts'
import type { Io } from '../io.ts'
import { optionName, refuseGiven } from '../option-values.ts'
import { bringFiles } from '../rows-option.ts'
import { parseSettings } from '../train/settings.ts'
import { checkTalking } from './answering.ts'
import { gatesOf } from './gate.ts'
import { checkJudges, type openGraders } from './judges.ts'
import { type EvalOptions, isSaved, SETTING_OPTIONS } from './options.ts'

/** @throws UsageError for a name that is none */
const kindOf = (name: string): MeasuredKind => {
  const names = Object.keys(MEASURED_KINDS)
  if (names.includes(name)) return MEASURED_KINDS[name]
  throw new UsageError(`--task: expected one of ${names.join(', ')}, got ${JSON.stringify(name)}`, {
    hint: meantOr(name, names, 'leave it out for rows of prompt and criteria'),
  })
}

/** A task, opened for a model. */
interface OpenedTask {
  kind: MeasuredKind
  /** What of it is told. */
  measured: MeasuredTask
  task: Task<unknown>
  /** The file, or what the task calls its problems. */
  data: string
  problems: readonly MeasuredProblem[]
}

/** Problems that a task makes itself, where nobody says a number. */
const MADE = 500

/**
 * Folders of the models, whose words are to be the task's; of one on a server that of `--tokenizer`.
 * @param isAny a server may have none: null
 */
const foldersOf = async ({ model, against, tokenizer }: EvalOptions, isAny: boolean, io: Io) => {
  const places = Object.entries({ '--model': model, '--against': against }).flatMap(([setting, place]) => {
    if (place === undefined || isSaved(place)) return []
    return [isServerAddress(place) ? (['--tokenizer', tokenizer] as const) : ([setting, place] as const)]
  })
  const folders = places.map(async ([setting, place]) => {
    if (place === undefined && isAny) return null
    if (place === undefined)
      throw new UsageError(
        '--tokenizer: expected the folder of the words of a model on a server, got nothing; the task is put in tokens',
        { hint: 'give --tokenizer DIR, with config.json and tokenizer' },
      )
    await fetchModel(place, { status: new StatusLine(io.err) })
    return existingModel(place, setting)
  })
  return Promise.all(folders)
}

/** The task as these models are asked it, and their folders where it is put in their tokens. @throws UsageError where they differ */
const putTo = async (
  kind: MeasuredKind,
  options: EvalOptions,
  io: Io,
): Promise<{ kind: MeasuredKind; folders: readonly string[] }> => {
  if (kind.asked === 'words' && !kind.putTo) return { kind, folders: [] }
  const found = await foldersOf(options, kind.putTo !== undefined, io)
  const folders = found.filter(folder => folder !== null)
  if (!kind.putTo) return { kind, folders }
  const [way = { asked: kind.asked, maxTokens: kind.maxTokens }, ...others] = found.map(kind.putTo)
  if (others.some(other => shortHash(other) !== shortHash(way)))
    throw new UsageError('--against: expected a model that is asked in the same words as --model', {
      hint: 'measure each alone with --out, and compare the files',
    })
  const isInTokens =
    found.length > 0 ? options.tokenizer !== undefined : new SavedAnswers(options.model).inTokens
  const put = { ...kind, ...way, ...(isInTokens && { asked: 'tokens' as const }) }
  return { kind: put, folders: put.asked === 'words' ? [] : folders }
}

/** @throws UsageError for a file too many or too few */
const filesOf = ({ data = [] }: EvalOptions, name: string, { reads }: MeasuredKind): readonly string[] => {
  if (!reads && data.length > 0)
    throw new UsageError(`--data: the task ${name} has its problems itself`, { hint: 'leave it out' })
  if (reads === true && data.length !== 1)
    throw new UsageError(
      `--data: expected one file of problems, got ${data.length === 0 ? 'none' : data.length}`,
    )
  return data
}

/** Settings of the task by `--set`, and by options of their own. @throws UsageError */
const settingsOf = (options: EvalOptions, name: string, { settings }: MeasuredKind): unknown => {
  const known = knownKeys(settings, [])
  const given = SETTING_OPTIONS.filter(key => options[key] !== undefined)
  const stray = given.find(key => !known.includes(key))
  if (stray !== undefined)
    throw new UsageError(`${optionName(stray)}: the task ${name} has no such option`, {
      hint: known.length === 0 ? 'leave it out' : `leave it out; its settings are ${known.join(', ')}`,
    })
  const own = Object.fromEntries(given.map(key => [key, options[key]]))
  return parseWith(settings, { ...parseSettings(settings, options.set ?? []), ...own }, '--set', UsageError)
}

/** The task that the options name; rows of prompt and criteria where they name none. @throws UsageError; what opening it throws */
const openEvalTask = async (options: EvalOptions, io: Io): Promise<OpenedTask> => {
  const { task: name = 'rows', limit } = options
  const named = kindOf(name)
  const files = filesOf(options, name, named)
  const settings = settingsOf(options, name, named)
  const { kind, folders } = await putTo(named, options, io)
  for (const folder of folders) kind.assertModel?.(folder)
  const [folder = ''] = folders
  if (kind.asked === 'turns' && folder === '')
    throw new UsageError(`--model: expected a model for the task ${name}, got saved answers alone`)
  const tests = limit ?? (files.length > 0 ? Number.POSITIVE_INFINITY : MADE)
  const task = await kind.open(settings, {
    ...{ ...GRADING, asked: kind.asked, folder, files, format: spoken, tests },
    judged: options.judge !== undefined,
  })
  const [data, all] = mainTest(task)
  const problems = measuredProblems(kind, task, kind.reads === 'files' ? all : all.slice(0, tests))
  return { kind, task, data, problems, measured: measuredTask(name, kind, task, problems) }
}

export interface Evaluation extends OpenedTask {
  options: EvalOptions
  names: readonly MetricName[]
  /** How a judge is asked. */
  way: Parameters<typeof openGraders>[0]['way']
  gates: ReturnType<typeof gatesOf>
  settings: AskSettings
}

const realOf = (path: string): string => (existsSync(path) ? realpathSync(path) : resolve(path))

/** No file is written that is read, or written, for another option. @param written by option, beside those of `eval` @throws UsageError */
const refuseSharedFiles = (
  options: EvalOptions,
  written: Readonly<Record<string, string | undefined>>,
): void => {
  const { data = [], rubric, model, against, out, againstOut, html } = options
  const saved = [model, against].filter(place => place !== undefined && isSaved(place))
  const taken = new Set([...data, rubric, ...saved].flatMap(path => (path ? [realOf(path)] : [])))
  for (const [option, path] of Object.entries({ out, 'against-out': againstOut, html, ...written })) {
    if (path === undefined) continue
    const real = realOf(path)
    if (taken.has(real))
      throw new UsageError(`--${option}: ${path} is a file of another option`, { hint: 'name another file' })
    taken.add(real)
  }
}

/**
 * @param written files that a command writes beside those of `eval`, by option
 * @throws UsageError, DataError for options that do not go together, and a file that cannot be used
 */
export const prepare = async (
  options: EvalOptions,
  io: Io,
  written: Readonly<Record<string, string | undefined>> = {},
): Promise<Evaluation> => {
  const { rubric, temperature, samples, against, model, data = [] } = options
  if (samples > 1 && temperature === 0)
    throw new UsageError('--samples: greedy samples are all alike', {
      hint: 'give a --temperature above 0, or --samples 1',
    })
  if (against === undefined) {
    const keys = ['againstOut', 'noWorse', 'againstApiKeyEnv'] as const
    refuseGiven(options, keys, 'there is nothing to compare with', 'give --against MODEL too')
  }
  refuseSharedFiles(options, written)
  const saved = [model, against ?? ''].filter(isSaved)
  await bringFiles(...data, rubric, ...saved)
  for (const place of saved) new SavedAnswers(place)
  if (against !== undefined && !isSaved(against)) await checkTalking(against, '--against', io)
  const opened = await openEvalTask(options, io)
  try {
    return await prepared(options, opened, saved.length > 0, io)
  } catch (error) {
    await opened.task.close?.()
    throw error
  }
}

const prepared = async (
  options: EvalOptions,
  opened: OpenedTask,
  isSavedBefore: boolean,
  io: Io,
): Promise<Evaluation> => {
  const { temperature, maxTokens, seed } = options
  const { kind, measured, problems, task } = opened
  for (const note of task.notes) io.err.write(`${note}\n`)
  const asked = typeof kind.judge === 'function' ? kind.judge(problems.map(own => own.problem)) : {}
  const { needed = problems.some(own => needsJudge(own.rubric)), ...way } = asked
  const isJudged = kind.judge !== 'none' && needed
  if (isJudged && options.judge === undefined && !isSavedBefore)
    throw new UsageError('--judge: there are criteria that only a judge can grade, and no judge', {
      hint: 'give --judge URL#NAME',
    })
  const isIdle = { judge: !isJudged && typeof kind.judge !== 'function', heldOutJudge: !isJudged }
  const idle = (['judge', 'heldOutJudge'] as const).find(key => isIdle[key] && options[key] !== undefined)
  if (idle !== undefined)
    throw new UsageError(
      `--${idle === 'judge' ? 'judge' : 'held-out-judge'}: every criterion has a rule, and nothing is left to a judge`,
      { hint: 'leave it out' },
    )
  await checkJudges(options, io)
  const names = metricNames(measured, problems, { heldOut: options.heldOutJudge !== undefined })
  return {
    ...{ ...opened, options, names, way },
    gates: gatesOf(options, names),
    settings: { temperature, maxTokens: maxTokens ?? kind.maxTokens, seed },
  }
}
