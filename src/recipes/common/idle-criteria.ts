/** @file Criteria that all responses of a run met, or none: whatever they are worth, they told nothing apart. */

import type { MetricsRow } from '../../runs/rows.ts'

/** Fewest steps with verdicts on a criterion: less may be chance. */
const FEWEST_STEPS = 5
/** Most criteria that a line names. */
const MOST_NAMED = 6

/** Of each criterion its share of met verdicts in the steps that have some. */
const ratesOf = (metrics: readonly MetricsRow[]): Map<string, number[]> => {
  const rates = new Map<string, number[]>()
  for (const { criteria = {} } of metrics)
    for (const [name, rate] of Object.entries(criteria))
      if (rate !== null) {
        const known = rates.get(name)
        if (known) known.push(rate)
        else rates.set(name, [rate])
      }
  return rates
}

const listOf = (names: readonly string[]): string => {
  const more = names.length - MOST_NAMED
  const shown = [...names.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return names.length === 1 ? `criterion ${shown} was` : `criteria ${shown} were`
}

/**
 * What to say of criteria that were met by none or by all responses over the whole run: in a group where all have the same verdict
 * a criterion adds nothing to any advantage.
 * @param metrics all steps of the run
 */
export const idleCriteria = (metrics: readonly MetricsRow[]): string[] => {
  const known = [...ratesOf(metrics)].filter(([, rates]) => rates.length >= FEWEST_STEPS)
  const constant = (value: number) =>
    known.flatMap(([name, rates]) => (rates.every(rate => rate === value) ? [name] : []))
  const line = (names: readonly string[], by: string) =>
    names.length === 0
      ? []
      : [
          `${listOf(names)} met by ${by}: ${names.length === 1 ? 'it adds' : 'they add'} nothing to any advantage`,
        ]
  return [
    ...line(constant(0), 'no response that was asked about it'),
    ...line(constant(1), 'every response that was asked about it'),
  ]
}
