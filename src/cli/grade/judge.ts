/** @file The judge of a command line: an endpoint behind limits and retries, with a cache where a folder is named. */

import type { ChatModel } from '../../chat/index.ts'
import type { Calibration } from '../../eval/calibration.ts'
import { fleetSchema, judgeSchema, type OpenJudge, openJudge } from '../../grade/judge/index.ts'
import type { JudgeForm } from '../../grade/judge/templates/form.ts'
import type { AskedScale } from '../../grade/judge/templates/scale.ts'
import { UsageError } from '../../util/errors.ts'
import { percent, percentNumber } from '../../util/format.ts'
import type { Estimate } from '../../util/intervals.ts'
import { parseWith } from '../../util/schema.ts'
import { endpointOf } from '../endpoint.ts'
import type { Io } from '../io.ts'
import { givenOption } from '../option-values.ts'

/** What holds where the options say nothing. */
const DEFAULTS = fleetSchema.parse({ endpoints: [{ url: 'http://localhost', model: 'm' }] })
const DEFAULT_TIMEOUT_MS = DEFAULTS.endpoints[0].attemptTimeoutMs

/** What says nothing without a judge. */
const CALL_OPTIONS = ['cache', 'timeout', 'retries', 'judgeTokens'] as const
const OF_A_JUDGE = ['apiKeyEnv', 'calibration', 'levels', ...CALL_OPTIONS] as const

export interface JudgeCommandOptions {
  judge?: string
  model?: string
  /** The option that names the model, for messages. Default `model`. */
  modelOption?: string
  apiKeyEnv?: string
  calls: 'criterion' | 'rubric' | { batch: number }
  /** As settings say it; default `yes-no`. */
  levels?: AskedScale
  /** Of likelihoods. */
  calibration?: Calibration
  cache?: string
  concurrency: number
  /** Seconds that one attempt of a call may take. Default: the fleet's. */
  timeout?: number
  /** Further attempts of a call that had no answer. Default: the fleet's. */
  retries?: number
  /** Tokens of an answer at most. Default: the server's. */
  judgeTokens?: number
  /** Only to look: the cache is not written, and not made where there is none. */
  dryRun?: boolean
}

/** A deadline that leaves room for every attempt, where more time is asked for than the fleet gives. */
const transportOf = ({ timeout, retries }: JudgeCommandOptions) => {
  const attemptTimeoutMs = timeout === undefined ? DEFAULT_TIMEOUT_MS : timeout * 1000
  const attempts = (retries ?? DEFAULTS.retries) + 1
  return {
    endpoint: timeout === undefined ? {} : { attemptTimeoutMs },
    fleet: { retries, deadlineMs: Math.max(DEFAULTS.deadlineMs, attempts * attemptTimeoutMs) },
  }
}

/**
 * The judge that the options ask for; null where they name none. `close` closes the grader too.
 * @param io where warnings go
 * @param surroundings the form of what it is asked; a model in place of the endpoint that the options name
 * @throws UsageError for options that do not go together; ConfigError for an endpoint, key or folder that cannot be used.
 */
export const openCommandJudge = (
  options: JudgeCommandOptions,
  io?: Io,
  surroundings: { form?: JudgeForm; model?: ChatModel } = {},
) => {
  const { judge, modelOption = 'model', apiKeyEnv, cache: folder, concurrency } = options
  const { calls: shape, levels, calibration, judgeTokens: maxTokens } = options
  if (judge === undefined) {
    const named = options.model === undefined ? undefined : `--${modelOption}`
    const stray = named ?? givenOption(options, OF_A_JUDGE)
    if (stray)
      throw new UsageError(`${stray}: there is no judge to use it with`, { hint: 'give --judge URL too' })
    return null
  }
  const local = surroundings.model
  const { url, model } = local
    ? { url: 'http://localhost', model: local.name }
    : endpointOf(judge, options.model, { url: '--judge', model: `--${modelOption}` })
  if (model === undefined)
    throw new UsageError('--judge: the name of the model is missing', {
      hint: `give --${modelOption} NAME, or --judge URL#NAME`,
    })
  const transport = transportOf(options)
  const endpoint = { url, model, concurrency, apiKeyEnv, ...transport.endpoint }
  const config = {
    fleet: { ...transport.fleet, endpoints: [endpoint] },
    ask: { shape, levels, calibration, maxTokens },
    cache: folder === undefined ? null : { folder },
  }
  const opened = openJudge(parseWith(judgeSchema('plain'), config, '--judge'), {
    readOnly: options.dryRun,
    ...surroundings,
    onWarning: message => io?.err.write(`gradus: ${message}\n`),
  })
  const { grader, cache } = opened
  return {
    grader,
    /** What the judge did, in a line; for the summary. */
    describe: () => describe(opened),
    /** It was called, and no call had an answer: an address that is wrong, most likely. */
    neverAnswered: () => {
      const { calls, failedCalls, cachedCalls } = grader.stats()
      return calls > 0 && failedCalls === calls && cachedCalls === 0
    },
    async close() {
      await grader.close()
      // It takes the grader's last verdicts.
      cache?.close()
    },
  }
}

/** Attempts that failed, by kind: what retries have hidden. */
const failures = ({ fleet }: OpenJudge): string => {
  const kinds = Object.entries(fleet?.stats().endpoints[0].failures ?? {})
  return kinds.length === 0
    ? ''
    : `; attempts that failed: ${kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')}`
}

const describe = (opened: OpenJudge): string => {
  const { cache, stats } = opened
  const { verdicts, calls, attempts, failedCalls, unusableCalls, cachedCalls } = stats()
  const remembered = cache ? `, ${cachedCalls} from the cache` : ''
  return `judge: ${verdicts} verdicts, ${calls} calls (${attempts} attempts, ${failedCalls} failed, ${unusableCalls} unusable)${remembered}${failures(opened)}`
}

/** A share with its interval. */
export const formatRate = ({ estimate, low, high }: Estimate): string =>
  `${percent(estimate)} [${percentNumber(low)}, ${percentNumber(high)}]`
