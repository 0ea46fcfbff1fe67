/** @file What a recipe does about a policy that is on a server: its words, and what is refused before anything is spent. */

import { isRemote, type PipelinedPolicySettings, type PolicySettings } from '../../policy/open.ts'
import { checkKey, wordsFolder, wordsPlace } from '../../policy/tinker/settings.ts'
import { modelMayBeMissing, type RunMode, refuse } from './refuse.ts'

type AnyPolicy = PolicySettings | PipelinedPolicySettings

/** What is asked of a recipe's settings; what it does not have is absent. */
export interface RemoteSettings {
  policy: AnyPolicy
  model: { folder: string | null; lora?: unknown }
  coldStart?: unknown
  rollout?: { temperature: number }
}

/** Settings that no server can do, false where they are off: path, what is expected, what to do. */
export type ServerLacks = readonly (readonly [setting: string, expected: string, hint: string] | false)[]

/**
 * Refuses with a policy on a server what none can do.
 * @param recipeOf what makes a model to start from, for the hint
 * @param others settings of the recipe's own that are on although no server can do them
 * @throws ConfigError naming the setting and what to do; for a run also where the key is missing
 */
export const checkRemote = (
  { policy, model, coldStart, rollout }: RemoteSettings,
  purpose: RunMode,
  recipeOf: string | null = null,
  others: ServerLacks = [],
): void => {
  if (!isRemote(policy)) return
  const local = 'or train with policy.kind local'
  if ((coldStart ?? null) !== null)
    refuse(
      'coldStart: expected null with policy.kind tinker, whose server trains adapters of a model that is there',
      `make the model with \`gradus train ${recipeOf}\`, serve it, name it in policy.model, and set coldStart to null; ${local}`,
    )
  if ((model.lora ?? null) !== null)
    refuse(
      'model.lora: expected null with policy.kind tinker, whose adapter is policy.lora',
      'set model.lora to null, and the rank in policy.lora.rank',
    )
  if (rollout && rollout.temperature !== 1)
    refuse(
      `rollout.temperature: expected 1 with policy.kind tinker, whose server trains and scores at 1 alone, got ${rollout.temperature}`,
      `set it to 1, ${local}`,
    )
  for (const other of others) if (other) refuse(`${other[0]}: expected ${other[1]}`, `${other[2]}, ${local}`)
  if (purpose === 'run') checkKey(policy)
}

/** Folder with the words of the server's model; null in a plan where it comes later. @throws ConfigError as `wordsFolder` */
export const remoteTokenizerFolder = (
  policy: Parameters<typeof wordsFolder>[0],
  purpose: RunMode,
): string | null =>
  policy.tokenizer !== null && modelMayBeMissing(policy.tokenizer, purpose, 'words')
    ? null
    : wordsFolder(policy)

/** What a run records as its model. */
export const modelName = ({ policy, model }: Pick<RemoteSettings, 'policy' | 'model'>): string =>
  isRemote(policy) ? policy.model : (model.folder ?? 'cold start of this run')

/** The folder that tells the shape of the model a run starts from; null where a cold start makes it. */
export const shapeFolder = ({ policy, model }: Pick<RemoteSettings, 'policy' | 'model'>): string | null =>
  isRemote(policy) ? wordsPlace(policy) : model.folder

/** The model as a plan names it. */
export const describeRemoteModel = ({ model, url }: { model: string; url: string }): string =>
  `${model}, on the server ${new URL(url).origin}`
