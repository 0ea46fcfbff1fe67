/** @file Facts in a line: a name and what it is, for each that there is. */

import type { ComponentChildren } from 'preact'

export type ReportFact = readonly [name: string, value: ComponentChildren]

/** Those of which nothing is known are left out; some say by themselves what they are. */
export const Facts = ({ facts }: { facts: readonly ReportFact[] }) => (
  <div class="row facts">
    {facts.map(
      ([name, value]) =>
        value !== undefined &&
        value !== null &&
        value !== '' && (
          <span key={`${name} ${value}`}>
            {name !== '' && <b>{name}</b>}
            {value}
          </span>
        ),
    )}
  </div>
)
