/** @file A sign that a monitor saw: what it is, why it matters, what to try. */

import type { ComponentChildren } from 'preact'
import { number } from '../../../util/format.ts'
import { describeSpan, type ReportedSign } from '../signs.ts'

const Explanation = ({ sign: { why, advice } }: { sign: ReportedSign }) => (
  <dl class="pairs">
    {why !== null && (
      <>
        <dt>Why it matters</dt>
        <dd>{why}.</dd>
      </>
    )}
    {advice !== null && (
      <>
        <dt>What to try</dt>
        <dd>{advice}.</dd>
      </>
    )}
  </dl>
)

interface SignCardProps {
  sign: ReportedSign
  /** Where to go on from it. */
  children?: ComponentChildren
}

/** A card with an anchor: `warning-MONITOR-STEP`. */
export const SignCard = ({ sign, children }: SignCardProps) => {
  const { monitor, title, step, until, message, figures } = sign
  return (
    <article class="panel warning-card" id={`warning-${monitor}-${step}`}>
      <header class="row">
        <span class={`chip ${until === null ? 'warning' : 'info'}`}>{describeSpan(sign)}</span>
        <h3>{title}</h3>
      </header>
      <p class="seen">{message}.</p>
      <Explanation sign={sign} />
      <p class="row">
        {Object.entries(figures).map(([name, value]) => (
          <span class="part" key={name}>
            <b>{name}</b> {number(value)}
          </span>
        ))}
      </p>
      {children}
    </article>
  )
}
