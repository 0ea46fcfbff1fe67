/** @file A response with its tokens coloured by how likely they were, or by what they were taught. */

import { useState } from 'preact/hooks'
import { ResponseText } from '../../../runs/report/parts/response.tsx'
import type { RolloutRow, TokenValues } from '../../../runs/rows.ts'
import { SHADES, shadedTokens, type TokenColour } from './token-shades.ts'

const CHOICES: readonly [TokenColour | null, string][] = [
  [null, 'parts'],
  ['logprob', 'log-prob'],
  ['advantage', 'advantage'],
]

interface TokenColoursProps {
  chosen: TokenColour | null
  choose(colour: TokenColour | null): void
}

/** What the response is shown by. */
const TokenColours = ({ chosen, choose }: TokenColoursProps) => (
  <fieldset class="row">
    <legend>Show by</legend>
    {CHOICES.map(([colour, name]) => (
      <button type="button" key={name} aria-pressed={colour === chosen} onClick={() => choose(colour)}>
        {name}
      </button>
    ))}
  </fieldset>
)

/** How strong a shade is, by the number at its end. */
const shareOf = (shade: string) => ({ '--share': `${7 * Number(shade.at(-1))}%` })

const shades = Array.from({ length: SHADES }, (_, i) => i + 1)

const SCALES: Record<TokenColour, { from: string; shades: string[]; to: string }> = {
  logprob: { from: 'certain', shades: shades.map(i => `rare-${i}`), to: 'a chance of one in 150 or less' },
  advantage: {
    from: 'less of it',
    shades: [...shades.map(i => `down-${i}`).reverse(), ...shades.map(i => `up-${i}`)],
    to: 'more of it',
  },
}

const Legend = ({ colour }: { colour: TokenColour }) => (
  <p class="quiet token-legend">
    {SCALES[colour].from}{' '}
    {SCALES[colour].shades.map(shade => (
      <span class={`token ${shade}`} style={shareOf(shade)} key={shade}>
        &nbsp;
      </span>
    ))}{' '}
    {SCALES[colour].to}
    <br />
    Point at a token for its numbers.
  </p>
)

interface TokensProps {
  text: string
  values: TokenValues
  colour: TokenColour
}

const Tokens = ({ text, values, colour }: TokensProps) => (
  <>
    <Legend colour={colour} />
    <pre class="piece text tokens">
      {shadedTokens(text, values, colour).map((token, i) => (
        <span class={`token ${token.shade}`} style={shareOf(token.shade)} title={token.title} key={i}>
          {token.text}
        </span>
      ))}
    </pre>
  </>
)

/** A response in its parts, or, where the run kept them, by its tokens. */
export const Response = ({ row }: { row: RolloutRow }) => {
  const [colour, setColour] = useState<TokenColour | null>(null)
  if (row.perToken === undefined) return <ResponseText row={row} />
  return (
    <>
      <TokenColours chosen={colour} choose={setColour} />
      {colour === null ? (
        <ResponseText row={row} />
      ) : (
        <Tokens text={row.response} values={row.perToken} colour={colour} />
      )}
    </>
  )
}
