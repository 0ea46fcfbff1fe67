/** @file An experiment's page as plain data, of results that were worked out just now or of their files. */

import {
  type Block,
  type PageSection,
  type PageView,
  settingPairs,
  statusChip,
  statusCounts,
  type TableCell,
  tableSection,
} from '../../runs/report/view.ts'
import { formatDuration, number, percent } from '../../util/format.ts'
import type { ControlResult } from '../analysis/controls.ts'
import { looksOf } from '../plan/blocks.ts'
import type { Registration } from '../plan/registration.ts'
import { countsOf } from '../results/counts.ts'
import type { ArmCost, PaperResult } from '../results/paper.ts'
import type { Provenance } from '../run/provenance.ts'
import { claimCard, claimTable } from './claim-view.ts'
import { differenceText, known } from './units.ts'

/** What a page is made of: all of it is in results, and in their files. */
export interface ShownResults
  extends Pick<
    PaperResult,
    'claims' | 'controls' | 'absentControls' | 'arms' | 'blocks' | 'failed' | 'rule' | 'trainedWith'
  > {
  analysedWith: Provenance
  notes?: readonly string[]
  runs: { done: number; planned: number; seconds: number | null }
  registered: Pick<PaperResult['registered'], 'registeredAt' | 'rule' | 'versions'>
  registration: Pick<
    Registration,
    'title' | 'summary' | 'seeds' | 'test' | 'cut' | 'file' | 'hash' | 'looks'
  > & {
    afterwards: Pick<Registration['afterwards'], 'apart' | 'notes'>
    starts: readonly { name: string }[]
    steps: number | null
    blocks: readonly unknown[]
    controls: Pick<Registration['controls'], 'of' | 'metric'>
  }
}

/** Each look, and what each block says alone. */
const blockTable = ({ blocks, claims, registration }: ShownResults): PageSection | null => {
  if (blocks.length === 0) return null
  const cell = ({ status, reason }: { status: string; reason: string }): TableCell => ({
    ...{ ...statusChip(status), notes: [reason] },
  })
  const table = {
    text: true,
    head: [
      'Claim',
      ...blocks.flatMap(({ nth, seeds }) => [
        `Block ${nth}, ${seeds.length} seeds`,
        ...(nth > 1 ? [`Together, look ${nth}`] : []),
      ]),
    ],
    rows: claims.map(({ claim }, i) => [
      claim.id,
      ...blocks.flatMap(({ nth, alone, together }) => [
        cell(alone[i]),
        ...(nth > 1 ? [cell(together[i])] : []),
      ]),
    ]),
  }
  const lines = blocks.map(
    ({ nth, seeds, sha256, registeredAt }) =>
      `Block ${nth}: seeds ${seeds.join(', ')}; registered ${registeredAt.slice(0, 16).replace('T', ' ')} as ${sha256.slice(0, 16)}.`,
  )
  return {
    title: 'Blocks of seeds',
    about: `The experiment was enlarged. What decides at each look is what all runs until then say together, with p multiplied by the ${looksOf(registration as Registration)} looks; each block alone is for reading.`,
    blocks: [table, { kind: 'list', lines }],
  }
}

const controlTable = ({ registration, controls, absentControls }: ShownResults): PageSection | null => {
  if (controls.length + absentControls.length === 0) return null
  const { of, metric } = registration.controls
  const value = (statistics: ControlResult['above']): TableCell =>
    statistics === null
      ? '–'
      : {
          text: differenceText(metric, statistics.difference),
          notes: [statistics.interval.map(end => differenceText(metric, end)).join(' to ')],
        }
  const outcome = ({ outcome: text, note, atRegistration: before }: ControlResult): TableCell => ({
    ...statusChip(text),
    notes: known(note, before && `${before.outcome} by rule ${before.rule}, at registration`),
  })
  return tableSection(
    'Negative controls',
    `What ${of} gains must come from what it is rewarded for. A control passes when ${of} is above it and it is shown not to gain on its start; it fails when it gains.`,
    {
      head: ['Control', 'Outcome', `${of} − control`, 'Control − its start', 'Pairs'],
      rows: [
        ...controls.map(own => [
          { text: own.kind, notes: [own.arm] },
          ...[outcome(own), value(own.above), value(own.gain), String(own.above?.n ?? 0)],
        ]),
        ...absentControls.map(({ kind, reason }) => [
          ...[kind, { ...statusChip('left out'), notes: [reason] }, '', '', ''],
        ]),
      ],
    },
  )
}

/** The column of judge calls is there when an arm had a judge. */
const armTable = ({ arms }: ShownResults): PageSection | null => {
  if (arms.length === 0) return null
  const judged = arms.some(({ judgeCalls }) => judgeCalls !== undefined)
  const calls = ({ judgeCalls, judgeCachedShare: cached }: ArmCost): TableCell =>
    judgeCalls === undefined
      ? '–'
      : {
          text: number(Math.round(judgeCalls)),
          notes: known(cached ? `${percent(cached)} of the questions needed none` : null),
        }
  return tableSection('Arms', 'What each one took, means over its runs.', {
    head: ['Arm', 'Runs', 'Steps', 'Generated tokens', ...(judged ? ['Judge calls'] : []), 'Time a run'],
    rows: arms.map(arm => {
      const taken = (text: string) => (arm.runs > 0 ? text : '–')
      return [
        { text: arm.arm, notes: known(arm.summary) },
        arm.runs < arm.planned ? `${arm.runs} of ${arm.planned}` : String(arm.runs),
        ...[taken(String(arm.steps)), taken(number(Math.round(arm.tokens)))],
        ...(judged ? [calls(arm)] : []),
        taken(formatDuration(arm.seconds)),
      ]
    }),
  })
}

const settingsText = ({ versions, machine, command }: Provenance): string =>
  Object.entries({ ...versions, ...machine, ...(command !== undefined && { by: command }) })
    .map(([key, value]) => `${key} ${value}`)
    .join(', ')

const originOf = (result: ShownResults): Record<string, string> => ({
  registration: result.registration.file,
  'SHA-256': result.registration.hash,
  'decision rule': `${result.rule}; at registration ${result.registered.rule}`,
  ...(Object.keys(result.registered.versions).length > 0 && {
    'registered with': settingsText({ versions: result.registered.versions, machine: {} }),
  }),
  'trained with': result.trainedWith.map(each => `${settingsText(each)} (${each.runs} runs)`).join('; '),
  'analysed with': settingsText(result.analysedWith),
  ...(result.notes && { 'several machines': result.notes.join('; ') }),
})

const CLAIMS_ABOUT =
  'Effects are means of paired differences (of shares: in points), one pair for each cold start and seed, with 95% bootstrap intervals, widened for few pairs and, against the start, by the start’s own sampling error; p by sign-flip permutation, then corrected by Holm over all claims of the paper and for the looks. Dashed: the smallest effect that was registered as mattering; shaded: a registered margin. Detectable is the effect that so many pairs would find four times in five as the first of all claims, or the margin that they would show. All of it is given these cold starts; where their effects differ, it is said.'

const APART_ABOUT =
  'Their status says less than it seems to: whatever was trained would have come out so, or half of the comparison is missing.'

const CARDS_ABOUT =
  'Every dot is a run after its last step. Trimmed mean: without the two highest and the two lowest of ten pairs, so that a single run that collapses does not make it.'

/** The claims in tables, those that are not counted apart, and each by itself. */
const claimSections = (
  { claims, registration, arms }: ShownResults,
  between: NonNullable<PageView['sections']>,
): NonNullable<PageView['sections']> => {
  const { counted, apart } = countsOf({ claims, registration })
  const abouts = new Map(arms.flatMap(({ arm, summary: about }) => (about ? [[arm, about]] : [])))
  const starts = registration.starts.map(({ name }) => name)
  const set = apart.map(({ claim }) => claim)
  const blocks = [...counted, ...set].map(claim => claimCard(claim, starts, abouts))
  const lines = apart.map(({ claim, is, why }) => `${claim.claim.id}, ${is}: ${why}`)
  return [
    counted.length > 0 && tableSection('Claims', CLAIMS_ABOUT, claimTable(counted)),
    apart.length > 0 && {
      ...{ title: 'Apart, not counted', about: APART_ABOUT },
      blocks: [claimTable(set), { kind: 'list', lines }],
    },
    ...between,
    blocks.length > 0 && {
      ...{ title: 'Claim by claim', about: CARDS_ABOUT },
      blocks: [{ kind: 'stack', blocks }],
    },
  ]
}

const factsOf = ({ registration, runs, registered, rule }: ShownResults): PageView['facts'] => {
  const { starts, seeds, steps, test, hash, file } = registration
  return [
    ['cold starts', starts.length],
    ['seeds', seeds.length],
    ['steps', steps],
    ['test problems', number(test.problems)],
    ['training', runs.seconds === null ? null : formatDuration(runs.seconds)],
    ['registered', registered.registeredAt.slice(0, 16).replace('T', ' ')],
    ['as', `${hash.slice(0, 16)} ${file}`],
    ['decision rule', rule],
  ]
}

/** The page of an experiment. @param curves of the arms, and other values, or where they come from */
export const paperView = (result: ShownResults, curves: PageView['sections'] = []): PageView => {
  const { registration, runs, failed, claims } = result
  const { title, summary, test, afterwards, cut } = registration
  const { apart, statuses } = countsOf({ claims, registration })
  const isDone = runs.done === runs.planned
  const counts = statuses.map(({ status, count }) => [status, count] as const)
  const left = [
    ...cut,
    ...known(test.note),
    ...failed.map(({ id, message }) => `Run ${id} failed: ${message}`),
  ]
  return {
    title,
    status: isDone
      ? { text: 'complete', class: 'status chip finished' }
      : { text: `${runs.done} of ${runs.planned} runs`, class: 'status chip' },
    facts: factsOf(result),
    intro: [
      ...[...known(summary), ...afterwards.notes].map(
        (text): Block => ({ kind: 'text', text, class: 'lead' }),
      ),
      statusCounts([...counts, ['apart, not counted', apart.length]]),
    ],
    sections: [
      ...claimSections(result, curves),
      ...[blockTable(result), controlTable(result), armTable(result)],
      left.length > 0 && { title: 'What was cut', blocks: [{ kind: 'list', lines: left }] },
      {
        title: 'Where this comes from',
        blocks: [{ kind: 'panel', blocks: [{ kind: 'pairs', pairs: settingPairs(originOf(result)) }] }],
      },
    ],
    footer: `Written by Gradus ${result.analysedWith.versions.gradus}. All of it in this miniature: a CPU model says nothing about models a thousand times larger. Charts by uPlot (MIT).`,
  }
}
