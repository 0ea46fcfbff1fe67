/**
 * @file Claims that cannot show: where what an arm is compared with lies so near the bound of the scale that not even an arm at the
 * bound would differ from it by the smallest effect.
 */

import { number, percent } from '../../util/format.ts'
import { metricNamed } from '../metrics/index.ts'
import type { Claim, MetricChoice } from '../plan/registration.ts'

/** Least and greatest value that a metric can have; null where there is none, or it is not known. */
type Bounds = readonly [low: number | null, high: number | null]

const BOUNDS: Readonly<Record<string, Bounds>> = {
  // Rubrics have penalties: such a score may lie below 0.
  score: [null, 1],
  criterion: [0, 1],
  'best-of-n': [null, 1],
  'peak-place': [0, 1],
  'win-rate': [0, 1],
  'score-difference': [-1, 1],
}

const BALANCE: Readonly<Record<string, Bounds>> = { trueBias: [-1, 1] }

const boundsOf = ({ name, options }: MetricChoice): Bounds =>
  name === 'balance' ? (BALANCE[String(options.of)] ?? [0, 1]) : (BOUNDS[name] ?? [null, null])

const textOf = (choice: MetricChoice, value: number): string =>
  metricNamed(choice, choice.name).metric.unit === 'share' ? percent(value) : number(value)

/** Why a claim cannot show, in a sentence; null where it can. */
export interface Untestable {
  at: 'ceiling' | 'floor'
  reason: string
}

/**
 * Whether there is room for a claim's effect beyond what the arm is compared with. `greater` and `not-above` need it above (the
 * first could not be shown, the second not fail), `less` and `not-below` below; `equal` on one side at least.
 * @param compared mean value of what the arm is compared with: its start, or the other arm
 */
export const untestable = (
  { metric, direction, smallestEffect }: Pick<Claim, 'metric' | 'direction' | 'smallestEffect'>,
  compared: number,
): Untestable | null => {
  const [low, high] = boundsOf(metric)
  // Equal to the bound but for rounding is no room either.
  const lacks = (room: number) => room < smallestEffect - 1e-12 || room <= 0
  const ceiling = high !== null && lacks(high - compared)
  const floor = low !== null && lacks(compared - low)
  const at =
    direction === 'greater' || direction === 'not-above'
      ? ceiling && 'ceiling'
      : direction === 'less' || direction === 'not-below'
        ? floor && 'floor'
        : ceiling && floor && 'ceiling'
  if (!at) return null
  const bound = at === 'ceiling' ? high! : low!
  return {
    at,
    reason: `${at}: what it is compared with is at ${textOf(metric, compared)}, ${textOf(metric, Math.abs(bound - compared))} from the ${at === 'ceiling' ? 'highest' : 'lowest'} value there is; the registered ${textOf(metric, smallestEffect)} cannot show`,
  }
}
