/** @file Options of `gradus eval`, and which of them are settings of tasks. */

import type { Calibration } from '../../eval/calibration.ts'
import type { AskedScale } from '../../grade/judge/templates/scale.ts'
import type { SampleBits } from '../../policy/local/weight-sizes.ts'
import type { DialectName } from '../../policy/served/dialect-names.ts'

/** Whether what stands for a model is a file of answers. */
export const isSaved = (place: string): boolean => /\.(jsonl|ndjson)(\.gz)?$/i.test(place)

type Named = readonly (readonly [name: string, value: number])[]

/** Settings of a task that have an option of their own beside `--set`; a task has those that its schema has. */
export const SETTING_OPTIONS = [
  ...(['rubric', 'generated', 'hops', 'format', 'formulas', 'shuffle'] as const),
  ...(['solverTimeoutMs', 'uniqueNames'] as const),
]

export interface EvalOptions extends Partial<Record<(typeof SETTING_OPTIONS)[number], unknown>> {
  /** Absent: rows of prompt and criteria. */
  task?: string
  /** Settings of the task, `key=value` each. */
  set?: readonly string[]
  rubric?: string
  model: string
  adapter?: string
  against?: string
  againstApiKeyEnv?: string
  /** Files that keep answers. */
  out?: string
  againstOut?: string
  html?: string
  /** Folder with the words of a model on a server that is asked in tokens. */
  tokenizer?: string
  data?: readonly string[]
  samples: number
  temperature: number
  maxTokens?: number
  seed: string
  limit?: number
  threads: number
  sampleBits?: SampleBits
  /** Of a model on a server. */
  dialect?: DialectName
  modelApiKeyEnv?: string
  concurrency?: number
  /** Least values by the name of the score; the other two are such values of scores that they name. */
  minScore?: Named
  minAccuracy?: number
  minValidProofs?: number
  /** Margins by the name of the score. */
  noWorse?: Named
  judge?: string
  judgeModel?: string
  apiKeyEnv?: string
  levels?: AskedScale
  calibration?: Calibration
  cache?: string
  heldOutJudge?: string
  heldOutApiKeyEnv?: string
  json?: boolean
}
