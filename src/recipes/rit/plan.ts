/** @file What a run of rit would do and need. Nothing is run or called. */

import { formatCount, formatInteger } from '../../util/format.ts'
import { planTraining } from '../common/plan.ts'
import type { RunPlan } from '../common/recipe.ts'
import { shorterStart } from '../common/test-problems.ts'
import { check } from './check.ts'
import type { RitConfig } from './config.ts'
import { freshShape, taskFigures } from './tasks.ts'

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
  const { train, test, promptTokens, longestPrompt } = taskFigures(config)
  const { start, parameters, learning, memory, work, sizes } = planTraining(config, freshShape(config), {
    tokens: promptTokens,
    longest: longestPrompt,
    together: rollout.prompts * (scaffold ? rollout.samples : 1),
  })
  const { tokensPerStep } = work
  return {
    lines: [
      `model        ${start}`,
      parameters,
      `data         ${config.task.kind === 'packing' ? 'packing lists' : 'chains of arithmetic'} with thinking, ${formatInteger(train)} to train on, ${formatInteger(test)} to test on`,
      `training     ${steps} steps of ${rollout.prompts} prompts x ${rollout.samples} samples, at most ${rollout.maxTokens} tokens each: up to ${formatInteger(tokensPerStep)} new tokens a step, ${formatCount(tokensPerStep * steps)} in all`,
      `rubric       ${rubric.source}${rubric.file === null ? '' : ` (${rubric.file})`}`,
      `reward       ${rewardWords(config)}`,
      ...(scaffold
        ? [
            `scaffold     ${scaffold.group.kind} in the group, ${scaffold.decay.kind} over the steps, ratio ${config.ratio}`,
          ]
        : []),
      `optimiser    ${critic === null ? 'GRPO' : 'PPO with a critic'}, AdamW, ${config.minibatches * config.epochs} updates a step, ${learning}`,
      `evaluation   ${formatInteger(Math.min(evaluation.problems, test))} problems x ${evaluation.samples} at the start and the end${shorterStart(config)}${evaluation.every > 0 ? `, ${formatInteger(Math.min(evaluation.problemsBetween, test))} x ${evaluation.samplesBetween} every ${evaluation.every} steps between` : ''}`,
      ...memory,
    ],
    json: { steps, prompts: rollout.prompts, samples: rollout.samples, ...work, ...sizes },
  }
}
