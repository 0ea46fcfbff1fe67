/** @file Stages of tokens: which stage each token of a rollout is credited for. */

import type { TextSpan } from './elements.ts'
import { parseTrajectory, type StagedText, type StageOptions } from './stages.ts'

/** A rollout's text with the place of every token: token i covers [ends[i - 1] or 0, ends[i]). */
export interface RolloutText {
  text: string
  ends: ArrayLike<number>
  /** One a token: 1 where the agent wrote, 0 where others did. */
  mask: ArrayLike<number>
}

/** Text of tokens that are given piece by piece. */
export const rolloutText = (pieces: readonly string[], mask: ArrayLike<number>): RolloutText => {
  let end = 0
  const ends = pieces.map(piece => {
    end += piece.length
    return end
  })
  return { text: pieces.join(''), ends, mask }
}

/** Where others than the agent wrote: runs of tokens with mask 0, those without text included. */
export const observationsByMask = ({ ends, mask }: Omit<RolloutText, 'text'>): TextSpan[] => {
  const found: TextSpan[] = []
  for (let i = 0; i < ends.length; i++) {
    if (mask[i] !== 0) continue
    const end = ends[i]
    if (i > 0 && mask[i - 1] === 0) found[found.length - 1].end = end
    else found.push({ start: i === 0 ? 0 : ends[i - 1], end })
  }
  return found
}

/** 1 for tokens without text behind the last character of a turn. */
const turnEnds = ({ ends, mask }: Omit<RolloutText, 'text'>): Uint8Array => {
  const found = new Uint8Array(ends.length)
  for (let i = ends.length - 1; i >= 0; i--) {
    const isEmpty = ends[i] === (i === 0 ? 0 : ends[i - 1])
    const isLast = i + 1 === ends.length || mask[i + 1] === 0 || found[i + 1] === 1
    if (isEmpty && isLast && mask[i] !== 0) found[i] = 1
  }
  return found
}

/**
 * The stage of each token, 0 where others wrote. A token that two stages share belongs to that of its first character: there it
 * was begun, and it is the one that ends a closing tag. A token without text (an end of turn, the first bytes of a character)
 * belongs to where the next character stands, and at the end of a turn to where the last one did. Tokens of an agent that wrote no
 * character at all are research, as is all that comes without a plan.
 */
export const stagesOfTokens = (
  tokens: Omit<RolloutText, 'text'>,
  { stages }: Pick<StagedText, 'stages'>,
): Uint8Array => {
  const { ends, mask } = tokens
  const isEnd = turnEnds(tokens)
  const found = new Uint8Array(ends.length)
  let s = 0
  for (let i = 0; i < ends.length; i++) {
    if (mask[i] === 0) continue
    const start = i === 0 ? 0 : ends[i - 1]
    while (s < stages.length && stages[s].end <= start) s++
    const next = stages[s]
    const isHere = next !== undefined && next.start <= start && isEnd[i] === 0
    found[i] = isHere ? next.stage : (stages[s - 1]?.stage ?? next?.stage ?? 2)
  }
  return found
}

/** A rollout as stages, in characters and in tokens. Who wrote what is known from the mask, so tags cannot pretend it. */
export const parseRollout = (
  rollout: RolloutText,
  options: Omit<StageOptions, 'observations'> = {},
): StagedText & { tokenStages: Uint8Array } => {
  const trajectory = parseTrajectory(rollout.text, { ...options, observations: observationsByMask(rollout) })
  return { ...trajectory, tokenStages: stagesOfTokens(rollout, trajectory) }
}
