/** @file The legend of a chart: its latest values, or those under the pointer. */

import type { ChartSpec } from '../chart-spec.ts'
import { legendText } from './numbers.ts'
import { isStacked, lastKnown, type Part } from './parts.ts'

/**
 * Fills `holder` with a legend.
 * @returns shows the values at an index of `spec.x`; null: the latest
 */
export const fillLegend = (
  holder: Element,
  spec: ChartSpec,
  parts: readonly Part[],
): ((index: number | null) => void) => {
  const text = legendText[spec.unit]
  const named = parts.filter(part => part.kind !== 'raw')
  if (isStacked(spec)) named.reverse()
  const cells = named.map(part => {
    const item = document.createElement('span')
    const swatch = document.createElement('i')
    swatch.style.background = `var(--${part.color})`
    if (part.kind === 'points') swatch.className = 'dot'
    const value = document.createElement('b')
    if (named.length > 1) item.append(swatch, `${part.label} `)
    item.append(value)
    holder.append(item)
    return { part, value }
  })
  const step = document.createElement('span')
  step.className = 'at'
  holder.append(step)
  const show = (index: number | null) => {
    for (const { part, value } of cells) {
      const shown = part.shown ?? part.values
      // Evaluations are rare: between two of them the earlier one still stands.
      const isStill = part.kind === 'points' || index === null
      value.textContent = text(isStill ? lastKnown(shown, index ?? undefined) : shown[index])
    }
    step.textContent = index === null ? '' : `${spec.over ?? 'step'} ${spec.x[index]}`
  }
  show(null)
  return show
}
