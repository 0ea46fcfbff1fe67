/** @file Models that a configuration names: fetched before its plan or run, so that everything below finds them by `modelPath`. */

import { type FetchModelOptions, fetchModel, type ModelPart } from '../../model/fetch-model.ts'
import { knownShape } from './known-models.ts'
import type { RunMode } from './run-mode.ts'

/** Settings of recipes that name a model whose shape a plan tells. */
const STARTS = ['model.folder', 'start', 'coldStart.model.folder']
/** And those that a run opens beside it. */
const OTHERS = ['sft.teacher', 'verifier.folder', 'memory.embedder.folder']

const at = (config: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], config)

const placesAt = (config: unknown, paths: readonly string[]): string[] =>
  paths.map(path => at(config, path)).filter(place => typeof place === 'string')

/** The models of a configuration, with what a plan or a run needs of each. */
const modelsOf = (config: unknown, purpose: RunMode): [place: string, only: ModelPart][] => {
  const isRemote = at(config, 'policy.kind') === 'tinker'
  // A model on a server has its words here, and nothing else; what the server calls it need not be its name on the hub.
  const words = isRemote ? placesAt(config, ['policy.tokenizer']) : []
  const starts = placesAt(config, isRemote ? STARTS.slice(1) : STARTS)
  const only = purpose === 'plan' ? 'config' : 'all'
  const whole = purpose === 'plan' ? starts : [...starts, ...placesAt(config, OTHERS)]
  return [
    ...words.map(place => [place, 'words'] as [string, ModelPart]),
    ...whole
      // A plan needs nothing of what it knows by its name.
      .filter(place => purpose === 'run' || knownShape(place) === null)
      .map(place => [place, only] as [string, ModelPart]),
  ]
}

/** Fetches the models that a configuration names. @throws as `fetchModel` */
export const fetchModels = async (
  config: unknown,
  purpose: RunMode,
  options: FetchModelOptions,
): Promise<void> => {
  for (const [place, only] of modelsOf(config, purpose)) await fetchModel(place, { ...options, only })
}
