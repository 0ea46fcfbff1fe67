/**
 * @file Continued supervision, the comparison that knows gold proofs: steps of the cold start's demonstrations in the frame of the
 * reinforcement, so that both are evaluated and timed alike.
 */

import { lossPreset } from '../../rl/loss-presets.ts'
import type { SupervisedExample } from '../../tasks/logic/coldstart.ts'
import { demonstrations } from '../../tasks/logic/demonstrations.ts'
import type { Recipe } from '../../train/recipe.ts'
import { supervisedDatum } from '../../train/supervised.ts'
import { ConfigError } from '../../util/errors.ts'
import type { RubricAsRewardConfig } from './config.ts'

/**
 * What is learnt at each step: other demonstrations than the cold start's own, whatever its seed was.
 * @param vocabulary how many tokens the model has
 * @throws ConfigError naming the source or keyframe that cannot be
 */
export const continuedDemonstrations = (
  { demonstrations: settings, seed, steps }: Pick<RubricAsRewardConfig, 'demonstrations' | 'seed' | 'steps'>,
  vocabulary: number,
): ((step: number) => SupervisedExample[]) => {
  const waiting = settings!.curriculum.keyframes.findIndex(({ until }) => until !== undefined)
  if (waiting >= 0)
    throw new ConfigError(
      `demonstrations.curriculum.keyframes[${waiting}].until: expected nothing set, because continued supervision has no keyframes that wait`,
    )
  return demonstrations({ ...settings!, steps, seed: `continued/${seed}` }, vocabulary)
}

/** @param vocabulary how many tokens the model has */
export const continuedSupervision = (
  config: RubricAsRewardConfig,
  vocabulary: number,
  { evaluate }: Pick<Recipe<unknown>, 'evaluate'>,
): Recipe<null> => {
  const draw = continuedDemonstrations(config, vocabulary)
  return {
    rollOut: async () => null,
    async learn(step) {
      const drawn = draw(step)
      const datums = drawn.map((each, i) => ({ datum: supervisedDatum(each), group: `demonstration ${i}` }))
      return {
        phases: [{ name: 'supervised', datums, loss: lossPreset('gradus:supervised'), temperature: 1 }],
        metrics: { tokens: drawn.reduce((sum, { responseTokens }) => sum + responseTokens.length, 0) },
        rollouts: [],
      }
    },
    evaluate,
  }
}
