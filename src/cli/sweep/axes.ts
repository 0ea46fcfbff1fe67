/** @file What a sweep varies: `--set key=a,b,c` is a setting with several values, and every combination is a run. */

import { UsageError } from '../../util/errors.ts'
import { parseYaml } from '../../util/yaml.ts'

export interface Axis {
  /** Dotted key of a setting. */
  key: string
  values: unknown[]
}

/** One combination of values, by key. */
export type Combination = Readonly<Record<string, unknown>>

const OPENING = '[{'
const CLOSING = ']}'

/** Parts at the commas that stand in no quotes and no brackets. */
export const splitValues = (text: string): string[] => {
  const parts = ['']
  let depth = 0
  let quote = ''
  for (const character of text) {
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if (OPENING.includes(character)) depth++
    else if (CLOSING.includes(character)) depth--
    if (character === ',' && depth === 0 && quote === '') parts.push('')
    else parts[parts.length - 1] += character
  }
  return parts.map(part => part.trim())
}

/**
 * The axes that `--set` gives, in its order; one with a single value is fixed.
 * @throws UsageError for what is no `key=value`, an empty or repeated value, a key that is given twice
 */
export const axesOf = (settings: readonly string[]): Axis[] => {
  const axes = settings.map(setting => {
    const at = setting.indexOf('=')
    const key = setting.slice(0, Math.max(0, at)).trim()
    if (key === '')
      throw new UsageError(`--set ${setting}: expected key=value or key=value,value, for example seed=1,2,3`)
    const texts = splitValues(setting.slice(at + 1))
    if (texts.length > 1 && texts.includes(''))
      throw new UsageError(`--set ${setting}: expected a value between all commas, got an empty one`, {
        hint: 'a value that has commas itself goes into brackets or quotes: [1, 2], "a, b"',
      })
    const values = texts.map(text => parseYaml(text, `--set ${key}`, UsageError))
    const repeated = values.find((value, i) => values.findIndex(other => same(other, value)) < i)
    if (repeated !== undefined)
      throw new UsageError(
        `--set ${setting}: expected each value once, got ${JSON.stringify(repeated)} again`,
      )
    return { key, values }
  })
  const twice = axes.find(({ key }, i) => axes.findIndex(other => other.key === key) < i)
  if (twice) throw new UsageError(`--set ${twice.key}: expected once, got twice; put its values behind one =`)
  return axes
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** All combinations; the seed turns slowest, so that every setting has its first seed early. */
export const combinationsOf = (axes: readonly Axis[]): Combination[] => {
  const ordered = [...axes.filter(({ key }) => key === 'seed'), ...axes.filter(({ key }) => key !== 'seed')]
  return ordered.reduce<Combination[]>(
    (all, { key, values }) => all.flatMap(one => values.map(value => ({ ...one, [key]: value }))),
    [{}],
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** `kl.coef=0.01 loss.preset=a`: what sets a combination apart, but for its seed. */
export const axisLabel = (combination: Combination): string =>
  Object.entries(combination)
    .filter(([key]) => key !== 'seed')
    .map(([key, value]) => `${key}=${textOf(value)}`)
    .join(' ')
