/** @file `gradus bench tinker`: what the client of a training service adds to a step. */

import { readFileSync } from 'node:fs'
import { openPolicy, type Policy, policySchema, type Sample, updateOnce } from '../policy/index.ts'
import { lossPreset } from '../rl/loss-presets.ts'
import { percent } from '../util/format.ts'
import { resolveShipped } from '../util/package.ts'
import { Rng } from '../util/rng.ts'
import { mean, median } from '../util/statistics.ts'
import { type OnProgress, resultTable, round } from './result-table.ts'
import { withServer } from './server-process.ts'

export interface TinkerBenchmark {
  /** Tokens that a step samples and learns from, on average, and prompts that it samples for. */
  tokens: number
  prompts: number
  steps: number
  /** Of one step, medians: seconds from its begin to its end, and milliseconds of processor time on both sides. */
  stepSeconds: number
  clientMs: number
  serverMs: number | null
  /** The client's part of the processor time of a step; null where the system does not tell the server's. */
  clientShare: number | null
  clientMsPerThousandTokens: number
  /** Seconds that a step must take for the client to be 2% of it. */
  stepSecondsForTwoPercent: number
}

export interface TinkerBenchmarkOptions {
  /** Steps that are measured, after two that are not. */
  steps?: number
  prompts?: number
  samples?: number
  maxTokens?: number
  onProgress?: OnProgress
}

const MODEL = 'package:models/logic-start'
/** A training service of one thread. */
const SERVED = {
  what: 'the training service',
  words: (folder: string) => [
    ...['tinker', '--model', `bench=${resolveShipped(MODEL)}`],
    ...['--state', folder, '--threads', '1'],
  ],
  address: /(http:\/\/127\.0\.0\.1:\d+)/,
}
const WARM_UP = 2
const PROMPT_TOKENS = 32

/** Milliseconds of processor time of a process, as Linux tells it in hundredths of a second; null elsewhere. */
const processorMs = (pid: number): number | null => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return 10 * (Number(fields[11]) + Number(fields[12]))
  } catch {
    return null
  }
}

const ownMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const promptsOf = (count: number): number[][] => {
  const rng = new Rng('bench tinker')
  return Array.from({ length: count }, () => Array.from({ length: PROMPT_TOKENS }, () => 1 + rng.int(90)))
}

const datumOf = (prompts: readonly number[][], { prompt, tokens, logprobs }: Sample, i: number) => ({
  promptTokens: prompts[prompt],
  ...{ tokens, mask: new Float32Array(tokens.length).fill(1), oldLogprobs: logprobs },
  advantages: new Float32Array(tokens.length).fill(i % 2 === 0 ? 1 : -1),
})

/** Samples groups and learns from them; the tokens of it. */
const takeStep = async (
  policy: Policy,
  prompts: readonly number[][],
  { samples, maxTokens, step }: { samples: number; maxTokens: number; step: number },
): Promise<number> => {
  const request = { prompts, samplesPerPrompt: samples, maxTokens, seed: step }
  const drawn = await policy.sample(request)
  await updateOnce(
    policy,
    drawn.map((sample, i) => datumOf(prompts, sample, i)),
    { loss: lossPreset('trl:grpo'), optimizer: { learningRate: 1e-5 } },
  )
  return drawn.reduce((sum, { tokens }) => sum + tokens.length, 0)
}

/**
 * Trains on a `gradus serve tinker` in a process of its own, and looks at the processor time of both: a wall clock would make the share
 * of the client look small where others want the machine, too.
 * @throws GradusError when the server does not start
 */
export const benchTinker = async (options: TinkerBenchmarkOptions = {}): Promise<TinkerBenchmark> => {
  const { steps = 5, prompts: count = 16, samples = 8, maxTokens = 64, onProgress = () => {} } = options
  onProgress('starting a training service')
  return withServer(SERVED, async ({ child, url }) => {
    const settings = policySchema.parse({ kind: 'tinker', url, model: 'bench', lora: { rank: 8 } })
    const policy = await openPolicy(settings, { folder: resolveShipped(MODEL), seed: 1 })
    try {
      const prompts = promptsOf(count)
      const rows: StepTimes[] = []
      for (let step = 1; step <= WARM_UP + steps; step++) {
        onProgress(step <= WARM_UP ? 'warming up' : `step ${step - WARM_UP}/${steps}`)
        const [startMs, client, server] = [performance.now(), ownMs(), processorMs(child.pid!)]
        const tokens = await takeStep(policy, prompts, { samples, maxTokens, step })
        const served = processorMs(child.pid!)
        rows.push({
          tokens,
          wallMs: performance.now() - startMs,
          clientMs: ownMs() - client,
          serverMs: server === null || served === null ? null : served - server,
        })
      }
      return valuesOf(rows.slice(WARM_UP), { prompts: count, steps })
    } finally {
      await policy.close()
    }
  })
}

interface StepTimes {
  tokens: number
  wallMs: number
  clientMs: number
  serverMs: number | null
}

const valuesOf = (
  rows: readonly StepTimes[],
  work: Pick<TinkerBenchmark, 'prompts' | 'steps'>,
): TinkerBenchmark => {
  const tokens = Math.round(mean(rows.map(row => row.tokens)))
  const clientMs = median(rows.map(row => row.clientMs))
  const measured = rows.flatMap(({ serverMs }) => serverMs ?? [])
  const serverMs = measured.length === rows.length ? median(measured) : null
  return {
    ...{ tokens, ...work },
    stepSeconds: round(median(rows.map(({ wallMs }) => wallMs)) / 1000, 2),
    clientMs: round(clientMs, 1),
    serverMs,
    clientShare: serverMs === null ? null : round(clientMs / (clientMs + serverMs), 4),
    clientMsPerThousandTokens: round((1000 * clientMs) / tokens, 2),
    stepSecondsForTwoPercent: round(clientMs / 20, 1),
  }
}

/** The values beside what they should be. */
export const formatTinkerBenchmark = (result: TinkerBenchmark): string => {
  const { tokens, prompts, steps, serverMs, clientShare } = result
  return resultTable([
    [`a step: ${prompts} groups, ${tokens} tokens sampled and learnt from`, `${steps} steps`, 'medians'],
    ['step', `${result.stepSeconds} s`, 'wall clock'],
    ['server (0.8 million weights)', serverMs === null ? 'unknown' : `${serverMs} ms`, 'processor time'],
    ['client', `${result.clientMs} ms`, 'processor time'],
    ['client, a thousand tokens', `${result.clientMsPerThousandTokens} ms`, ''],
    ['client is 2% of a step of', `${result.stepSecondsForTwoPercent} s`, ''],
    ['client, of this step', clientShare === null ? 'unknown' : percent(clientShare), ''],
  ])
}
