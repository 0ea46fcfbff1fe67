/** @file Both rewards in one, and advantages of them: pure functions over grades. */

import type { Advantages } from '../../rl/advantages.ts'
import { type Fusion, type FusionGate, fuse, gated } from '../../rl/fusion.ts'
import type { Graded, Groups } from '../../rl/rollout.ts'
import { rewardOf } from '../../tasks/scored-response.ts'
import { normalisedAdvantages } from '../options/normalise.ts'
import type { RitConfig } from './config.ts'
import type { RitGrade } from './thinking.ts'

/** A rollout with what became of its two rewards. */
export interface RitRollout<Problem> extends Graded<Problem, RitGrade> {
  fusion: Fusion
}

/**
 * The rollout with its reward, paid for both (RiT), for the answer alone (ORM), or for thinking alone (w/o RR); raw parts are kept apart.
 * @param alpha weight of thinking in this step
 */
export const rewardedRollout = <Problem>(
  { reward, fusion: settings }: Pick<RitConfig, 'reward' | 'fusion'>,
  item: Graded<Problem, RitGrade>,
  alpha: number,
): RitRollout<Problem> => {
  const response = rewardOf(item.grade.answer)
  const { thinking } = item.grade
  const { gate } = settings
  const paid = {
    fused: () => fuse(thinking, response, { alpha, gate }),
    thinking: () => fuse(thinking, response, { alpha: 1, gate: 'none' }),
    response: (): Fusion => ({ fused: response, reward: response, bit: false, fellBack: false }),
  }
  // Of a rollout that failed outside nothing is known.
  const fusion = item.rollout.end === 'failed' ? fuse(null, null, settings) : paid[reward]()
  const raw = thinking === 'none' ? null : thinking
  return { ...item, fusion, reward: fusion.reward, parts: { thinking: raw, response, fused: fusion.fused } }
}

/**
 * Advantages of the fused reward; or, part by part, of thinking as the gate leaves it and of the response, each normalised in
 * its group before they are mixed (every gate's reward is alpha T' + (1 - alpha) R: `gated`).
 * @throws NumericError for a reward that is not finite
 */
export const ritAdvantages = (
  config: Pick<RitConfig, 'normalise' | 'fusion' | 'advantage'>,
  groups: Groups<RitRollout<unknown>>,
  alpha: number,
): Advantages => {
  const { gate } = config.fusion
  // As in the fused reward, the response is all there is where nothing can be judged of thinking.
  const weights = (p: number): Readonly<Record<string, number>> =>
    groups[p].some(({ fusion }) => fusion.fellBack)
      ? { response: 1 }
      : { thinking: alpha, response: 1 - alpha }
  return normalisedAdvantages(config, groups, {
    weights,
    partsOf: ({ reward, parts: { thinking, response } }) =>
      reward === null || response === null
        ? null
        : { response, thinking: thinking === null ? null : gated(gate, thinking, response) },
  })
}

/** Both rewards of each group's rollouts, where both are known. */
export const rewardPairs = (groups: Groups<RitRollout<unknown>>): [thinking: number, response: number][][] =>
  groups.map(group =>
    group.flatMap(({ parts: { thinking, response } }): [number, number][] =>
      thinking === null || response === null ? [] : [[thinking, response]],
    ),
  )

const GATE_WORDS: Readonly<Record<FusionGate, string>> = {
  none: 'Nothing gates it.',
  max: 'Where the answer alone is worth more, that counts (gate max).',
  conditional: 'Thinking counts only where the answer has all of its reward (gate conditional).',
  min: 'It is never more than the answer alone is worth (gate min).',
}

/** How the reward of a configuration comes from thinking and answer. */
export const describeRitRewards = ({ reward, fusion }: Pick<RitConfig, 'reward' | 'fusion'>): string => {
  const parts =
    'Thinking is worth the share of its criteria that it meets, the answer what its own rubric or checker gives, each from 0 to 1.'
  if (reward === 'response') return `${parts} The reward is the answer’s alone.`
  if (reward === 'thinking') return `${parts} The reward is thinking’s alone.`
  const { alpha, gate } = fusion
  return `${parts} The reward is ${alpha} × thinking + ${Number((1 - alpha).toPrecision(6))} × answer. ${GATE_WORDS[gate]}`
}
