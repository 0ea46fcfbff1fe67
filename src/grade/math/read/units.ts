/** @file Units behind a number: which of them can be converted, and what the others say. */

import { table } from './vocabulary.ts'

/** A unit as a multiple of the base unit of its dimension: metre, gram, second, litre, cent, radian-free degree. */
interface Unit {
  dimension: string
  factor: number
}

const DIMENSIONS: Readonly<Record<string, Record<string, number>>> = {
  length: {
    mm: 1e-3,
    millimeter: 1e-3,
    cm: 1e-2,
    centimeter: 1e-2,
    dm: 0.1,
    decimeter: 0.1,
    m: 1,
    meter: 1,
    km: 1e3,
    kilometer: 1e3,
    inch: 0.0254,
    in: 0.0254,
    ft: 0.3048,
    foot: 0.3048,
    feet: 0.3048,
    yd: 0.9144,
    yard: 0.9144,
    mile: 1609.344,
    mi: 1609.344,
  },
  mass: {
    mg: 1e-3,
    milligram: 1e-3,
    g: 1,
    gram: 1,
    kg: 1e3,
    kilogram: 1e3,
    ton: 1e6,
    tonne: 1e6,
    oz: 28.349523125,
    ounce: 28.349523125,
    lb: 453.59237,
    pound: 453.59237,
  },
  time: {
    ms: 1e-3,
    s: 1,
    sec: 1,
    second: 1,
    min: 60,
    minute: 60,
    h: 3600,
    hr: 3600,
    hour: 3600,
    day: 86400,
    week: 604800,
  },
  volume: { ml: 1e-3, milliliter: 1e-3, cl: 1e-2, l: 1, liter: 1, litre: 1 },
  money: { cent: 1, cents: 1, dollar: 100, usd: 100 },
} // prettier-ignore

const UNITS = table<Unit>(
  Object.fromEntries(
    Object.entries(DIMENSIONS).flatMap(([dimension, units]) =>
      Object.entries(units).map(([name, factor]) => [name, { dimension, factor }]),
    ),
  ),
)

const singular = (word: string): string =>
  UNITS[word] ? word : word === 'inches' ? 'inch' : word.replace(/metre/, 'meter').replace(/(?<=..)s$/, '')

/** `cm^2`, `km/h`, `miles` as a dimension and a factor; null for words that are no unit of ours. */
const readUnit = (text: string): Unit | null => {
  const parts = text
    .toLowerCase()
    .replace(/[.,~]/g, '')
    .split('/')
    .map(part => part.trim().replace(/ per /, '/'))
  let dimension = ''
  let factor = 1
  for (const [i, part] of parts.entries()) {
    const match = /^([a-z]+)(?:\^?(\d))?$/.exec(part)
    const unit = match && UNITS[singular(match[1])]
    if (!unit) return null
    const power = Number(match[2] ?? 1) * (i === 0 ? 1 : -1)
    dimension += `${unit.dimension}${power} `
    factor *= unit.factor ** power
  }
  return { dimension, factor }
}

/**
 * What values in `a` and in `b` are multiplied by to be compared: [0.01, 1] for cm and m, [1, 1] where one side names no
 * unit that we know (words such as `apples` say nothing against a bare number), null for different dimensions.
 */
export const conversion = (a: string, b: string): [number, number] | null => {
  if (a === b) return [1, 1]
  const [from, to] = [readUnit(a), readUnit(b)]
  if (!from || !to) return [1, 1]
  return from.dimension === to.dimension ? [from.factor, to.factor] : null
}
