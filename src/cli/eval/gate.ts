/** @file The gate of an evaluation: least metrics, and how much worse than another model one may be. */

import type { PairedMetric } from '../../measure/compare.ts'
import type { Measured, MetricName } from '../../measure/metrics.ts'
import { UsageError } from '../../util/errors.ts'
import type { Io } from '../io.ts'
import type { EvalOptions } from './options.ts'

type Named = readonly (readonly [name: string, value: number])[]

interface Gates {
  minScore: Named
  noWorse: Named
}

/** @throws UsageError for a metric that the evaluation will not have, before anything runs */
export const gatesOf = (
  { minScore: named = [], minAccuracy, minValidProofs, noWorse = [] }: EvalOptions,
  names: readonly MetricName[],
): Gates => {
  const minScore = [
    ...(minAccuracy === undefined ? [] : [['accuracy', minAccuracy] as const]),
    ...(minValidProofs === undefined ? [] : [['validProofs', minValidProofs] as const]),
    ...named,
  ]
  for (const [option, named] of Object.entries({ 'min-score': minScore, 'no-worse': noWorse })) {
    const unknown = named.find(([name]) => !names.some(known => known.name === name))
    if (unknown)
      throw new UsageError(`--${option}: expected the name of a score, got ${unknown[0]}`, {
        hint: `its scores are ${names.map(({ name }) => name).join(', ')}`,
      })
  }
  return { minScore, noWorse }
}

const text = (value: number): string => value.toFixed(4)

interface Compared {
  names: readonly MetricName[]
  a: Measured
  b: Measured | null
  paired: Readonly<Record<string, PairedMetric | null>> | null
}

/** Scores are counted from the verdicts that there are: with a judge that never answered they are other ones. */
const unjudged = ({ names, a, b }: Compared, gated: Named): string[] => {
  const nobody = [a, ...(b ? [b] : [])].flatMap(side => side.unjudged)
  const scores = new Set(names.flatMap(({ name, group }) => (group === 'score' ? [name] : [])))
  if (nobody.length === 0) return []
  return gated.flatMap(([name]) =>
    scores.has(name) ? [`${name}: expected verdicts on ${[...new Set(nobody)].join(', ')}, got none`] : [],
  )
}

/** Whether a gate holds the model back; says which on stderr. */
export const heldBack = ({ minScore, noWorse }: Gates, compared: Compared, io: Io): boolean => {
  const { paired } = compared
  const { metrics } = compared.a
  const low = minScore.flatMap(([name, least]) => {
    const { value } = metrics[name]
    if (value !== null && value >= least) return []
    return [
      `${name}: expected at least ${least}, got ${value === null ? 'nothing that is known of any problem' : text(value)}`,
    ]
  })
  const isBad = (name: string) => compared.names.some(known => known.name === name && known.isBad)
  const worse = noWorse.flatMap(([name, margin]) => {
    const interval = paired?.[name]?.interval ?? null
    if (interval !== null && (isBad(name) ? interval[1] <= margin : interval[0] >= -margin)) return []
    return [
      `${name}: expected to be worse by ${margin} at most, ${interval === null ? 'got fewer than two problems to compare' : `got a difference of ${text(paired![name]!.difference)}, 95% from ${text(interval[0])} to ${text(interval[1])}`}`,
    ]
  })
  const lines = [...unjudged(compared, [...minScore, ...noWorse]), ...low, ...worse]
  for (const line of lines) io.err.write(`${line}\n`)
  return lines.length > 0
}
