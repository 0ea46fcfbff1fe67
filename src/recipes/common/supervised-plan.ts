/** @file What supervised learning takes, as plans print it: memory, time, and whether it is feasible here. */

import type { ModelConfig } from '../../model/config.ts'
import type { LoraConfig } from '../../model/lora-files.ts'
import type { SampleBits } from '../../policy/local/weight-sizes.ts'
import { enginesOf, type PolicySettings } from '../../policy/open.ts'
import type { SupervisedDatum } from '../../rl/datum.ts'
import { mean } from '../../util/statistics.ts'
import {
  estimateMemory,
  type Feasibility,
  type MemoryEstimate,
  machinePlan,
  memoryLines,
} from './feasible.ts'
import { type PlannedTime, planTime } from './step-time.ts'

/** Steps whose demonstrations are looked at: a curriculum's grow over the steps. */
const LOOKS = 4

/** Mean tokens of a demonstration, prompt and response, over a few steps from the first to the last. */
export const meanRowTokens = (
  draw: (step: number) => readonly Pick<SupervisedDatum, 'promptTokens' | 'responseTokens'>[],
  steps: number,
): number => {
  const places = Array.from(
    { length: LOOKS },
    (_, i) => 1 + Math.floor((i * Math.max(0, steps - 1)) / (LOOKS - 1)),
  )
  const rows = [...new Set(places)].flatMap(draw)
  return mean(rows.map(({ promptTokens, responseTokens }) => promptTokens.length + responseTokens.length))
}

/** Demonstrations of a step that are looked at. */
const LOOKED_AT = 256

/** The same settings for a look at demonstrations: no more of them than it takes to know their length. */
export const fewRows = <Config extends { batch: number }>(config: Config): Config => ({
  ...config,
  batch: Math.min(config.batch, LOOKED_AT),
})

export interface SupervisedWork {
  /** Null where the model is not known yet. */
  shape: ModelConfig | null
  /** What is trained in place of all weights. */
  lora?: LoraConfig | null
  /** Of a row, prompt and response: its mean, or with `atMost` what it may have. */
  rowTokens: number
  atMost?: boolean
  /** Longest row; with it nothing is taken to be sampled, and memory is that of learning alone. */
  longest?: number
  /** Tokens that are sampled before the first step. Default 0. */
  sampledTokens?: number
}

export interface SupervisedMachine {
  lines: string[]
  json: Partial<PlannedTime> & { memoryBytes?: MemoryEstimate; here?: Feasibility }
}

type LocalSettings = Parameters<typeof enginesOf>[0] & {
  microBatchTokens: number
  maxRows: number
  recompute?: boolean
  arena?: boolean
  sampleBits?: SampleBits
}

/** What is sampled is only evaluated; with a longest row nothing is. */
const memoryOf = (
  shape: ModelConfig,
  { lora = null, longest }: SupervisedWork,
  policy: LocalSettings,
): MemoryEstimate => {
  const { maxRows } = policy
  const tokens = shape.maxPositions / 2
  const sampled = { rows: maxRows, prompts: maxRows, maxRows, promptTokens: tokens, newTokens: tokens }
  return estimateMemory(shape, {
    ...{
      lora: longest === undefined ? null : lora,
      reference: false,
      sequence: longest ?? shape.maxPositions,
    },
    ...{ microBatchTokens: policy.microBatchTokens, recompute: policy.recompute, arena: policy.arena },
    sampleBits: policy.sampleBits,
    engines: enginesOf(policy, () => shape),
    draws: longest === undefined ? [sampled] : [],
  })
}

/** Lines and metrics of a plan; of a policy on a server, neither memory nor time are this machine's. */
export const supervisedMachine = (
  config: { policy: Pick<PolicySettings, 'kind'> | LocalSettings; steps: number; batch: number },
  work: SupervisedWork,
): SupervisedMachine => {
  const policy = config.policy as PolicySettings & LocalSettings
  if (policy.kind === 'tinker') return { lines: [], json: {} }
  const { shape, lora = null, rowTokens, atMost = false, sampledTokens = 0 } = work
  const memory = shape && memoryOf(shape, work, policy)
  const time =
    shape &&
    planTime(
      {
        ...{ model: 'the model', shape, lora, steps: config.steps, maxRows: policy.maxRows },
        ...{ reference: false, scorings: 0, minibatches: 1, epochs: 1, supervised: true },
        recompute: policy.recompute ?? false,
        roles: [{ name: 'policy', groups: config.batch, samples: 1, promptTokens: rowTokens, newTokens: 0 }],
      },
      { samples: sampledTokens, promptTokens: 0, newTokens: 1 },
    )
  const without = `${atMost ? 'if every row is as long as it may be; ' : ''}without evaluations`
  const machine = machinePlan({ policy }, time, memory, without)
  const lengthSetting = work.longest === undefined ? 'model.shape.maxPositions' : 'maxTokens'
  const sequence = work.longest ?? shape?.maxPositions ?? 0
  return {
    lines: [...(memory ? memoryLines(memory, { ...policy, sequence, lengthSetting }) : []), ...machine.lines],
    json: { ...(memory && { memoryBytes: memory }), ...machine.json },
  }
}
