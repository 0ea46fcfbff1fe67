/** @file What of a configuration decides the numbers that its steps compute, and what of it a resume may change. */

import type { ExtendableSettings, RunInfo } from '../../runs/rows.ts'
import type { ResumePoint } from '../../runs/run-folder.ts'
import { configHash, isFinished } from '../../runs/run-state.ts'
import { ConfigError } from '../../util/errors.ts'
import { isRecord, ownValue } from '../../util/own-value.ts'

/** Files and folders of a run that it makes once, of its settings and its start, and reads when it goes on; with other settings it begins without them. */
export const MADE_ONCE = {
  ...{ curriculum: 'curriculum.json', anchors: 'anchors.jsonl', thinkingRubric: 'thinking-rubric.json' },
  ...{ responses: 'responses.jsonl', grownModel: 'grown' },
  ...{ verifierLabels: 'verifier-labels.jsonl', verifier: 'verifier' },
} as const

/** Settings of no step's numbers. */
const FREE_KEYS = ['out', 'policy', 'checkpoint', 'monitors', 'trackers']
/** Of a judge beside its fleet: what is kept of its answers, and how much a held-out one is asked. */
const FREE_OF_JUDGES = ['cache', 'rollouts']
/** Of a task in an environment: where its server is, and how it is reached. */
const FREE_OF_ENVIRONMENTS = ['url', 'headers', 'connectTimeoutMs', 'timeoutMs', 'attempts']

/** Settings that came later, with what was done before: at that value they are no part of a hash. */
const FORMER: Readonly<Record<string, string>> = { missing: 'none', openReward: 'score', place: 'system' }

/** Settings that had another name: under that they are in hashes, which stay what they are. */
const FORMER_NAMES: Readonly<Record<string, string>> = { keyframes: 'knots' }

const without = (settings: Record<string, unknown>, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => !keys.includes(key)))

/** A section as far as it decides: judges and servers are who they are wherever they run. */
const decidingPart = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(decidingPart)
  if (!isRecord(value)) return value
  const { kind, fleet } = value
  const endpoints = isRecord(fleet) && Array.isArray(fleet.endpoints) ? fleet.endpoints : null
  // Who answers, not where: judges that agree in this may go on with each other's runs.
  const who = endpoints?.map(({ model, extraBody }) => ({ model, extraBody }))
  const judge = who ? without({ ...value, fleet: who }, FREE_OF_JUDGES) : value
  const kept = kind === 'openenv' ? without(judge, FREE_OF_ENVIRONMENTS) : judge
  const entries = Object.entries(kept).filter(
    ([key, part]) => !Object.hasOwn(FORMER, key) || FORMER[key] !== part,
  )
  return Object.fromEntries(
    entries.map(([key, part]) => [ownValue(FORMER_NAMES, key) ?? key, decidingPart(part)]),
  )
}

/**
 * What a configuration says of the numbers that the steps compute. Of the policy that is its kind, what a server trains, and the bits
 * that this process draws with: how and where it computes may change. This process is taken for granted, so that a hash of before
 * there were kinds stays what it is; so are settings that came later, at the value of what was done before.
 */
export const decidingSettings = (config: object): Record<string, unknown> => {
  const { policy, ...settings } = config as Record<string, unknown>
  const kept = decidingPart(without(settings, FREE_KEYS)) as Record<string, unknown>
  const { kind = 'local', model, lora, sampler, sampleBits } = (policy ?? {}) as Record<string, unknown>
  if (kind === 'local') return sampleBits === 8 ? { ...kept, policy: { sampleBits } } : kept
  // An inference server draws other samples than the service would, and its correction weighs them.
  const sampling = sampler ? { correction: (sampler as Record<string, unknown>).correction } : undefined
  return { ...kept, policy: { kind, model, lora, ...(sampling && { sampler: sampling }) } }
}

/** Hash of what must stay the same between stop and resume. */
export const decidingHash = (config: object): string => configHash(decidingSettings(config), [])

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

/**
 * What a resume changes of its run, also in words: `steps 20 then, 120 now`; null where it changes nothing.
 * @throws ConfigError for an end that lies before what is done
 */
export const extensionOf = (
  config: object,
  { config: recorded }: RunInfo,
  from: ResumePoint,
): { before: ExtendableSettings; words: string } | null => {
  const [before, now] = [extendableOf(recorded as object), extendableOf(config)]
  const words = (
    [
      ['steps', 'steps'],
      ['maxMinutes', 'maxMinutes'],
      ['evaluationEvery', 'evaluation.every'],
    ] as const
  )
    .filter(([key]) => before[key] !== now[key])
    .map(([key, name]) => `${name} ${before[key] ?? 'none'} then, ${now[key] ?? 'none'} now`)
    .join('; ')
  if (words === '') return null
  const { steps } = now
  // At the end that the checkpoint was saved at nothing is left to do, and nothing wrong with that.
  const endsThere = isFinished(from.state.recipe) && steps === from.step
  if (steps !== undefined && steps !== before.steps && steps <= from.step && !endsThere)
    throw new ConfigError(
      `steps: expected more than the ${from.step} that the run has behind it at the checkpoint it goes on from, got ${steps}`,
      { hint: 'to go on from an earlier step, begin a new run with --from RUN/STEP' },
    )
  return { before, words }
}

/**
 * Whether nothing is left to do at a checkpoint: it was saved at the end of its training, under the settings of now.
 * @param hash of the configuration of now
 */
export const isAtItsEnd = ({ step, state }: ResumePoint, config: object, hash: string): boolean => {
  if (!isFinished(state.recipe)) return false
  const { steps = Number.POSITIVE_INFINITY } = extendableOf(config)
  return state.configHash === hash || step >= steps
}
