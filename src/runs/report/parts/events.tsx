/** @file Events of a run, line by line. */

import type { EventRow } from '../../rows.ts'

export const Events = ({ events }: { events: readonly EventRow[] }) => (
  <ul class="plain">
    {events.map((event, i) => (
      <li class="row" key={`${event.at ?? ''}-${i}`}>
        <span class="when">{event.step === undefined ? '' : `step ${event.step}`}</span>
        <span class={`chip ${event.level}`}>{event.action ?? event.control ?? event.level}</span>
        <span>{event.message}</span>
      </li>
    ))}
  </ul>
)
