/** @file Whether this machine can do what a plan needs: memory it has, and a time that somebody would wait for. */

import { availableParallelism, loadavg } from 'node:os'
import { isRemote, type PolicySettings } from '../../policy/open.ts'
import { formatBytes, formatInteger } from '../../util/format.ts'
import { memoryHere } from '../../util/memory-failure.ts'
import type { MemoryEstimate } from './estimate.ts'
import { type PlannedTime, timeLine } from './plan-time.ts'

/** Hours after which an end is no longer waited for. */
const MOST_HOURS = 72

export interface Needs {
  /** Null where the model is not known yet. */
  memory: MemoryEstimate | null
  /** On two cores; null where it is not known, or the work is done elsewhere. */
  hours: number | null
}

export interface Feasibility {
  /** Null where too little is known to say. */
  feasible: boolean | null
  /** What stands against it; empty where nothing does. */
  because: string[]
  /** Why a run does not begin: weights and optimiser, which it has whatever comes, are more than there is. Null where it may. */
  refused: string | null
}

/** @param available bytes of memory */
export const feasibility = ({ memory, hours }: Needs, available = memoryHere()): Feasibility => {
  const needs = (bytes: number, what: string): string[] =>
    bytes > available
      ? [`${what} about ${formatBytes(bytes)} of memory and there are ${formatBytes(available)}`]
      : []
  const because = [
    ...(memory === null ? [] : needs(memory.total, 'it needs')),
    ...(hours !== null && hours > MOST_HOURS ? [`it would take about ${formatInteger(hours)} hours`] : []),
  ]
  const [refused = null] =
    memory === null ? [] : needs(memory.weights + memory.optimizer, 'its weights and optimiser alone need')
  const isKnown = memory !== null && hours !== null
  return { feasible: because.length > 0 ? false : isKnown ? true : null, because, refused }
}

/** `here         feasible`, or why not and what to do. */
const hereLine = ({ feasible, because }: Feasibility, hasCritic: boolean): string => {
  if (feasible === null) return 'here         unknown before the model is there'
  if (feasible) return 'here         feasible on this machine'
  return `here         not feasible on this machine: ${because.join(', and ')}; take a smaller model or fewer steps, or train it elsewhere (policy.kind: tinker${hasCritic ? ', critic: null' : ''})`
}

/** Before all else, where this machine cannot do it and nothing else here can as it is. */
export const criticLines = (here: Feasibility | undefined, hasCritic: boolean): string[] =>
  hasCritic && here?.feasible === false
    ? [
        'critic       learns in this process alone, and not at this size; no training service has a value head. With critic: null one trains it: a reward is then compared with those of its group, in place of PPO',
      ]
    : []

/** From this much longer on, other work on this machine is told. */
const SLOWER = 1.25

/**
 * How much longer this machine takes beside what it does now; none where that is little.
 * @param threads that the run wants
 * @param load processes that run or wait, on average over a minute
 */
export const loadLines = (threads: number, load = loadavg()[0], cores = availableParallelism()): string[] => {
  const longer = (load + threads) / Math.max(cores, threads)
  return longer < SLOWER
    ? []
    : [
        `load         other work wants ${load.toFixed(1)} of ${cores} cores now: beside it about ${longer.toFixed(1)} times as long`,
      ]
}

/**
 * Time and feasibility as a plan prints them; nothing where a server does the work.
 * @param time null where the model is not known yet
 * @param without what the time supposes, and what is not in it
 */
export const machinePlan = (
  { policy, critic }: { policy: Pick<PolicySettings, 'kind'> & { threads?: number }; critic?: unknown },
  time: PlannedTime | null,
  memory: MemoryEstimate | null,
  without?: string,
): { lines: string[]; json: Partial<PlannedTime> & { here?: Feasibility } } => {
  if (isRemote(policy as PolicySettings)) return { lines: [], json: {} }
  const hours = time?.hours['two cores'] ?? null
  const here = feasibility({ memory, hours })
  return {
    lines: [
      ...(time === null ? [] : [timeLine(time, without), ...loadLines(policy.threads ?? 1)]),
      hereLine(here, (critic ?? null) !== null),
    ],
    json: { ...time, here },
  }
}
