/** @file What of a configuration decides the numbers that its steps compute. All else may change between stop and resume. */

import { configHash } from '../../runs/run-state.ts'
import { isRecord } from '../../util/own-value.ts'

/** Settings of no step's numbers. */
const FREE_KEYS = ['out', 'policy', 'checkpoint', 'monitors', 'trackers']
/** Of a judge beside its fleet: what is kept of its answers, and how much a held-out one is asked. */
const FREE_OF_JUDGES = ['cache', 'rollouts']
/** Of a task in an environment: where its server is, and how it is reached. */
const FREE_OF_ENVIRONMENTS = ['url', 'headers', 'connectTimeoutMs', 'timeoutMs', 'attempts']

/** Settings that came later, with what was done before: at that value they are no part of a hash. */
const FORMER: Readonly<Record<string, string>> = { missing: 'none', openReward: 'score' }

const without = (settings: Record<string, unknown>, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => !keys.includes(key)))

/** Who answers, not where: judges that agree in this may go on with each other's runs. */
const identityOfFleet = ({ endpoints }: Record<string, unknown>) =>
  (endpoints as Record<string, unknown>[]).map(({ model, extraBody }) => ({ model, extraBody }))

const isFleet = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && Array.isArray(value.endpoints)

/** A section as far as it decides: judges and servers are who they are wherever they run. */
const decidingPart = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(decidingPart)
  if (!isRecord(value)) return value
  const { kind, fleet } = value
  const judge = isFleet(fleet) ? without({ ...value, fleet: identityOfFleet(fleet) }, FREE_OF_JUDGES) : value
  const kept = kind === 'openenv' ? without(judge, FREE_OF_ENVIRONMENTS) : judge
  const entries = Object.entries(kept).filter(
    ([key, part]) => !Object.hasOwn(FORMER, key) || FORMER[key] !== part,
  )
  return Object.fromEntries(entries.map(([key, part]) => [key, decidingPart(part)]))
}

/**
 * What a configuration says of the numbers that the steps compute. Of the policy that is its kind, and what a server trains: how
 * and where it computes may change. This process is taken for granted, so that a hash of before there were kinds stays what it is;
 * so are settings that came later, at the value of what was done before.
 */
export const decidingSettings = (config: object): Record<string, unknown> => {
  const { policy, ...settings } = config as Record<string, unknown>
  const kept = decidingPart(without(settings, FREE_KEYS)) as Record<string, unknown>
  const { kind = 'local', model, lora, sampler } = (policy ?? {}) as Record<string, unknown>
  if (kind === 'local') return kept
  // An inference server draws other samples than the service would, and its correction weighs them.
  const sampling = sampler ? { correction: (sampler as Record<string, unknown>).correction } : undefined
  return { ...kept, policy: { kind, model, lora, ...(sampling && { sampler: sampling }) } }
}

/** Hash of what must stay the same between stop and resume. */
export const decidingHash = (config: object): string => configHash(decidingSettings(config), [])
