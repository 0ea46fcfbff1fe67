/** @file The reward in words, for reports. */

import type { FusionGate } from '../../rl/fusion.ts'
import type { RitConfig } from './config.ts'

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
