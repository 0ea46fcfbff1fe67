/** @file What of an evaluation can be known before a model is opened: task, problems, figures, gates. */

import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { needsJudge } from '../../grade/rubric-grader.ts'
import {
  type AskSettings,
  type FigureName,
  figureNames,
  type MeasuredProblem,
  type MeasuredTask,
  SavedAnswers,
} from '../../measure/index.ts'
import { UsageError } from '../../util/errors.ts'
import type { Io } from '../io.ts'
import { bringFiles } from '../rows-option.ts'
import { checkTalking } from './answering.ts'
import { gatesOf } from './gate.ts'
import { checkJudges } from './judges.ts'
import type { EvalOptions } from './options.ts'
import { taskNamed } from './tasks.ts'

export interface Evaluation {
  options: EvalOptions
  task: MeasuredTask
  file: string
  problems: readonly MeasuredProblem[]
  names: readonly FigureName[]
  gates: ReturnType<typeof gatesOf>
  settings: AskSettings
}

/** Whether what stands for a model is a file of answers. */
export const isSaved = (place: string): boolean => /\.(jsonl|ndjson)(\.gz)?$/i.test(place)

const realOf = (path: string): string => (existsSync(path) ? realpathSync(path) : resolve(path))

/** No file is written that is read, or written, for another option. @throws UsageError */
const refuseSharedFiles = (options: EvalOptions): void => {
  const { data = [], rubric, model, against, out, againstOut, html } = options
  const saved = [model, against].filter(place => place !== undefined && isSaved(place))
  const taken = new Set([...data, rubric, ...saved].flatMap(path => (path ? [realOf(path)] : [])))
  for (const [option, path] of Object.entries({ out, 'against-out': againstOut, html })) {
    if (path === undefined) continue
    const real = realOf(path)
    if (taken.has(real))
      throw new UsageError(`--${option}: ${path} is a file of another option`, { hint: 'name another file' })
    taken.add(real)
  }
}

/** @throws UsageError, DataError for options that do not go together, and a file that cannot be used */
export const prepare = async (options: EvalOptions, io: Io): Promise<Evaluation> => {
  const { rubric, limit, temperature, samples, maxTokens, seed, against, model, data = [] } = options
  if (samples > 1 && temperature === 0)
    throw new UsageError('--samples: greedy samples are all alike', { hint: 'give a --temperature above 0' })
  if (data.length !== 1)
    throw new UsageError(
      `--data: expected one file of problems, got ${data.length === 0 ? 'none' : data.length}`,
    )
  const needsAgainst = {
    'against-out': options.againstOut,
    'no-worse': options.noWorse,
    'against-api-key-env': options.againstApiKeyEnv,
  }
  const stray = Object.entries(needsAgainst).find(([, value]) => value !== undefined)
  if (against === undefined && stray)
    throw new UsageError(`--${stray[0]}: there is nothing to compare with`, {
      hint: 'give --against MODEL too',
    })
  refuseSharedFiles(options)
  const [file] = data
  const saved = [model, against ?? ''].filter(isSaved)
  await bringFiles(file, rubric, ...saved)
  for (const place of saved) new SavedAnswers(place)
  if (against !== undefined && !isSaved(against)) await checkTalking(against, '--against', io)
  const task = await taskNamed(options)
  const problems = task.problems(file).slice(0, limit)
  const isJudged = problems.some(problem => needsJudge(problem.rubric))
  if (isJudged && options.judge === undefined && saved.length === 0)
    throw new UsageError('--judge: there are criteria that only a judge can grade, and no judge', {
      hint: 'give --judge URL#NAME',
    })
  const idle = (['judge', 'heldOutJudge'] as const).find(key => !isJudged && options[key] !== undefined)
  if (idle !== undefined)
    throw new UsageError(
      `--${idle === 'judge' ? 'judge' : 'held-out-judge'}: every criterion has a rule, and nothing is left to a judge`,
      { hint: 'leave it out' },
    )
  await checkJudges(options, io)
  const names = figureNames(task, problems, { heldOut: options.heldOutJudge !== undefined })
  const gates = gatesOf(options, names)
  return {
    options,
    task,
    file,
    problems,
    names,
    gates,
    settings: { temperature, maxTokens: maxTokens ?? task.maxTokens, seed },
  }
}
