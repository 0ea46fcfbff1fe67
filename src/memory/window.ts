/** @file The windowed curriculum of RubricEM: K steps of fresh batches, then the same batches once more. */

import { ConfigError } from '../util/errors.ts'
import type { Retrieval, RetrieveOptions } from './bank.ts'

/** K: fresh steps of a window, and repeated ones. */
export const WINDOW_STEPS = 3

export interface WindowSettings {
  /** K. Default 3. */
  steps?: number
  /** Reflections are made in repeated steps too, as Algorithm 1 has it. Default false, as appendix D.4 has it. */
  reflectOnRepeat?: boolean
}

export interface WindowStep {
  /** From 0. */
  window: number
  phase: 'fresh' | 'repeat'
  /** Which fresh batch of the whole run this is, from 0; a repeated step has that of the step that it repeats. */
  batch: number
  /** Step that has the batch first: itself where it is fresh. */
  firstStep: number
  retrieval: 'cross' | 'within'
  /** Whether reflections are made about this step's rollouts. */
  reflects: boolean
}

/**
 * Refuses a window that cannot work.
 * @param behind by how many steps a step's reflections are later in the bank than its own sampling: 1, or as many steps as are
 * sampled ahead; 0 where there are none
 * @throws ConfigError where a batch would be repeated before its reflections can be in the bank
 */
export const checkWindow = ({ steps = WINDOW_STEPS }: WindowSettings, behind: number): void => {
  if (!(Number.isSafeInteger(steps) && steps >= 1))
    throw new ConfigError(`window.steps: expected a positive integer, got ${steps}`)
  if (steps < behind + 1)
    throw new ConfigError(`window.steps: expected at least ${behind + 1}, got ${steps}`, {
      hint: `a batch comes back after as many steps, and its reflections reach the bank ${behind} later than its own: take ${behind + 1} or more`,
    })
}

/** What a step does. @param step of training, from 1 */
export const windowStep = (step: number, settings: WindowSettings = {}): WindowStep => {
  const { steps = WINDOW_STEPS, reflectOnRepeat = false } = settings
  checkWindow(settings, 0)
  if (!(Number.isSafeInteger(step) && step >= 1))
    throw new ConfigError(`window: expected a step from 1 on, got ${step}`)
  const window = Math.floor((step - 1) / (2 * steps))
  const at = (step - 1) % (2 * steps)
  const isFresh = at < steps
  return {
    window,
    phase: isFresh ? 'fresh' : 'repeat',
    batch: window * steps + (at % steps),
    firstStep: isFresh ? step : step - steps,
    retrieval: isFresh ? 'cross' : 'within',
    reflects: isFresh || reflectOnRepeat,
  }
}

/** How a step's questions are looked up: a repeated one without its reflection gets those of similar questions. */
export const windowRetrieval = ({ retrieval }: WindowStep, top?: number): RetrieveOptions => ({
  mode: retrieval,
  fallback: true,
  ...(top !== undefined && { top }),
})

/** Questions of a step whose own reflection was missing. */
export const countFallbacks = (retrievals: readonly Pick<Retrieval, 'fellBack'>[]): number =>
  retrievals.filter(({ fellBack }) => fellBack).length

/** Fresh batches that a run of so many steps draws. */
export const freshBatches = (totalSteps: number, settings: WindowSettings = {}): number => {
  const { steps = WINDOW_STEPS } = settings
  checkWindow(settings, 0)
  const whole = Math.floor(totalSteps / (2 * steps))
  return whole * steps + Math.min(steps, totalSteps - whole * 2 * steps)
}
