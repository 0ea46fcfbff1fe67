/** @file Metrics of one run that set two of its values against each other: test sets, scores, judges, several conditions at once. */

import { z } from 'zod'
import { judgeGap } from '../../eval/index.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { scoreValue } from '../../runs/scores.ts'
import type { MetricChoice } from '../plan/registration.ts'
import { along, matches, scoreOf } from './evaluation.ts'
import { evalsOn, type FinishedRun, type Metric, metric } from './metric.ts'

const differenceOptions = z
  .strictObject({
    set: z.string().optional(),
    score: z.string().min(1).default('accuracy'),
    minus: z.string().optional(),
    minusScore: z.string().min(1).optional(),
  })
  .refine(
    ({ minus, minusScore }) => minus !== undefined || minusScore !== undefined,
    'minus (another test set) or minusScore (another score); add one',
  )

/** The difference at every step at which both were evaluated. */
const differences = (
  run: FinishedRun,
  { set, score, minus, minusScore }: z.output<typeof differenceOptions>,
): { step: number; value: number }[] => {
  const others = evalsOn(run, minus ?? set)
  return along(run, set, row => {
    const other = others.find(({ step }) => step === row.step)
    const [a, b] = [scoreOf(row, score), scoreOf(other, minusScore ?? score)]
    return a === null || b === null ? null : a - b
  })
}

const scoreDifference = metric({
  summary:
    'a score on a test set less one on another set (`minus`), or less another score (`minusScore`), of the same run after the last step',
  options: differenceOptions,
  unit: 'share',
  // Where the last evaluation lacks one of them, an earlier one is no answer.
  value: (run, options) => {
    const last = evalsOn(run, options.set).at(-1)
    return differences(run, options).find(({ step }) => step === last?.step)?.value ?? null
  },
  over: differences,
})

const GAPS = ['gap', 'trainGain', 'heldOutGain', 'reversals'] as const

/** Names of a row's scores that patterns mean: `judge.*` all that begin so. */
const namesFor = ({ scores }: EvalRow, patterns: readonly string[], without: string): string[] =>
  Object.keys(scores).filter(name => name !== without && patterns.some(pattern => matches(pattern, name)))

/** Which scores are of the held-out judges, or null where a named one lacks. */
const heldOutNames = (row: EvalRow, train: string, heldOut: readonly string[]): string[] | null => {
  const names = namesFor(row, heldOut, train)
  const isWhole = heldOut.every(pattern => namesFor(row, [pattern], train).length > 0)
  return isWhole ? names : null
}

const judgeGapMetric = metric({
  summary:
    'gain from first to last evaluation under the judge of training less the mean gain under judges that training never saw; `of`: gap, trainGain, heldOutGain, or reversals, judges under which the score fell though it rose in training',
  options: z.strictObject({
    set: z.string().optional(),
    train: z.string().min(1),
    heldOut: z.array(z.string().min(1)).min(1),
    of: z.enum(GAPS).default('gap'),
  }),
  unit: 'share',
  value: (run, options) => {
    const rows = evalsOn(run, options.set)
    const [first, last] = [rows.at(0), rows.at(-1)]
    if (!first || !last || first === last) return null
    const names = heldOutNames(last, options.train, options.heldOut)
    if (names === null) return null
    const gainOf = (name: string) => [scoreValue(first, name), scoreValue(last, name)] as const
    const isKnown = (gain: readonly (number | null)[]): gain is readonly [number, number] =>
      gain.every(value => value !== null)
    const [train, others] = [gainOf(options.train), names.map(gainOf)]
    if (!isKnown(train) || !others.every(isKnown)) return null
    return judgeGap(train, others)[options.of]
  },
})

/** A metric with its options checked, by name. */
type Lookup = (choice: MetricChoice, place: string) => { metric: Metric; options: unknown }

const conditionSchema = z
  .strictObject({
    metric: z.looseObject({ name: z.string() }),
    above: z.number().optional(),
    below: z.number().optional(),
  })
  .refine(
    ({ above, below }) => above !== undefined || below !== undefined,
    'above or below; say what the value has to be',
  )

const isMet = (value: number, { above, below }: { above?: number; below?: number }): boolean =>
  (above === undefined || value > above) && (below === undefined || value < below)

/** Several values of one run at once: a reward that rises while another falls. Needs to know all the others. */
export const allOf = (lookup: Lookup): Metric =>
  metric({
    summary: '1 where each of several values of a run is above or below its bound, else 0',
    options: z.strictObject({
      of: z
        .array(conditionSchema)
        .min(2)
        .transform(conditions =>
          conditions.map(({ metric: { name, ...options }, ...bounds }, i) => ({
            ...{ ...lookup({ name, options }, `of[${i}].metric`), ...bounds },
          })),
        ),
    }),
    unit: 'number',
    binary: true,
    among: ({ of }) => of.flatMap(({ metric, options }) => metric.among?.(options) ?? []),
    value: (run, { of }, peers) => {
      const values = of.map(({ metric, options }) => metric.value(run, options, peers))
      if (!values.every(value => value !== null)) return null
      return Number(of.every((condition, i) => isMet(values[i], condition)))
    },
    details: (run, { of }, peers) =>
      Object.fromEntries(
        of.flatMap(({ metric, options }, i) => {
          const value = metric.value(run, options, peers)
          return value === null ? [] : [[`figure ${i + 1}`, value]]
        }),
      ),
  })

export const DIFFERENCE_METRICS: Readonly<Record<string, Metric>> = {
  'score-difference': scoreDifference,
  'judge-gap': judgeGapMetric,
}
