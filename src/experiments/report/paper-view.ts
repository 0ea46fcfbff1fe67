/** @file An experiment's page as plain data, of results that were worked out just now or of their files. */

import type { ExperimentPage, TableCell } from '../../runs/report/view.ts'
import { formatDuration, number, percent } from '../../util/format.ts'
import type { ControlResult } from '../analysis/controls.ts'
import { looksOf } from '../plan/blocks.ts'
import type { Registration } from '../plan/registration.ts'
import { countsOf } from '../results/counts.ts'
import type { ArmCost, PaperResult } from '../results/paper.ts'
import type { Provenance } from '../run/provenance.ts'
import { claimView } from './claim-view.ts'
import { differenceText } from './units.ts'

type PageTable = ExperimentPage['tables'][number]

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

const notes = (...texts: (string | null | undefined | false)[]): string[] =>
  texts.filter(text => typeof text === 'string')

/** Each look, and what each block says alone. */
const blockTable = ({ blocks, claims, registration }: ShownResults): PageTable[] => {
  if (blocks.length === 0) return []
  const cell = ({ status, reason }: { status: string; reason: string }): TableCell => ({
    ...{ text: status, isStatus: true, notes: [reason] },
  })
  return [
    {
      title: 'Blocks of seeds',
      about: `The experiment was enlarged. What decides at each look is what all runs until then say together, with p multiplied by the ${looksOf(registration as Registration)} looks; each block alone is for reading.`,
      table: {
        text: true,
        head: [
          'Claim',
          ...blocks.flatMap(({ nth, seeds, registeredAt }) => [
            `Block ${nth}, ${seeds.length} seeds, registered ${registeredAt.slice(0, 10)}`,
            ...(nth > 1 ? [`Together, look ${nth}`] : []),
          ]),
        ],
        rows: claims.map(({ claim }, i) => ({
          cells: [
            claim.id,
            ...blocks.flatMap(({ nth, alone, together }) => [
              cell(alone[i]),
              ...(nth > 1 ? [cell(together[i])] : []),
            ]),
          ],
        })),
      },
    },
  ]
}

const controlTable = ({ registration, controls, absentControls }: ShownResults): PageTable[] => {
  if (controls.length + absentControls.length === 0) return []
  const { of, metric } = registration.controls
  const figure = (statistics: ControlResult['above']): TableCell =>
    statistics === null
      ? '–'
      : {
          text: differenceText(metric, statistics.difference),
          notes: [statistics.interval.map(end => differenceText(metric, end)).join(' to ')],
        }
  const outcome = ({ outcome: text, note, atRegistration: before }: ControlResult): TableCell => ({
    ...{ text, isStatus: true },
    notes: notes(note, before && `${before.outcome} by rule ${before.rule}, at registration`),
  })
  return [
    {
      title: 'Negative controls',
      about: `What ${of} gains must come from what it is rewarded for. A control passes when ${of} is above it and it is shown not to gain on its start; it fails when it gains.`,
      table: {
        head: ['Control', 'Outcome', `${of} − control`, 'Control − its start', 'Pairs'],
        rows: [
          ...controls.map(own => ({
            cells: [
              { text: own.kind, notes: [own.arm] },
              ...[outcome(own), figure(own.above), figure(own.gain), String(own.above?.n ?? 0)],
            ],
          })),
          ...absentControls.map(({ kind, reason }) => ({
            cells: [kind, { text: 'left out', isStatus: true as const, notes: [reason] }, '', '', ''],
          })),
        ],
      },
    },
  ]
}

/** The column of judge calls is there when an arm had a judge. */
const armTable = ({ arms }: ShownResults): PageTable[] => {
  if (arms.length === 0) return []
  const judged = arms.some(({ judgeCalls }) => judgeCalls !== undefined)
  const calls = ({ judgeCalls, judgeCachedShare: cached }: ArmCost): TableCell =>
    judgeCalls === undefined
      ? '–'
      : {
          text: number(Math.round(judgeCalls)),
          notes: notes(cached ? `${percent(cached)} of the questions needed none` : null),
        }
  return [
    {
      title: 'Arms',
      about: 'What each one took, means over its runs.',
      table: {
        head: ['Arm', 'Runs', 'Steps', 'Generated tokens', ...(judged ? ['Judge calls'] : []), 'Time a run'],
        rows: arms.map(arm => {
          const known = (text: string) => (arm.runs > 0 ? text : '–')
          return {
            cells: [
              { text: arm.arm, notes: notes(arm.summary) },
              arm.runs < arm.planned ? `${arm.runs} of ${arm.planned}` : String(arm.runs),
              ...[known(String(arm.steps)), known(number(Math.round(arm.tokens)))],
              ...(judged ? [calls(arm)] : []),
              known(formatDuration(arm.seconds)),
            ],
          }
        }),
      },
    },
  ]
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

/** @param document summary.md, where it is shown */
export const paperView = (result: ShownResults, document: string | null = null): ExperimentPage => {
  const { registration, runs, registered, failed, claims } = result
  const { title, summary, starts, seeds, steps, test, afterwards, cut } = registration
  const { counted, apart, statuses } = countsOf({ claims, registration })
  const abouts = new Map(result.arms.flatMap(({ arm, summary: about }) => (about ? [[arm, about]] : [])))
  const view = (claim: (typeof claims)[number]) =>
    claimView(
      claim,
      starts.map(({ name }) => name),
      abouts,
    )
  const isDone = runs.done === runs.planned
  return {
    ...{ title, isDone, state: isDone ? 'complete' : `${runs.done} of ${runs.planned} runs` },
    facts: [
      ['cold starts', starts.length],
      ['seeds', seeds.length],
      ['steps', steps],
      ['test problems', number(test.problems)],
      ['training', runs.seconds === null ? null : formatDuration(runs.seconds)],
      ['registered', registered.registeredAt.slice(0, 16).replace('T', ' ')],
      ['as', `${registration.hash.slice(0, 16)} ${registration.file}`],
      ['decision rule', result.rule],
    ],
    lead: [...notes(summary), ...afterwards.notes],
    statuses: [...statuses, { status: 'apart, not counted', count: apart.length }],
    claims: counted.map(view),
    apart: {
      claims: apart.map(({ claim }) => view(claim)),
      why: apart.map(({ claim, is, why }) => `${claim.claim.id}, ${is}: ${why}`),
    },
    tables: [...blockTable(result), ...controlTable(result), ...armTable(result)],
    cut: [...cut, ...notes(test.note), ...failed.map(({ id, message }) => `Run ${id} failed: ${message}`)],
    origin: originOf(result),
    document,
  }
}
