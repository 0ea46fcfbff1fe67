/** @file Credit with a bonus of entropy: tokens that the policy was unsure of weigh more (RuscaRL Table 13). */

import type { Policy } from '../../policy/policy.ts'
import { type EntropyBonusOptions, withEntropyBonus } from '../../rl/entropy-bonus.ts'
import type { Credited } from '../../rl/rollout.ts'
import { entropiesOf, type ScoringOptions } from '../../train/scores.ts'

/** @param bonus null: rollouts as they are. @throws ConfigError for a policy that cannot tell entropies */
export const entropyCredit = async <Problem, Grade>(
  policy: Policy,
  credited: Credited<Problem, Grade>[][],
  bonus: EntropyBonusOptions | null,
  options: ScoringOptions,
): Promise<Credited<Problem, Grade>[][]> => {
  if (bonus === null) return credited
  const entropies_P_G = await entropiesOf(policy, credited, options)
  return credited.map((group, p) =>
    group.map((item, g) => ({
      ...item,
      advantages: withEntropyBonus(item.advantages, entropies_P_G[p][g], bonus),
    })),
  )
}
