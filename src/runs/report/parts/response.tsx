/** @file What was said in a rollout: a response in its parts, or turn by turn. All of it is text, never HTML. */

import { Fragment } from 'preact'
import type { RolloutRow } from '../../rows.ts'
import { type ResponseSegment, segmentsOf } from '../segments.ts'

const TITLES: Record<ResponseSegment['kind'], string> = {
  thinking: 'Thinking',
  call: 'Tool call',
  output: 'Tool output',
  element: '',
  text: '',
}

const Piece = ({ segment }: { segment: ResponseSegment }) => {
  const { kind, tag, text, open } = segment
  if (kind === 'text') return <pre class="piece text">{text}</pre>
  return (
    <div class={`piece ${kind}`}>
      <span class="piece-name">
        {TITLES[kind] || tag.replaceAll('_', ' ')}
        {open && ' (cut off)'}
      </span>
      <pre>{text}</pre>
    </div>
  )
}

const Pieces = ({ text }: { text: string }) => {
  // A row of a stranger's file may have anything there.
  const segments = typeof text === 'string' ? segmentsOf(text) : []
  return (
    <>
      {segments.map((segment, i) => (
        <Fragment key={`${i}-${segment.tag}`}>
          {segment.kind === 'text' && segments[i - 1]?.kind === 'thinking' && (
            <span class="piece-name">Response</span>
          )}
          <Piece segment={segment} />
        </Fragment>
      ))}
    </>
  )
}

/** What the policy wrote, and what an environment answered where there were several turns. */
export const ResponseText = ({ row }: { row: RolloutRow }) =>
  row.turns === undefined ? (
    <Pieces text={row.response} />
  ) : (
    <div>
      {row.turns.map((turn, i) => (
        <div class={`turn ${turn.by}`} key={`${i}-${turn.by}`}>
          <span class="quiet">{turn.by === 'policy' ? `Turn ${1 + Math.floor(i / 2)}` : 'Environment'}</span>
          <Pieces text={turn.text} />
        </div>
      ))}
    </div>
  )
