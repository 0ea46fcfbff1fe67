/** @file Cold start of the logic task: supervised learning on generated proofs, so that reinforcement has something to choose from. */

import type { Policy } from '../../policy/policy.ts'
import type { Datum } from '../../rl/datum.ts'
import { lossPreset } from '../../rl/loss-presets.ts'
import { scheduleAt } from '../../rl/schedules.ts'
import type { MetricsRow } from '../../runs/rows.ts'
import {
  type Curriculum,
  coldStartStream,
  growingCurriculum,
  type SupervisedExample,
  shortProofCurriculum,
} from '../../tasks/logic/coldstart.ts'
import { ConfigError } from '../../util/errors.ts'
import type { ColdStartPhase } from './config.ts'

const curriculumOf = ({ curriculum, labels, style }: ColdStartPhase): Curriculum => {
  const { kind, maxHops, sources, knots } = curriculum
  const common = { labels, style }
  if (kind === 'growing') return growingCurriculum(common)
  if (kind === 'short-proofs') return shortProofCurriculum(maxHops, common)
  if (sources.length === 0)
    throw new ConfigError('curriculum.sources: expected at least one for a custom curriculum, got none')
  return {
    sources: sources.map(({ hops, nodes }) => ({ ...common, hops, ...(nodes && { nodes }) })),
    knots,
  }
}

/** The demonstrations of a step; they depend on seed and step alone. */
export const demonstrations = (config: ColdStartPhase): ((step: number) => SupervisedExample[]) => {
  const { batch, steps, seed, signWeight, wording, numbering } = config
  const stream = coldStartStream({ curriculum: curriculumOf(config), seed, signWeight, wording, numbering })
  return step =>
    Array.from({ length: batch }, (_, i) => stream((step - 1) * batch + i, (step - 1) / Math.max(1, steps)))
}

const datumOf = ({ promptTokens, responseTokens, responseWeights }: SupervisedExample): Datum => ({
  promptTokens,
  tokens: responseTokens,
  mask: new Float32Array(responseTokens.length).fill(1),
  oldLogprobs: new Float32Array(responseTokens.length),
  advantages: new Float32Array(responseTokens.length),
  ...(responseWeights && { weights: responseWeights }),
})

const seconds = (fromMs: number, toMs: number) => (toMs - fromMs) / 1000

/** One step: demonstrations, cross-entropy on their responses, one optimiser step. */
export const supervisedStep = (
  config: ColdStartPhase,
  policy: Policy,
): ((step: number) => Promise<MetricsRow>) => {
  const draw = demonstrations(config)
  const loss = lossPreset('gradus:supervised')
  const { learningRate: schedule, ...optimizer } = config.optimizer
  return async step => {
    const startMs = performance.now()
    const datums = draw(step).map(datumOf)
    const learningRate = scheduleAt(schedule, step - 1, config.steps)
    const updateMs = performance.now()
    const stats = await policy.update(datums, { loss, optimizer: { ...optimizer, learningRate } })
    const doneMs = performance.now()
    return {
      step,
      loss: stats.loss,
      entropy: stats.entropy,
      gradNorm: stats.gradNorm,
      learningRate,
      tokens: datums.reduce((sum, { promptTokens, tokens }) => sum + promptTokens.length + tokens.length, 0),
      time: {
        data: seconds(startMs, updateMs),
        update: seconds(updateMs, doneMs),
        total: seconds(startMs, performance.now()),
      },
    }
  }
}
