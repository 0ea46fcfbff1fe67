/** @file What an experiment came to, as `gradus experiment` prints it: lines for people, one object for machines. */

import {
  type Claim,
  type ClaimResult,
  type Comparison,
  type ControlResult,
  comparisonName,
  detectableOf,
  type PaperResult,
  startsNote,
} from '../../experiments/index.ts'

const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(4)}`

const detectable = (claim: Claim, comparison: Comparison): string => {
  const found = detectableOf(claim, comparison)
  if (found === null) return ''
  const { direction } = claim
  const what = direction === 'greater' || direction === 'less' ? 'detectable' : 'detectable margin'
  return `; ${what} ${found.effect?.toFixed(4) ?? 'none'}`
}

const comparisonLine = ({ claim, comparisons }: ClaimResult): string[] =>
  comparisons.map(comparison => {
    const { statistics, status, p, adjustedP } = comparison
    const name = comparisonName(comparison, claim.reference)
    if (!statistics) return `    ${name}: no pairs yet`
    const [low, high] = statistics.interval
    const effect = `${signed(statistics.difference)} [${signed(low)}, ${signed(high)}]`
    const test = claim.test === 'mcnemar' ? 'McNemar p' : 'p'
    const starts = startsNote(claim.metric, comparison)
    return `    ${name}: ${effect}, ${test} ${p.toFixed(4)} (corrected ${adjustedP.toFixed(4)}), ${statistics.n} pairs: ${status}${detectable(claim, comparison)}${starts === null ? '' : `; ${starts}`}`
  })

const controlLine = ({ kind, arm, outcome }: ControlResult): string =>
  `  control ${kind} (${arm}): ${outcome}`

/** What every claim came to, for people. */
export const resultLines = (result: PaperResult, report: string): string[] => [
  `${result.registration.paper}: ${result.runs.done} of ${result.runs.planned} runs done`,
  ...result.claims.flatMap(claim => [
    `  ${claim.claim.id}: ${claim.status} (${claim.reason})`,
    ...comparisonLine(claim),
  ]),
  ...result.controls.map(controlLine),
  ...result.failed.map(({ id, message }) => `  failed: ${id}: ${message}`),
  `report  ${report}`,
]

/** The same for machines. */
export const resultJson = (result: PaperResult, folder: string, report: string) => ({
  paper: result.registration.paper,
  sha256: result.registration.hash,
  runs: result.runs,
  claims: result.claims.map(({ claim, status, reason, p, adjustedP, comparisons, share }) => ({
    id: claim.id,
    status,
    reason,
    p,
    adjustedP,
    share,
    comparisons: comparisons.map(({ pairs: _pairs, ...rest }) => rest),
  })),
  controls: result.controls,
  failed: result.failed,
  results: folder,
  report,
})
