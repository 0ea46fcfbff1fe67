/** @file What an experiment came to, as `gradus experiment` prints it: lines for people, one object for machines. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ArmComparison,
  type ClaimResult,
  comparisonName,
  detectableOf,
} from '../../experiments/analysis/claims.ts'
import type { ControlResult } from '../../experiments/analysis/controls.ts'
import { apartOf, type Claim, metricText } from '../../experiments/plan/registration.ts'
import { type Recomputed, recompute, writeRecomputed } from '../../experiments/recompute.ts'
import { startsNote } from '../../experiments/report/notes.ts'
import { valueText } from '../../experiments/report/units.ts'
import { countsOf, countsText } from '../../experiments/results/counts.ts'
import type { PaperResult } from '../../experiments/results/paper.ts'
import { provenanceNow } from '../../experiments/run/provenance.ts'
import { UsageError } from '../../util/errors.ts'
import { plural } from '../../util/format.ts'
import { meanKnown } from '../../util/statistics.ts'
import { EXIT, type Io, printJson } from '../io.ts'

const signed = (value: number): string => `${value < 0 ? '' : '+'}${value.toFixed(4)}`

const detectable = (claim: Claim, comparison: ArmComparison): string => {
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
    const test = { mcnemar: 'McNemar p', trend: 'Jonckheere p' }[claim.test as string] ?? 'p'
    const starts = startsNote(claim.metric, comparison)
    return `    ${name}: ${effect}, ${test} ${p.toFixed(4)} (corrected ${adjustedP.toFixed(4)}), ${statistics.n} pairs: ${status}${detectable(claim, comparison)}${starts === null ? '' : `; ${starts}`}`
  })

/** The claim's metric, its mean over the runs of each arm that have a value. */
const armMeans = ({ runs }: ClaimResult): { arm: string; mean: number | null; runs: number }[] =>
  [...new Set(runs.map(({ arm }) => arm))].map(arm => {
    const values = runs.flatMap(own => (own.arm === arm && own.value !== null ? [own.value] : []))
    return { arm, mean: meanKnown(values), runs: values.length }
  })

const meansLine = (claim: ClaimResult): string[] => {
  const { metric } = claim.claim
  const means = armMeans(claim).map(
    ({ arm, mean, runs }) => `${arm} ${valueText(metric, mean)} (${plural(runs, 'run')})`,
  )
  return means.length === 0 ? [] : [`    means of ${metricText(metric)}: ${means.join(', ')}`]
}

const controlLine = ({ kind, arm, outcome, atRegistration, note }: ControlResult): string =>
  `  control ${kind} (${arm}): ${outcome}${note ? `; ${note}` : ''}${atRegistration === null ? '' : `; by rule ${atRegistration.rule}, at registration: ${atRegistration.outcome}`}`

/** What each look at an experiment that was enlarged came to. */
const blockLines = ({ blocks, claims }: PaperResult): string[] =>
  blocks.map(({ nth, seeds, runs, alone, together }) => {
    const lines = claims.map(
      ({ claim }, i) => `${claim.id} ${together[i].status}${nth > 1 ? ` (alone ${alone[i].status})` : ''}`,
    )
    return `  look ${nth}, with seeds ${seeds.join(', ')} (${runs} runs): ${lines.join('; ')}`
  })

const claimLines = (claim: ClaimResult): string[] => [
  `  ${claim.claim.id}: ${claim.status} (${claim.reason})`,
  ...(claim.atRegistration === null
    ? []
    : [
        `    by rule ${claim.atRegistration.rule}, at registration: ${claim.atRegistration.status} (${claim.atRegistration.reason})`,
      ]),
  ...meansLine(claim),
  ...comparisonLine(claim),
]

/** Claims whose status says less than it seems to: under a line of their own, each with why. */
const apartLines = (result: PaperResult): string[] => {
  const { apart } = countsOf(result)
  if (apart.length === 0) return []
  const lines = apart.flatMap(({ claim, is, why }) => {
    const [first, ...more] = claimLines(claim)
    return [first, `    ${is}: ${why}`, ...more]
  })
  return ['apart, whose status is not counted:', ...lines]
}

/** What every claim came to, for people. */
export const resultLines = (result: PaperResult, report: string | null): string[] => [
  `${result.registration.paper}: ${result.runs.done} of ${result.runs.planned} runs done`,
  countsText(result),
  ...countsOf(result).counted.flatMap(claimLines),
  ...apartLines(result),
  ...blockLines(result),
  ...result.controls.map(controlLine),
  ...result.registration.afterwards.notes.map(note => `  note: ${note}`),
  ...result.failed.map(({ id, message }) => `  failed: ${id}: ${message}`),
  ...(report === null ? [] : [`report  ${report}`]),
]

/** The same for machines. */
export const resultJson = (result: PaperResult, folder: string, report: string | null) => ({
  paper: result.registration.paper,
  sha256: result.registration.hash,
  rule: result.rule,
  registered: result.registered,
  runs: result.runs,
  counts: {
    ...Object.fromEntries(countsOf(result).statuses.map(({ status, count }) => [status, count])),
    apart: countsOf(result).apart.length,
  },
  afterwards: result.registration.afterwards,
  claims: result.claims.map(found => {
    const { claim, status, reason, atRegistration, p, adjustedP, comparisons, share } = found
    return {
      id: claim.id,
      status,
      apart: apartOf(result.registration, claim.id),
      reason,
      atRegistration,
      p,
      adjustedP,
      share,
      means: armMeans(found),
      comparisons: comparisons.map(({ pairs: _pairs, ...rest }) => rest),
    }
  }),
  blocks: result.blocks,
  controls: result.controls.map(({ evidence: _evidence, ...rest }) => rest),
  failed: result.failed,
  notes: result.notes,
  results: folder,
  report,
})

const SOURCES = {
  runs: 'from the runs that are kept in runs.jsonl.br',
  pairs: 'from the pairs in the files of the claims; runs are not kept here',
} as const

const differenceLines = ({ differences }: Recomputed, isWritten: boolean): string[] =>
  differences.length === 0
    ? ['every status is as in its file']
    : [
        `${differences.length} otherwise than in the files${isWritten ? ', which are written anew' : '; --write writes them anew'}:`,
        ...differences.map(text => `  ${text}`),
      ]

/** @throws ConfigError, DataError for a folder that does not hold what it takes */
export const recomputeCommand = (
  folder: string,
  { write = false, json = false }: { write?: boolean; json?: boolean },
  io: Io,
): number => {
  if (!existsSync(join(folder, 'controls.json')))
    throw new UsageError(
      `${folder}: expected a folder of results (RESULTS/PAPER, with controls.json) with --recompute, got something else`,
    )
  const command = `gradus experiment ${folder} --recompute${write ? ' --write' : ''}`
  const found = recompute(folder, provenanceNow(command))
  const { result, from, differences } = found
  const report = write ? writeRecomputed(folder, found) : null
  if (json) printJson(io, { from, differences, ...resultJson(result, folder, report) })
  else {
    const lines = [SOURCES[from], ...resultLines(result, report), ...differenceLines(found, write)]
    io.out.write(`${lines.join('\n')}\n`)
  }
  return EXIT.ok
}
