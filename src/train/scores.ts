/** @file What the policy knows of rollouts that it has drawn: entropies, a critic's values. */

import type { Policy, TokenScores } from '../policy/policy.ts'
import { type Graded, type Groups, type RatioMode, trainingPrompt } from '../rl/rollout.ts'
import { ConfigError } from '../util/errors.ts'

export interface ScoringOptions {
  temperature: number
  /** Which prompt rollouts are trained on that were sampled from a scaffold. Default `plain`. */
  ratio?: RatioMode
}

/** What the newest weights say of every token, on the prompt that rollouts are trained on: one array a rollout. */
const scoresOf = async (
  policy: { score(...args: Parameters<Policy['score']>): Promise<Partial<TokenScores>[]> },
  groups: Groups<Graded<unknown, unknown>>,
  { temperature, ratio }: ScoringOptions,
  name: 'entropies' | 'values',
  refusal: { message: string; hint: string },
): Promise<Float32Array[][]> => {
  const items = groups.flat().map(({ rollout }) => ({
    promptTokens: trainingPrompt(rollout, ratio),
    tokens: rollout.tokens,
  }))
  const scores = (await policy.score(items, { temperature })).values()
  return groups.map(group =>
    group.map(() => {
      const own = scores.next().value![name]
      if (own) return own
      throw new ConfigError(refusal.message, { hint: refusal.hint })
    }),
  )
}

/**
 * How unsure the policy is of every token, nats: one array a rollout.
 * @throws ConfigError for a policy that cannot tell
 */
export const entropiesOf = (
  policy: Policy,
  groups: Groups<Graded<unknown, unknown>>,
  options: ScoringOptions,
): Promise<Float32Array[][]> =>
  scoresOf(policy, groups, options, 'entropies', {
    message: 'entropies: expected a policy that knows them, got one elsewhere that tells log-probs alone',
    hint: 'leave out what is paid or measured by entropy, or train with policy.kind local',
  })

/**
 * The critic's estimate before every token, that of a value head or of a model of its own: one array a rollout.
 * @throws ConfigError for a policy without a critic
 */
export const valuesOf = (
  policy: Policy,
  groups: Groups<Graded<unknown, unknown>>,
  options: ScoringOptions,
): Promise<Float32Array[][]> =>
  scoresOf(policy.critic ?? policy, groups, options, 'values', {
    message: 'critic: expected a policy with a value head, got one without',
    hint: 'start the policy with a value head, or leave the critic out',
  })
