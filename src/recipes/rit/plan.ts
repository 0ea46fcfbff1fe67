/** @file What a run of rit would do and need. Nothing is run or called. */

import { splitTrips } from '../../tasks/checklist/index.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import { thoughtModelConfig } from '../checklist/packing.ts'
import { planTraining } from '../common/plan.ts'
import type { RunPlan } from '../common/recipe.ts'
import { shorterStart } from '../common/test-problems.ts'
import { check, longestTripPrompt } from './check.ts'
import type { RitConfig } from './config.ts'

/** How both rewards become one. */
const rewardWords = ({ reward, fusion, thinkingBy, normalise, control }: RitConfig): string => {
  const weight = fusion.adaptive ? `alpha from ${fusion.alpha}, adaptive` : `alpha ${fusion.alpha}`
  const what = {
    fused: `thinking and response fused, ${weight}, gate ${fusion.gate}`,
    response: 'the response alone (ORM)',
    thinking: 'thinking alone (w/o RR)',
  }[reward]
  return [
    what,
    ...(thinkingBy === 'steps' ? ['thinking judged step by step (PRM)'] : []),
    ...(normalise === 'part' ? ['each part normalised apart'] : []),
    ...(control === undefined ? [] : [`control: ${control}`]),
  ].join('; ')
}

/** @throws ConfigError, DataError, CheckpointError for what a run would refuse, but for a model and data that come later */
export const planRit = (config: RitConfig): RunPlan => {
  check(config, 'plan')
  const { rollout, steps, rubric, scaffold, critic, evaluation } = config
  const { train, test } = splitTrips()
  const longest = longestTripPrompt(config)
  const { start, parameters, learning, memory, work, sizes } = planTraining(config, thoughtModelConfig, {
    tokens: longest,
    longest,
    together: rollout.prompts * (scaffold ? rollout.samples : 1),
  })
  const { tokensPerStep } = work
  return {
    lines: [
      `model        ${start}`,
      parameters,
      `data         packing lists with thinking, ${train.length} trips to train on, ${formatInteger(test.length)} to test on`,
      `training     ${steps} steps of ${rollout.prompts} prompts x ${rollout.samples} samples, at most ${rollout.maxTokens} tokens each: up to ${formatInteger(tokensPerStep)} new tokens a step, ${formatCount(tokensPerStep * steps)} in all`,
      `rubric       ${rubric.source}${rubric.file === null ? '' : ` (${rubric.file})`}`,
      `reward       ${rewardWords(config)}`,
      ...(scaffold
        ? [
            `scaffold     ${scaffold.group.kind} in the group, ${scaffold.decay.kind} over the steps, ratio ${config.ratio}`,
          ]
        : []),
      `optimiser    ${critic === null ? 'GRPO' : 'PPO with a critic'}, AdamW, ${config.minibatches * config.epochs} updates a step, ${learning}`,
      `evaluation   ${formatInteger(Math.min(evaluation.problems, test.length))} problems x ${evaluation.samples} at the start and the end${shorterStart(config)}${evaluation.every > 0 ? `, ${formatInteger(Math.min(evaluation.problemsBetween, test.length))} x ${evaluation.samplesBetween} every ${evaluation.every} steps between` : ''}`,
      ...memory,
    ],
    json: { steps, prompts: rollout.prompts, samples: rollout.samples, ...work, ...sizes },
  }
}
