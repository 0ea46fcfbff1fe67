/**
 * @file How often an arm's work on a problem is the best of several arms', by a score that evaluations keep of every problem (spec
 * 3.6, 8.11): the thinking of three arms, judged by the true rubric.
 */

import { z } from 'zod'
import { permutations, winRates } from '../../eval/index.ts'
import type { EvalItem, EvalRow } from '../../runs/rows.ts'
import { START } from '../plan/registration.ts'
import { scoreNameIn } from './evaluation.ts'
import { evalsOn, type FinishedRun, type Metric, metric, type Peers } from './metric.ts'

const winRateOptions = z.strictObject({
  set: z.string().optional(),
  score: z.string().min(1).default('thinking'),
  among: z.array(z.string()).min(2).max(5),
  /** Score that says how long the work is. */
  length: z.string().min(1).optional(),
  /** How much longer the longest may be than the shortest, as a share of it. */
  within: z.number().min(0).default(0.1),
})
type WinRateOptions = z.output<typeof winRateOptions>

/** The evaluation that an arm is judged by: its last one; of the start that before the first step. */
const rowOf = (
  run: FinishedRun,
  arm: string,
  set: string | undefined,
  peers?: Peers,
): EvalRow | undefined => {
  if (arm === START) return evalsOn(run, set).find(({ step }) => step === 0)
  const own = arm === run.arm ? run : peers?.(arm)
  return own && evalsOn(own, set).at(-1)
}

/** An arm's score on a problem, and its length where lengths are matched. */
interface Entry {
  score: number
  length: number | null
}

const entriesOf = (row: EvalRow, { score, length }: WinRateOptions): Map<string, Entry> => {
  const name = scoreNameIn(row, score)
  const entryOf = ({ scores }: EvalItem): Entry | null => {
    const [own, size] = [scores[name], length === undefined ? null : scores[length]]
    return typeof own === 'number' && size !== undefined ? { score: own, length: size } : null
  }
  return new Map(
    (row.items ?? []).flatMap(item => {
      const entry = entryOf(item)
      return entry ? [[item.id, entry] as const] : []
    }),
  )
}

const isMatched = (entries: readonly Entry[], { length, within }: WinRateOptions): boolean => {
  if (length === undefined) return true
  const sizes = entries.map(entry => entry.length)
  return sizes.every(size => size !== null) && Math.max(...sizes) <= (1 + within) * Math.min(...sizes)
}

/** The problems that all arms have, of matched length where that is asked for; null where an arm is not there. */
const entriesByProblem = (
  run: FinishedRun,
  options: WinRateOptions,
  peers?: Peers,
): { compared: Entry[][]; common: number } | null => {
  const rows = options.among.map(arm => rowOf(run, arm, options.set, peers))
  if (!rows.every(row => row !== undefined)) return null
  const [first, ...others] = rows.map(row => entriesOf(row, options))
  const common = [...first].flatMap(([id, entry]) => {
    const rest = others.map(other => other.get(id))
    return rest.every(found => found !== undefined) ? [[entry, ...rest]] : []
  })
  return { compared: common.filter(entries => isMatched(entries, options)), common: common.length }
}

/** Of equals the first that is shown is taken; in all orders that gives each the same share. */
const chosenIn = (order: readonly number[], entries: readonly Entry[]): number => {
  const best = Math.max(...entries.map(({ score }) => score))
  return order.findIndex(arm => entries[arm].score === best)
}

const winRate = metric({
  summary:
    'share of the problems on which an arm’s score is the best of the arms in `among`, shown in all orders, equals sharing; with `length` only problems on which this other score differs by at most `within`',
  options: winRateOptions,
  unit: 'share',
  among: ({ among }) => among,
  value: (run, options, peers) => {
    const found = entriesByProblem(run, options, peers)
    const place = options.among.indexOf(run.arm)
    if (!found || place < 0 || found.compared.length === 0) return null
    const orders = permutations(options.among.length)
    const looks = found.compared.flatMap(entries =>
      orders.map(order => ({ order, chosen: chosenIn(order, entries) })),
    )
    return winRates(looks, options.among.length).shares[place]
  },
  details: (run, options, peers) => {
    const found = entriesByProblem(run, options, peers)
    return found && options.length !== undefined && found.common > 0
      ? { compared: found.compared.length / found.common }
      : null
  },
})

export const WIN_METRICS: Readonly<Record<string, Metric>> = { 'win-rate': winRate }
