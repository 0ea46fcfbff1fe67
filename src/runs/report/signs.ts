/** @file What monitors said, as spans of steps: a sign from the step where it was seen to the one where it was gone. */

import { number, plural } from '../../util/format.ts'
import { describeCriteria } from '../criterion-words.ts'
import type { EventRow } from '../rows.ts'
import { withoutRaw } from './answers.ts'
import type { ReportData } from './data.ts'
import { type Block, type BlockList, foldBlock, type PagePair, type PageSection } from './view.ts'

/** A warning of a monitor, at the step at which it was seen. */
export interface MonitorSign extends EventRow {
  monitor: string
  title: string
  step: number
  /** Step at which it was gone; null while it is there. */
  until: number | null
}

const signOf = (event: EventRow, monitor: string, step: number): MonitorSign => {
  const { title = monitor, message } = event
  // Told by itself an event begins with its title, which here stands above it.
  const seen = message.startsWith(`${title}: `) ? message.slice(`${title}: `.length) : message
  return { ...event, monitor, title, step, until: null, message: seen }
}

/** Signs in the order in which they came; what is no monitor's is left out. */
export const signsOf = (events: readonly EventRow[]): MonitorSign[] => {
  const signs: MonitorSign[] = []
  for (const event of events) {
    const { monitor, step, turn } = event
    if (monitor === undefined || step === undefined) continue
    const open = signs.findLast(sign => sign.monitor === monitor && sign.until === null)
    if (turn !== 'over') signs.push(signOf(event, monitor, step))
    else if (open !== undefined) open.until = step
  }
  return signs
}

/** `steps 10 to 20`, `since step 40`. */
const describeSpan = ({ step, until }: MonitorSign): string =>
  until === null ? `since step ${step}` : `steps ${step} to ${until}`

const placeOf = ({ monitor, step }: MonitorSign): string => `warning-${monitor}-${step}`

/** One line a monitor, a bar from sign to end. */
const timeline = (signs: readonly MonitorSign[], lastStep: number): Block => {
  const share = (step: number) => step / Math.max(1, lastStep)
  const mark = (sign: MonitorSign) => ({
    ...{ class: '', at: share(sign.step), to: share(sign.until ?? lastStep), href: `#${placeOf(sign)}` },
    title: `${sign.title}, ${describeSpan(sign)}`,
  })
  const lines = [...new Set(signs.map(({ title }) => title))].map(name => ({
    name,
    marks: signs.filter(({ title }) => title === name).map(mark),
  }))
  return { kind: 'panel', blocks: [{ kind: 'lines', lines, ends: ['step 0', number(lastStep)] }] }
}

const explanation = ({ why, advice }: MonitorSign): PagePair[] => [
  ...(why === undefined ? [] : [{ name: 'Why it matters', text: `${why}.` }]),
  ...(advice === undefined ? [] : [{ name: 'What to try', text: `${advice}.` }]),
]

/** A card with an anchor: `warning-MONITOR-STEP`. */
const signCard = (sign: MonitorSign, more: BlockList): Block => {
  const chip = { text: describeSpan(sign), class: `chip ${sign.until === null ? 'warning' : 'info'}` }
  return {
    ...{ kind: 'panel', id: placeOf(sign), class: 'warning-card', title: sign.title, chip },
    blocks: [
      { kind: 'text', text: `${sign.message}.`, class: 'seen' },
      { kind: 'pairs', pairs: explanation(sign) },
      {
        kind: 'facts',
        facts: Object.entries(sign.figures ?? {}).map(([name, value]) => [name, number(value)]),
      },
      ...more,
    ],
  }
}

/** Rollouts that were kept to show a sign, folded away. */
export const keptFor =
  ({ info, rollouts }: ReportData) =>
  ({ monitor, step }: MonitorSign): Block[] => {
    const rows = rollouts.filter(row => row.monitor === monitor && row.step === step).map(withoutRaw)
    if (rows.length === 0) return []
    const title = `${plural(rows.length, 'rollout')} of step ${step} that ${rows.length === 1 ? 'shows' : 'show'} it best`
    return [foldBlock(title, { kind: 'rollouts', rows, criteria: describeCriteria(info) })]
  }

/** @param more what stands under each */
export const signSection = (
  { info, events, metrics }: ReportData,
  more: (sign: MonitorSign) => Block[],
): PageSection | null => {
  const signs = signsOf(events)
  if (signs.length === 0) return null
  const ends = signs.map(({ step, until }) => until ?? step)
  const lastStep = Math.max(info.steps ?? 0, metrics.at(-1)?.step ?? 0, ...ends)
  return {
    title: 'Warnings',
    about:
      'Signs that the monitors saw while training: a bar reaches from the step of the warning to the step where the sign was gone. A sign is a reason to look, not a verdict.',
    blocks: [
      timeline(signs, lastStep),
      { kind: 'stack', blocks: signs.map(sign => signCard(sign, more(sign))) },
    ],
  }
}
