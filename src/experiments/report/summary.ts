/** @file The results of a paper as Markdown: the same claims, effects and statuses as in the report, for reading in a repository. */

import { join } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { formatDuration, number, percent } from '../../util/format.ts'
import type { PairStatistics } from '../analysis/analysis.ts'
import { type ArmComparison, type ClaimResult, comparisonName } from '../analysis/claims.ts'
import type { ControlResult } from '../analysis/controls.ts'
import { looksOf } from '../plan/blocks.ts'
import type { MetricChoice } from '../plan/registration.ts'
import { countsOf, countsText } from '../results/counts.ts'
import { type EarlierLook, earlierLooks } from '../results/earlier.ts'
import type { ArmCost, PaperResult } from '../results/paper.ts'
import { claimNotes, detectableText, intervalText } from './notes.ts'
import { pText, valueText } from './units.ts'

/** A bar would end the cell. */
const cell = (text: string | number): string => String(text).replaceAll('|', '\\|')

const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.map(cell).join(' | ')} |`).join('\n')

const effect = (metric: MetricChoice, statistics: PairStatistics | null): string =>
  statistics === null ? '–' : intervalText(metric, statistics.difference, statistics.interval)

const robust = (metric: MetricChoice, statistics: PairStatistics | null): string =>
  statistics === null ? '–' : intervalText(metric, statistics.robust.estimate, statistics.robust.interval)

const comparisonRow = (claim: ClaimResult, comparison: ArmComparison): string[] => {
  const { statistics } = comparison
  const { metric, reference } = claim.claim
  const means = statistics
    ? `${valueText(metric, statistics.meanA)} / ${valueText(metric, statistics.meanB)}`
    : '–'
  const name = comparisonName(comparison, reference)
  return [
    name,
    means,
    effect(metric, statistics),
    robust(metric, statistics),
    detectableText(claim, comparison),
    String(statistics?.n ?? 0),
    pText(comparison.p),
  ]
}

const shareRow = ({ share, claim }: ClaimResult): string[] => [
  `share of runs, at least ${percent(claim.atLeast)}`,
  '',
  ofRuns(share),
  '–',
  '–',
  String(share?.n ?? 0),
  '–',
]

/** One row; or with several comparisons one of the claim, and one of each with its own corrected p and status. */
const claimRows = (claim: ClaimResult): string[][] => {
  const { claim: registered, comparisons, p, adjustedP, status, atRegistration } = claim
  const own = [pText(adjustedP), `**${status}**`, ...(atRegistration === null ? [] : [atRegistration.status])]
  if (comparisons.length === 0) return [[registered.id, ...shareRow(claim), ...own]]
  const [first] = comparisons
  if (comparisons.length === 1) return [[registered.id, ...comparisonRow(claim, first), ...own]]
  return [
    [registered.id, `all ${comparisons.length}`, '', '', '', '', '', pText(p), ...own],
    ...comparisons.map(each => [
      '',
      ...comparisonRow(claim, each),
      pText(each.adjustedP),
      each.status,
      ...(atRegistration === null ? [] : ['']),
    ]),
  ]
}

const ofRuns = (share: ClaimResult['share']): string =>
  share === null ? '–' : `${share.hits} of ${share.n} [${share.interval.map(end => percent(end)).join(', ')}]`

const controlRow = (
  metric: MetricChoice,
  { kind, arm, outcome, above, gain, note }: ControlResult,
): string[] => [
  kind,
  arm,
  effect(metric, above),
  effect(metric, gain),
  `**${outcome}**${note ? `; ${note}` : ''}`,
]

/** The column of judge calls is there when an arm had a judge. */
const armsSection = ({ arms }: PaperResult): string => {
  const judged = arms.some(({ judgeCalls }) => judgeCalls !== undefined)
  const head = ['arm', 'what', 'runs', 'tokens a run', ...(judged ? ['judge calls a run'] : []), 'time a run']
  const calls = ({ judgeCalls }: ArmCost) =>
    judged ? [judgeCalls === undefined ? '–' : number(Math.round(judgeCalls))] : []
  const rows = arms.map(arm => [
    arm.arm,
    arm.summary ?? '',
    arm.runs === arm.planned ? arm.runs : `${arm.runs} of ${arm.planned}`,
    number(Math.round(arm.tokens)),
    ...calls(arm),
    formatDuration(arm.seconds),
  ])
  return section('Arms', table(head, rows))
}

const section = (title: string, ...parts: readonly string[]): string => [`## ${title}`, ...parts].join('\n\n')

const HEAD = ['claim', 'arms', 'means', 'difference', 'trimmed mean', 'detectable', 'pairs', 'p', 'p (Holm)']

/** The column of the rule at registration is there when it is another one. */
const headOf = ({ rule, registered }: PaperResult): string[] =>
  rule === registered.rule
    ? [...HEAD, 'status']
    : [...HEAD, `status (rule ${rule})`, `at registration (rule ${registered.rule})`]

const notesOf = (claims: readonly ClaimResult[]): string[] =>
  claims.flatMap(claim => claimNotes(claim).map(note => `- **${claim.claim.id}**: ${note}.`))

const claimsSection = (result: PaperResult): string => {
  const { counted: claims } = countsOf(result)
  const notes = notesOf(claims)
  const open = claims.filter(({ status }) => status !== 'reproduced')
  const text = countsText(result)
  return section(
    'Claims',
    `${text[0].toUpperCase()}${text.slice(1)}.`,
    claims.map(({ claim }) => `- **${claim.id}**: ${claim.statement}`).join('\n'),
    table(headOf(result), claims.flatMap(claimRows)),
    ...(open.length > 0
      ? ['Why not:', open.map(({ claim, reason }) => `- **${claim.id}**: ${reason}.`).join('\n')]
      : []),
    ...(notes.length > 0 ? ['Beside them:', notes.join('\n')] : []),
  )
}

/** Claims whose status says less than it seems to; null where there are none. */
const apartSection = (result: PaperResult): string | null => {
  const { apart } = countsOf(result)
  if (apart.length === 0) return null
  const notes = notesOf(apart.map(({ claim }) => claim))
  return section(
    'Apart, not counted',
    apart
      .map(({ claim: { claim }, is, why }) => `- **${claim.id}**: ${claim.statement} *${is}*: ${why}`)
      .join('\n'),
    table(
      headOf(result),
      apart.flatMap(({ claim }) => claimRows(claim)),
    ),
    ...(notes.length > 0 ? ['Beside them:', notes.join('\n')] : []),
  )
}

const effectText = (metric: MetricChoice, found: EarlierLook['comparisons'][number]['earlier']): string =>
  found === null ? '–' : `${intervalText(metric, found.difference, found.interval)}, ${found.pairs} pairs`

/** Earlier looks at claims: what they found, and all pairs together; null where no claim names any. */
const earlierSection = ({ claims, registration }: PaperResult, folder: string): string | null => {
  const looks = claims.flatMap(claim =>
    earlierLooks(folder, claim, registration.arms).map(look => ({ claim, look })),
  )
  if (looks.length === 0) return null
  const rows = looks.flatMap(({ claim: { claim }, look: { results, claim: id, status, comparisons } }) => [
    [claim.id, `${results}/${id}`, '', '', status ?? 'not there'],
    ...comparisons.map(({ name, earlier, together }) => [
      '',
      name,
      effectText(claim.metric, earlier),
      effectText(claim.metric, together),
      '',
    ]),
  ])
  return section(
    'Looked at before',
    'These claims were left open by earlier results. Here they are decided by the runs of this experiment alone, with p multiplied by the looks; the earlier one had the whole 5%, so over both the error is up to 7.5%. All pairs together are for reading and decide nothing.',
    table(['claim', 'earlier', 'difference then', 'all pairs together', 'status then'], rows),
  )
}

/** What each look was to be decided by, and what each block says alone; null where there is one block. */
const blocksSection = ({ blocks, claims, registration }: PaperResult): string | null => {
  if (blocks.length === 0) return null
  const heads = blocks.flatMap(({ nth }) => [`block ${nth}`, ...(nth > 1 ? [`together, look ${nth}`] : [])])
  const rows = claims.map(({ claim }, i) => [
    claim.id,
    ...blocks.flatMap(({ nth, alone, together }) => [
      alone[i].status,
      ...(nth > 1 ? [together[i].status] : []),
    ]),
  ])
  const named = blocks.map(
    ({ nth, seeds, sha256, registeredAt }) =>
      `- Block ${nth}: seeds ${seeds.join(', ')}; registered ${registeredAt.slice(0, 16).replace('T', ' ')} as \`${sha256.slice(0, 16)}\`.`,
  )
  return section(
    'Blocks of seeds',
    `Each look is decided by all runs until then, with p multiplied by the ${looksOf(registration)} looks; a block alone is for reading.`,
    named.join('\n'),
    table(['claim', ...heads], rows),
  )
}

const controlsSection = ({ registration, controls, absentControls }: PaperResult): string => {
  const { of, metric } = registration.controls
  const present = controls.map(control => controlRow(metric, control))
  const absent = absentControls.map(({ kind, reason }) => [kind, '', '', reason, 'left out'])
  return section(
    'Negative controls',
    table(
      ['control', 'arm', `${of} less the control`, 'gain on its start', 'outcome'],
      [...present, ...absent],
    ),
  )
}

/** Everything as one Markdown text. @param folder of the results: those of earlier looks lie beside it */
export const paperSummary = (result: PaperResult, folder = '.'): string => {
  const { registration, registered, rule, runs } = result
  const { title, summary, seeds, starts, steps, test, cut, file, hash } = registration
  const facts = [
    `${runs.done} of ${runs.planned} runs, ${formatDuration(runs.seconds)} of training`,
    `${starts.length} cold starts x ${seeds.length} seeds`,
    `${steps} steps`,
    `${number(test.problems)} test problems`,
    `registered ${registered.registeredAt.slice(0, 16).replace('T', ' ')} as \`${hash.slice(0, 16)}\` (${file})`,
    `decision rule ${rule}${rule === registered.rule ? '' : `, at registration ${registered.rule}`}`,
  ]
  const sections = [
    `# ${title}`,
    ...(summary === undefined ? [] : [summary]),
    `${facts.join(' · ')}. Curves and every run: report.html, drawn anew by \`--recompute --write\`.`,
    'Differences are means over pairs of runs with the same cold start and seed, with 95% bootstrap intervals (widened for few pairs, and against the start by its own sampling error), and hold for these cold starts; shares are in percent, their differences in points. Trimmed mean: without the two highest and the two lowest of ten pairs, so that a single run that collapses does not make it. Detectable: the effect that so many pairs would find four times in five as the first of all claims, or the margin that they would show.',
    ...result.registration.afterwards.notes,
    claimsSection(result),
    ...[apartSection(result), blocksSection(result), earlierSection(result, folder)].filter(
      text => text !== null,
    ),
    controlsSection(result),
    armsSection(result),
    ...(cut.length > 0 ? [section('Cut', cut.map(line => `- ${line}`).join('\n'))] : []),
    ...(result.notes ? [section('Several machines', result.notes.map(note => `- ${note}.`).join('\n'))] : []),
  ]
  return `${sections.join('\n\n')}\n`
}

/** Writes `summary.md` beside the results and returns its path. */
export const writePaperSummary = (folder: string, result: PaperResult): string => {
  const path = join(folder, 'summary.md')
  writeFileAtomic(path, paperSummary(result, folder))
  return path
}
