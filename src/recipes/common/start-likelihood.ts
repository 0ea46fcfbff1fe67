/** @file Likelihood under the model that a training started from, for criteria with the rule `likelihood`. */

import { needsStart } from '../../grade/rules/likelihood.ts'
import type { Policy, ScoreItem } from '../../policy/policy.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { mean } from '../../util/statistics.ts'

/**
 * Scores responses by the weights that a policy starts with. They are those of a KL term: one pass without gradient, of the
 * plain prompt and at temperature 1, whatever was sampled.
 */
export class StartLikelihood {
  #policy: Policy | null = null

  /** Whether any of the rubrics asks for it; else nothing is frozen and nothing scored. */
  static neededBy(rows: readonly { rubric: Rubric }[]): boolean {
    return rows.some(({ rubric }) => needsStart(rubric.criteria))
  }

  /** To be called while the policy still is the starting model: its weights are frozen as the reference. */
  async startAt(policy: Policy): Promise<void> {
    await policy.freezeReference()
    this.#policy = policy
  }

  /**
   * Mean log-prob of each response's tokens, the end of its turn included, nats a token; null without any, and before there is a
   * policy.
   */
  async of(items: readonly ScoreItem[]): Promise<(number | null)[]> {
    const scored = items.filter(({ tokens }) => tokens.length > 0)
    if (this.#policy === null || scored.length === 0) return items.map(() => null)
    const scores = await this.#policy.score(scored, { weights: 'reference' })
    const means = scores.map(({ logprobs }) => mean(logprobs)).values()
    return items.map(({ tokens }) => (tokens.length > 0 ? means.next().value! : null))
  }
}
