/** @file The judge of a command line: an endpoint behind limits and retries, with a cache where a folder is named. */

import { judgeSchema, type LlmJudge, type OpenJudge, openJudge } from '../../grade/judge/index.ts'
import { UsageError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'

export interface JudgeCommandOptions {
  judge?: string
  model?: string
  /** The option that names the model, for messages. Default `model`. */
  modelOption?: string
  apiKeyEnv?: string
  calls: 'criterion' | 'rubric' | { batch: number }
  /** Yes or no, or levels 0, 1, 2. Default `yes-no`. */
  levels?: 'yes-no' | 'levels'
  cache?: string
  concurrency: number
  /** Only to look: the cache is not written, and not made where there is none. */
  dryRun?: boolean
}

export interface CommandJudge {
  /** Whoever grades with it closes it. */
  grader: LlmJudge
  /** What the judge did, in a line; for the summary. */
  describe(): string
  /** It was called, and no call had an answer: an address that is wrong, most likely. */
  neverAnswered(): boolean
  /** Closes the cache; after the grader, whose last verdicts it takes. */
  close(): void
}

/**
 * The judge that the options ask for; null where they name none.
 * @throws UsageError for options that do not go together; ConfigError for an endpoint, key or folder that cannot be used.
 */
export const openCommandJudge = (options: JudgeCommandOptions): CommandJudge | null => {
  const { judge: url, model, apiKeyEnv, calls, levels, cache: folder, concurrency } = options
  const modelOption = options.modelOption ?? 'model'
  const needsJudge = { [modelOption]: model, 'api-key-env': apiKeyEnv, cache: folder }
  if (url === undefined) {
    const [stray] = Object.entries(needsJudge).find(([, value]) => value !== undefined) ?? []
    if (stray)
      throw new UsageError(`--${stray}: there is no judge to use it with`, { hint: 'give --judge URL too' })
    return null
  }
  if (model === undefined)
    throw new UsageError('--judge: the name of the model is missing', {
      hint: `give --${modelOption} NAME`,
    })
  const config = {
    fleet: { endpoints: [{ url, model, concurrency, ...(apiKeyEnv !== undefined && { apiKeyEnv }) }] },
    ask: { shape: calls, ...(levels !== undefined && { levels }) },
    cache: folder === undefined ? null : { folder },
  }
  const opened = openJudge(parseWith(judgeSchema('plain'), config, '--judge'), { readOnly: options.dryRun })
  const { grader, cache } = opened
  return {
    grader,
    describe: () => describe(opened),
    neverAnswered: () => {
      const { calls, failedCalls, cachedCalls } = grader.stats()
      return calls > 0 && failedCalls === calls && cachedCalls === 0
    },
    close: () => cache?.close(),
  }
}

const describe = ({ cache, stats }: OpenJudge): string => {
  const { verdicts, calls, attempts, failedCalls, unusableCalls, cachedCalls } = stats()
  const remembered = cache ? `, ${cachedCalls} from the cache` : ''
  return `judge: ${verdicts} verdicts, ${calls} calls (${attempts} attempts, ${failedCalls} failed, ${unusableCalls} unusable)${remembered}`
}
