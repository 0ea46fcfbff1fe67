/** @file What of an evaluation can be known before a model is opened: task, problems, figures, gates. */

import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { needsJudge } from '../../grade/rubric-grader.ts'
import { type AskSettings, type FigureName, figureNames, SavedAnswers } from '../../measure/index.ts'
import { UsageError } from '../../util/errors.ts'
import type { Io } from '../io.ts'
import { bringFiles } from '../rows-option.ts'
import { checkTalking } from './answering.ts'
import { gatesOf } from './gate.ts'
import { checkJudges, type openEvalJudges } from './judges.ts'
import { type EvalOptions, isSaved } from './options.ts'
import { type OpenedTask, openEvalTask } from './tasks.ts'

export interface Evaluation extends OpenedTask {
  options: EvalOptions
  names: readonly FigureName[]
  /** How a judge is asked. */
  way: Parameters<typeof openEvalJudges>[0]['way']
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
  const names = figureNames(measured, problems, { heldOut: options.heldOutJudge !== undefined })
  return {
    ...{ ...opened, options, names, way },
    gates: gatesOf(options, names),
    settings: { temperature, maxTokens: maxTokens ?? kind.maxTokens, seed },
  }
}
