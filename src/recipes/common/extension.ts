/** @file What a resume may change of a run: how far it goes and when it evaluates. All else makes another run. */

import type { ExtendableSettings, RunInfo } from '../../runs/rows.ts'
import type { ResumePoint } from '../../runs/run-folder.ts'
import { isFinished } from '../../runs/run-state.ts'
import { ConfigError } from '../../util/errors.ts'
import { decidingHash } from './deciding.ts'

type Tree = Record<string, unknown>

const tree = (value: unknown): Tree => (value ?? {}) as Tree

/** Keys of a configuration that a resume may change: they decide how a run goes on, never what it did. */
export const EXTENDABLE_KEYS: readonly string[] = ['steps', 'maxMinutes', 'evaluation.every']

/** The part of a configuration that a resume may change. */
const extendableOf = (config: object): ExtendableSettings => {
  const { steps, maxMinutes, evaluation } = config as Tree
  const { every } = tree(evaluation)
  return {
    ...(typeof steps === 'number' && { steps }),
    ...(maxMinutes !== undefined && { maxMinutes: maxMinutes as number | null }),
    ...(typeof every === 'number' && { evaluationEvery: every }),
  }
}

const withExtendable = (
  config: object,
  { steps, maxMinutes, evaluationEvery }: ExtendableSettings,
): object => {
  const { evaluation } = config as Tree
  return {
    ...config,
    ...(steps !== undefined && { steps }),
    ...(maxMinutes !== undefined && { maxMinutes }),
    ...(evaluationEvery !== undefined && { evaluation: { ...tree(evaluation), every: evaluationEvery } }),
  }
}

/**
 * The hashes that a checkpoint of a run may bear for a resume with `config`: its own, and those of what the run was made with
 * before, as far as that differs in nothing but what a resume may change.
 */
export const acceptableHashes = (
  config: object,
  { config: recorded, extensions = [] }: RunInfo,
): string[] => {
  const earlier = [extendableOf(recorded as object), ...extensions.map(({ before }) => before)]
  return [
    ...new Set([decidingHash(config), ...earlier.map(own => decidingHash(withExtendable(config, own)))]),
  ]
}

/** `steps 20 then, 120 now`, for each setting that a resume changed. */
const describeChange = (before: ExtendableSettings, now: ExtendableSettings): string =>
  (
    [
      ['steps', 'steps'],
      ['maxMinutes', 'maxMinutes'],
      ['evaluationEvery', 'evaluation.every'],
    ] as const
  )
    .filter(([key]) => before[key] !== now[key])
    .map(([key, name]) => `${name} ${before[key] ?? 'none'} then, ${now[key] ?? 'none'} now`)
    .join('; ')

export interface Extension {
  before: ExtendableSettings
  /** What changed, for people. */
  words: string
}

/**
 * What a resume changes of its run; null where it changes nothing.
 * @throws ConfigError for an end that lies before what is done
 */
export const extensionOf = (
  config: object,
  { config: recorded }: RunInfo,
  from: ResumePoint,
): Extension | null => {
  const [before, now] = [extendableOf(recorded as object), extendableOf(config)]
  const words = describeChange(before, now)
  if (words === '') return null
  const { steps } = now
  if (steps !== undefined && steps !== before.steps && steps <= from.step && !endsThere(from, steps))
    throw new ConfigError(
      `steps: expected more than the ${from.step} that the run has behind it at the checkpoint it goes on from, got ${steps}`,
      { hint: 'to go on from an earlier step, begin a new run with --from RUN/STEP' },
    )
  return { before, words }
}

/** The end that the checkpoint was saved at: nothing is left to do, and nothing wrong with that. */
const endsThere = ({ step, state }: ResumePoint, steps: number): boolean =>
  isFinished(state.recipe) && steps === step

/**
 * Whether nothing is left to do at a checkpoint: it was saved at the end of its training, under the settings of now.
 * @param hash of the configuration of now
 */
export const isAtItsEnd = ({ step, state }: ResumePoint, config: object, hash: string): boolean => {
  if (!isFinished(state.recipe)) return false
  const { steps = Number.POSITIVE_INFINITY } = extendableOf(config)
  return state.configHash === hash || step >= steps
}
