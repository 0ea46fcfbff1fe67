/** @file Earlier looks at claims: what they found, and all pairs together. */

import { type PageSection, tableSection } from '../../runs/report/view.ts'
import type { MetricChoice } from '../plan/registration.ts'
import { type EarlierLook, earlierLooks } from '../results/earlier.ts'
import type { PaperResult } from '../results/paper.ts'
import { intervalText } from './notes.ts'

const ABOUT =
  'These claims were left open by earlier results. Here they are decided by the runs of this experiment alone, with p multiplied by the looks; the earlier one had the whole 5%, so over both the error is up to 7.5%. All pairs together are for reading and decide nothing.'

const effectText = (metric: MetricChoice, found: EarlierLook['comparisons'][number]['earlier']): string =>
  found === null ? '–' : `${intervalText(metric, found.difference, found.interval)}, ${found.pairs} pairs`

/** False where no claim names any. @param folder of the results, beside those of earlier looks */
export const earlierSection = (
  { claims, registration }: PaperResult,
  folder: string,
): PageSection | false => {
  const rows = claims.flatMap(own =>
    earlierLooks(folder, own, registration.arms).flatMap(({ results, claim: id, status, comparisons }) => [
      [own.claim.id, `${results}/${id}`, '', '', status ?? 'not there'],
      ...comparisons.map(({ name, earlier, together }) => [
        ...['', name, effectText(own.claim.metric, earlier), effectText(own.claim.metric, together), ''],
      ]),
    ]),
  )
  const head = ['Claim', 'Earlier', 'Difference then', 'All pairs together', 'Status then']
  return rows.length > 0 && tableSection('Looked at before', ABOUT, { text: true, head, rows })
}
