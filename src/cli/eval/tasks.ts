/** @file The tasks of `gradus eval` by their names, each loaded when it is asked for; logic has a command of its own. */

import { isServerAddress } from '../../chat/model-address.ts'
import {
  GRADING,
  type MeasuredKind,
  type MeasuredProblem,
  type MeasuredTask,
  measuredProblems,
  measuredTask,
  spoken,
} from '../../measure/index.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import { existingModel } from '../../recipes/common/starting-model.ts'
import { mainTest, type Task } from '../../tasks/task.ts'
import { UsageError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { StatusLine } from '../../util/status-line.ts'
import type { Io } from '../io.ts'
import { parseSettings } from '../train/settings.ts'
import { type EvalOptions, isSaved, type TaskName } from './options.ts'

const kindOf = async (name: Exclude<TaskName, 'logic'>): Promise<MeasuredKind> => {
  switch (name) {
    case 'rows':
      return (await import('../../measure/benchmark.ts')).rubricRows as MeasuredKind
    case 'ifeval':
    case 'ifbench':
      return (await import('../../measure/instructions.ts'))[name]
    case 'gsm8k':
      return (await import('../../measure/math.ts')).gsm8k
    case 'math':
      return (await import('../../measure/math.ts')).mathematics
    default:
      return (await import('../../recipes/common/task-kinds.ts')).TASK_KINDS[name] as MeasuredKind
  }
}

/** A task, opened for a model. */
export interface OpenedTask {
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

/** Folders of the models that are asked in tokens, whose words are to be the task's; of one on a server that of `--tokenizer`. */
const foldersOf = async ({ model, against, tokenizer }: EvalOptions, io: Io): Promise<string[]> => {
  const places = Object.entries({ '--model': model, '--against': against }).flatMap(([setting, place]) => {
    if (place === undefined || isSaved(place)) return []
    return [isServerAddress(place) ? (['--tokenizer', tokenizer] as const) : ([setting, place] as const)]
  })
  const folders = places.map(async ([setting, place]) => {
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

/** @throws UsageError for a file too many or too few */
const fileOf = ({ data = [] }: EvalOptions, name: string, { reads }: MeasuredKind): string => {
  if (!reads && data.length > 0)
    throw new UsageError(`--data: the task ${name} has its problems itself`, { hint: 'leave it out' })
  if (reads && data.length !== 1)
    throw new UsageError(
      `--data: expected one file of problems, got ${data.length === 0 ? 'none' : data.length}`,
    )
  return data[0] ?? ''
}

/** Settings of the task by `--set`, and by `--rubric`. @throws UsageError */
const settingsOf = ({ set = [], rubric }: EvalOptions, name: string, { settings }: MeasuredKind): unknown => {
  if (rubric !== undefined && name !== 'rows')
    throw new UsageError(`--rubric: the task ${name} has criteria of its own`, {
      hint: 'leave --task or --rubric out',
    })
  const own = { ...parseSettings(settings, set), ...(rubric !== undefined && { rubric }) }
  return parseWith(settings, own, '--set', UsageError)
}

/** The task that the options name; rows of prompt and criteria where they name none. @throws UsageError; what opening it throws */
export const openEvalTask = async (options: EvalOptions, io: Io): Promise<OpenedTask> => {
  const { task: name = 'rows', limit } = options
  const kind = await kindOf(name as Exclude<TaskName, 'logic'>)
  const file = fileOf(options, name, kind)
  const settings = settingsOf(options, name, kind)
  const folders = kind.asked === 'words' ? [] : await foldersOf(options, io)
  for (const folder of folders) kind.assertModel?.(folder)
  const [folder = ''] = folders
  if (kind.asked === 'turns' && folder === '')
    throw new UsageError(`--model: expected a model for the task ${name}, got saved answers alone`)
  const task = await kind.open(settings, {
    ...GRADING,
    ...{ folder, file, format: spoken },
    tests: limit ?? MADE,
  })
  const [data, all] = mainTest(task)
  const problems = measuredProblems(kind, task, all.slice(0, limit ?? (kind.reads ? undefined : MADE)))
  return { kind, task, data, problems, measured: measuredTask(name, kind, task, problems) }
}
