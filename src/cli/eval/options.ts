/** @file Options of `gradus eval`, and which of them belong to which tasks. */

import type { DialectName } from '../../policy/served/dialect-names.ts'
import type { LogicFileFormat } from '../../tasks/logic/loaders.ts'
import type { GeneratedTestSet } from '../../tasks/logic/testset-names.ts'
import { UsageError } from '../../util/errors.ts'
import type { SolverCommandOptions } from '../solver-options.ts'

/** `rows`: of prompt and criteria. */
export const TASK_NAMES = [
  ...([
    'rows',
    'ifeval',
    'ifbench',
    'gsm8k',
    'math',
    'questions',
    'logic',
    'packing',
    'packing-thinking',
  ] as const),
  ...(['arithmetic', 'logic-thinking', 'records', 'openenv', 'tools'] as const),
]
export type TaskName = (typeof TASK_NAMES)[number]

/** Whether what stands for a model is a file of answers. */
export const isSaved = (place: string): boolean => /\.(jsonl|ndjson)(\.gz)?$/i.test(place)

type Named = readonly (readonly [name: string, value: number])[]

/** What logic alone has. */
interface LogicOptions extends SolverCommandOptions {
  /** In place of files. */
  generated?: GeneratedTestSet
  hops?: number
  /** How the rows are written; absent: told from the first row of each file. */
  format?: LogicFileFormat
  /** Whether chat prompts show formulas beside the sentences. */
  formulas?: 'hidden' | 'shown'
  /** Seed of another order of each row's sentences. */
  shuffle?: string
  minAccuracy?: number
  minValidProofs?: number
}

/** What all tasks but logic have. */
interface MeasuredOptions {
  /** Settings of the task, `key=value` each. */
  set?: readonly string[]
  /** Criteria of all rows. */
  rubric?: string
  adapter?: string
  against?: string
  againstApiKeyEnv?: string
  /** Files that keep answers. */
  out?: string
  againstOut?: string
  html?: string
  heldOutJudge?: string
  heldOutApiKeyEnv?: string
  /** Margins by the name of the score. */
  noWorse?: Named
}

export interface EvalOptions extends LogicOptions, MeasuredOptions {
  /** Absent: rows of prompt and criteria. */
  task?: TaskName
  model: string
  /** Folder with the words of a model on a server that is asked in tokens. */
  tokenizer?: string
  data?: readonly string[]
  samples: number
  temperature: number
  maxTokens?: number
  seed: string
  limit?: number
  threads: number
  /** Of a model on a server. */
  dialect?: DialectName
  modelApiKeyEnv?: string
  concurrency?: number
  /** Least values by the name of the score. */
  minScore?: Named
  judge?: string
  judgeModel?: string
  apiKeyEnv?: string
  cache?: string
  json?: boolean
}

const LOGIC_ONLY = [
  ...['generated', 'hops', 'format', 'formulas', 'shuffle', 'minAccuracy', 'minValidProofs'],
  ...['solverTimeoutMs', 'uniqueNames'],
]
const MEASURED_ONLY = [
  ...['set', 'rubric', 'adapter', 'against', 'againstApiKeyEnv', 'out', 'againstOut', 'html'],
  ...['heldOutJudge', 'heldOutApiKeyEnv', 'noWorse'],
]

const optionName = (key: string): string => `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`

/** @throws UsageError for an option that the task does not have */
export const refuseStrays = (options: EvalOptions): void => {
  const isLogic = options.task === 'logic'
  const stray = (isLogic ? MEASURED_ONLY : LOGIC_ONLY).find(
    key => options[key as keyof EvalOptions] !== undefined,
  )
  if (stray !== undefined)
    throw new UsageError(`${optionName(stray)}: the task ${options.task ?? 'of rows'} has no such option`, {
      hint: isLogic ? 'leave it out' : 'leave it out, or give --task logic',
    })
}
