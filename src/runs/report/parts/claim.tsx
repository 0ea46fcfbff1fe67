/** @file What came of a claim or of a control, in a word and a colour. */

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
  <span class={`verdict chip ${statusLook(status)}`}>
    {count !== undefined && `${count} `}
    {status}
  </span>
)
