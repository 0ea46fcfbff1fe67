/** @file Which shade a token has by its log-prob or advantage: steps of a scale, as names of classes. */

import type { TokenValues } from '../../../runs/rows.ts'

export type TokenColour = 'logprob' | 'advantage'

/** Steps of a scale; 0 is no colour. */
export const SHADES = 5
/** -log-prob from which a token has the strongest shade: a chance of one in 150. */
const SURPRISE = 5

/** One token: its text, its shade, and what a reader who points at it is told. */
export interface ShadedToken {
  text: string
  shade: string
  title: string
}

const step = (share: number): number => Math.min(SHADES, Math.ceil(SHADES * Math.max(0, share)))

const three = (x: number): string => String(Number(x.toPrecision(3)))

/**
 * Tokens of a response with their shades. Advantages are compared with the largest of the response, so that the sign and the place
 * show, not the size; the title has the numbers. Tokens without text are left out.
 */
export const shadedTokens = (
  text: string,
  { widths, logprobs, advantages }: TokenValues,
  colour: TokenColour,
): ShadedToken[] => {
  const advantageAt = (i: number) => (typeof advantages === 'number' ? advantages : (advantages[i] ?? 0))
  const largest = Math.max(1e-9, ...widths.map((_, i) => Math.abs(advantageAt(i))))
  let at = 0
  return widths.flatMap((width, i) => {
    const piece = text.slice(at, at + width)
    at += width
    if (width === 0) return []
    const [logprob, advantage] = [logprobs[i] ?? 0, advantageAt(i)]
    const shade =
      colour === 'logprob'
        ? `rare-${step(-logprob / SURPRISE)}`
        : `${advantage < 0 ? 'down' : 'up'}-${step(Math.abs(advantage) / largest)}`
    const title = `log-prob ${three(logprob)} (${three(100 * Math.exp(logprob))}%), advantage ${three(advantage)}`
    return [{ text: piece, shade, title }]
  })
}
