/** @file A response with its tokens coloured by how likely they were, or by what they were taught. */

import { useState } from 'preact/hooks'
import { ResponseText } from '../../../runs/report/parts/response.tsx'
import type { RolloutRow } from '../../../runs/rows.ts'
import { SHADES, shadedTokens, type TokenColour } from './token-shades.ts'

const CHOICES: readonly [TokenColour | null, string][] = [
  [null, 'parts'],
  ['logprob', 'log-prob'],
  ['advantage', 'advantage'],
]

interface TokenProps {
  text: string
  shade: string
  title?: string
}

/** How strong a shade is says the number at its end. */
const Token = ({ text, shade, title }: TokenProps) => (
  <span class={`token ${shade}`} style={{ '--share': `${7 * Number(shade.at(-1))}%` }} title={title}>
    {text}
  </span>
)

const shades = (name: string) => Array.from({ length: SHADES }, (_, i) => `${name}-${i + 1}`)

const SCALES: Record<TokenColour, { from: string; shades: string[]; to: string }> = {
  logprob: { from: 'certain', shades: shades('rare'), to: 'a chance of one in 150 or less' },
  advantage: {
    from: 'less of it',
    shades: [...shades('down').reverse(), ...shades('up')],
    to: 'more of it',
  },
}

const Legend = ({ colour }: { colour: TokenColour }) => (
  <p class="quiet token-legend">
    {SCALES[colour].from}{' '}
    {SCALES[colour].shades.map(shade => (
      <Token text={'\u00a0'} shade={shade} key={shade} />
    ))}{' '}
    {SCALES[colour].to}
    <br />
    Point at a token for its numbers.
  </p>
)

/** A response in its parts, or, where the run kept them, by its tokens. */
export const Response = ({ row }: { row: RolloutRow }) => {
  const [chosen, choose] = useState<TokenColour | null>(null)
  const { response, perToken } = row
  if (perToken === undefined) return <ResponseText row={row} />
  return (
    <>
      <fieldset class="row">
        <legend>Show by</legend>
        {CHOICES.map(([colour, name]) => (
          <button type="button" key={name} aria-pressed={colour === chosen} onClick={() => choose(colour)}>
            {name}
          </button>
        ))}
      </fieldset>
      {chosen === null ? (
        <ResponseText row={row} />
      ) : (
        <>
          <Legend colour={chosen} />
          <pre class="piece text tokens">
            {shadedTokens(response, perToken, chosen).map((token, i) => (
              <Token {...token} key={i} />
            ))}
          </pre>
        </>
      )}
    </>
  )
}
