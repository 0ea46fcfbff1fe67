/** @file What monitors said, as spans of steps: a sign from the step where it was seen to the one where it was gone. */

import type { EventRow } from '../rows.ts'

export interface ReportedSign {
  monitor: string
  title: string
  /** Step at which it was seen. */
  step: number
  /** Step at which it was gone; null while it is there. */
  until: number | null
  message: string
  why: string | null
  advice: string | null
  figures: Record<string, number>
}

const signOf = ({ monitor, title, step, message, why, advice, figures }: EventRow): ReportedSign => ({
  ...{ monitor: monitor!, title: title ?? monitor!, step: step!, until: null },
  // Told by itself an event begins with its title, which here stands above it.
  message: message.startsWith(`${title}: `) ? message.slice(`${title}: `.length) : message,
  ...{ why: why ?? null, advice: advice ?? null, figures: figures ?? {} },
})

/** Signs in the order in which they came; what is no monitor's is left out. */
export const signsOf = (events: readonly EventRow[]): ReportedSign[] => {
  const signs: ReportedSign[] = []
  for (const event of events) {
    if (event.monitor === undefined || event.step === undefined) continue
    if (event.turn !== 'over') {
      signs.push(signOf(event))
      continue
    }
    const open = signs.findLast(({ monitor, until }) => monitor === event.monitor && until === null)
    if (open !== undefined) open.until = event.step
  }
  return signs
}

/** `steps 10 to 20`, `since step 40`. */
export const describeSpan = ({ step, until }: Pick<ReportedSign, 'step' | 'until'>): string =>
  until === null ? `since step ${step}` : `steps ${step} to ${until}`
