/** @file The response of a rollout, in its parts or with its tokens coloured. */

import { useState } from 'preact/hooks'
import { ResponseText } from '../../../runs/report/parts/response.tsx'
import type { RolloutRow } from '../../../runs/rows.ts'
import { type TokenColour, TokenColours, Tokens } from './tokens.tsx'

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
