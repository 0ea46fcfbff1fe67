/** @file A claim of an experiment: what was claimed, and what came of it. */

import type { ComponentChildren } from 'preact'

/** Statuses of claims, outcomes of controls. What has no look is grey. */
const LOOKS: Readonly<Record<string, string>> = {
  reproduced: 'yes',
  'not reproduced': 'no',
  inconclusive: 'open',
  passed: 'yes',
  failed: 'no',
  open: 'open',
}

/** The class of a status: its colour. */
export const statusLook = (status: string): string => LOOKS[status] ?? 'none'

/** A status in its colour; with a number before it, how many have it. */
export const StatusChip = ({ status, count }: { status: string; count?: number }) => (
  <span class={`verdict ${statusLook(status)}`}>
    {count !== undefined && `${count} `}
    {status}
  </span>
)

interface ClaimCardProps {
  id: string
  status: string
  reason: string | null
  statement: string
  children?: ComponentChildren
}

/** A card with an anchor: `claim-ID`. */
export const ClaimCard = ({ id, status, reason, statement, children }: ClaimCardProps) => (
  <article class="panel claim" id={`claim-${id}`}>
    <header>
      <h3>{id}</h3>
      <StatusChip status={status} />
      <span class="quiet">{reason}</span>
    </header>
    <p class="statement">{statement}</p>
    {children}
  </article>
)
