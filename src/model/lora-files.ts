/** @file Low-rank adapters (Hu et al. 2021) in the file layout of PEFT: names, initialisation, saving, loading, merging. */

import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { z } from 'zod'
import { writeFileAtomic } from '../util/atomic.ts'
import { CheckpointError, ConfigError } from '../util/errors.ts'
import { cachedName } from '../util/hub-cache.ts'
import { Rng } from '../util/rng.ts'
import type { ModelConfig } from './config.ts'
import type { WeightDtype } from './dtype.ts'
import { recoverFolder, replaceFolder } from './folder.ts'
import { inCache, isPlain, type ModelName, modelNameOf } from './model-place.ts'
import { type NamedTensors, SafetensorsFile, writeSafetensors } from './safetensors.ts'
import { elementCount, type LoadOptions, loadSpecsFromFile, readJson, tensorSpecs } from './weights.ts'

/** The linear maps of a layer that can carry an adapter. */
export const loraModules = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
] as const
export type LoraModule = (typeof loraModules)[number]

/** W' = W + (alpha / rank) B A for every target module. */
export interface LoraConfig {
  rank: number
  alpha: number
  targetModules: readonly LoraModule[]
}

/** One half of an adapter: A is [rank, in], B is [out, rank]. `target` names the weight that it changes. */
export interface LoraSpec {
  name: string
  shape: [number, number]
  part: 'A' | 'B'
  target: string
}

/** Factor before B A. */
export const loraScale = (lora: LoraConfig): number => lora.alpha / lora.rank

/**
 * The adapter's tensors, A before B, in the model's order.
 * @throws ConfigError for a rank that is not a positive whole number, no target modules, or an unknown one.
 */
export const loraSpecs = (config: ModelConfig, lora: LoraConfig): LoraSpec[] => {
  checkLora(lora)
  const targets = new Set<string>(lora.targetModules)
  return tensorSpecs(config)
    .filter(({ name }) => targets.has(moduleOf(name) ?? ''))
    .flatMap(({ name, shape: [out, inner] }) => adapterPair(name, out, inner, lora.rank))
}

const adapterPair = (target: string, out: number, inner: number, rank: number): LoraSpec[] => {
  const module = target.replace(/\.weight$/, '')
  return [
    { name: `base_model.model.${module}.lora_A.weight`, shape: [rank, inner], part: 'A', target },
    { name: `base_model.model.${module}.lora_B.weight`, shape: [out, rank], part: 'B', target },
  ]
}

const moduleOf = (name: string): string | undefined =>
  /^model\.layers\.\d+\.(?:self_attn|mlp)\.(\w+_proj)\.weight$/.exec(name)?.[1]

const checkLora = ({ rank, alpha, targetModules }: LoraConfig) => {
  if (!Number.isInteger(rank) || rank < 1)
    throw new ConfigError(`lora.rank: expected a positive whole number, got ${rank}`)
  if (!(alpha > 0)) throw new ConfigError(`lora.alpha: expected a positive number, got ${alpha}`)
  if (targetModules.length === 0)
    throw new ConfigError('lora.targetModules: expected at least one module', {
      hint: `choose from ${loraModules.join(', ')}`,
    })
  for (const module of targetModules)
    if (!loraModules.includes(module))
      throw new ConfigError(`lora.targetModules: unknown module ${module}`, {
        hint: `choose from ${loraModules.join(', ')}`,
      })
}

/**
 * A fresh adapter that changes nothing: B zero, A uniform in +-1/sqrt(in), which is what PEFT's default
 * (Kaiming uniform with a = sqrt 5) comes to.
 */
export const initLora = (config: ModelConfig, lora: LoraConfig, seed: number | string): NamedTensors => {
  const rng = new Rng(seed)
  const tensors: NamedTensors = new Map()
  for (const { name, shape, part } of loraSpecs(config, lora)) {
    const data = new Float32Array(elementCount(shape))
    if (part === 'A') fillUniform(data, rng.fork(name), 1 / Math.sqrt(shape[1]))
    tensors.set(name, { shape, data })
  }
  return tensors
}

const fillUniform = (data: Float32Array, rng: Rng, bound: number) => {
  for (let i = 0; i < data.length; i++) data[i] = bound * (2 * rng.next() - 1)
}

const configFile = 'adapter_config.json'
const weightsFile = 'adapter_model.safetensors'

/** Whether a folder holds an adapter rather than a whole model. */
export const isAdapterFolder = (dir: string): boolean => {
  recoverFolder(dir)
  return existsSync(join(dir, configFile))
}

const baseSchema = z.looseObject({
  base_model_name_or_path: z.string().nullish(),
  revision: z.string().nullish(),
})

const readBase = (dir: string): { named: string; revision: string | null } => {
  const path = join(dir, configFile)
  const parsed = baseSchema.safeParse(readJson(path))
  if (!parsed.success)
    throw new CheckpointError(`${path}: base_model_name_or_path: expected the folder of the base model`, {
      hint: 'fetch or save the adapter again',
    })
  const { base_model_name_or_path: named, revision } = parsed.data
  if (revision && !isPlain(revision))
    throw new CheckpointError(
      `${path}: revision: expected a branch, a tag or a commit, got ${JSON.stringify(revision)}`,
    )
  return { named: named ?? '', revision: revision || null }
}

/**
 * The name on the hub of the model that an adapter's folder names; null where it names a folder, or nothing.
 * @throws CheckpointError for a damaged file
 */
export const adapterBaseName = (dir: string): ModelName | null => {
  const { named, revision } = readBase(dir)
  if (existsSync(named) || existsSync(join(dir, named))) return null
  const name = modelNameOf(named)
  return name && { ...name, revision: name.revision ?? revision }
}

/**
 * Folder of the model that an adapter's folder names: as it stands, or within that folder, or in the cache of the hub.
 * @throws CheckpointError for a damaged file
 */
export const adapterBase = (dir: string): string => {
  const { named } = readBase(dir)
  if (named !== '' && existsSync(named)) return named
  const name = adapterBaseName(dir)
  if (name !== null) return inCache(name) ?? named
  return isAbsolute(named) ? named : join(dir, named)
}

/** Folder of the whole model: an adapter names its base. @throws CheckpointError for a damaged file */
export const wholeFolder = (dir: string): string => (isAdapterFolder(dir) ? adapterBase(dir) : dir)

/**
 * Folder of the tokenizer and chat template of a model: those of its adapter where it has them, as adapters that are saved here do.
 * @param adapter that goes on it; default the folder itself where it is one
 * @throws CheckpointError for a damaged file
 */
export const tokenizerFolder = (dir: string, adapter: string = dir): string =>
  isAdapterFolder(adapter) && existsSync(join(adapter, 'tokenizer.json')) ? adapter : wholeFolder(dir)

export interface Adapter {
  lora: LoraConfig
  tensors: NamedTensors
  /** Folder or hub name of the model that the adapter was trained on. */
  baseModel: string
}

/**
 * Saves an adapter folder that PEFT opens, replacing an older one as a whole. `writeMore` may add files of the same
 * checkpoint (tokenizer, optimiser state).
 * @throws CheckpointError when it cannot be written; an older adapter is then unchanged.
 */
export const saveAdapter = (
  dir: string,
  adapter: Adapter,
  options: { dtype?: WeightDtype; writeMore?: (folder: string) => void } = {},
): void =>
  replaceFolder(dir, folder => {
    const config = `${JSON.stringify(toPeftConfig(adapter), null, 2)}\n`
    writeSafetensors(join(folder, weightsFile), adapter.tensors, { dtype: options.dtype })
    options.writeMore?.(folder)
    writeFileAtomic(join(folder, configFile), config)
  })

/** A base in the hub's cache goes by the name that it has everywhere. */
const namedBase = (path: string) => {
  const name = cachedName(path)
  if (name === null) return { base_model_name_or_path: path }
  const { repo, file, commit } = name
  return {
    base_model_name_or_path: file === null ? repo : `hf://${repo}/${file}`,
    revision: commit,
  }
}

const toPeftConfig = ({ lora, baseModel }: Adapter) => ({
  peft_type: 'LORA',
  task_type: 'CAUSAL_LM',
  ...namedBase(baseModel),
  r: lora.rank,
  lora_alpha: lora.alpha,
  lora_dropout: 0,
  target_modules: [...lora.targetModules],
  bias: 'none',
  fan_in_fan_out: false,
  init_lora_weights: true,
  inference_mode: true,
  modules_to_save: null,
  use_rslora: false,
  use_dora: false,
})

const isEmpty = (value: unknown) =>
  value == null || (Array.isArray(value) ? value.length === 0 : Object.keys(value as object).length === 0)
const nothing = (what: string) => z.unknown().refine(isEmpty, `${what} is not supported`).optional()

const peftSchema = z.looseObject({
  peft_type: z.literal('LORA'),
  base_model_name_or_path: z.string().nullish(),
  r: z.int().positive(),
  lora_alpha: z.number().positive(),
  /** Null: those that have weights, as SkyRL 0.3.0 leaves it. */
  target_modules: z.union([z.array(z.enum(loraModules)).min(1), z.literal('all-linear')]).nullable(),
  bias: z.literal('none').default('none'),
  use_rslora: z.literal(false).default(false),
  use_dora: z.literal(false).default(false),
  fan_in_fan_out: z.literal(false).default(false),
  modules_to_save: nothing('training whole modules beside the adapter'),
  rank_pattern: nothing('a rank per module'),
  alpha_pattern: nothing('an alpha per module'),
  layers_to_transform: nothing('adapting some layers only'),
  layer_replication: nothing('using layers more than once'),
  trainable_token_indices: nothing('adapting some embeddings'),
  alora_invocation_tokens: nothing('an adapter that begins at some token'),
  lora_bias: z.literal(false).default(false),
  /** Some begin by taking the adapter off the base (PEFT, `pissa_init`, `olora_init`, `corda_init`, `loftq_init`). */
  init_lora_weights: z
    .unknown()
    .refine(value => !/pissa|olora|corda|loftq|lora_ga/i.test(String(value)), 'another base is not supported')
    .optional(),
})

/** Modules that a file has adapters of. @throws CheckpointError for a broken file, or one without any */
const modulesIn = (path: string): LoraConfig['targetModules'] => {
  const file = SafetensorsFile.open(path)
  try {
    const names = file.names()
    const found = loraModules.filter(module => names.some(name => name.endsWith(`.${module}.lora_A.weight`)))
    if (found.length > 0) return found
    throw new CheckpointError(`${path}: expected adapters of ${loraModules.join(', ')}, got none`)
  } finally {
    file.close()
  }
}

/**
 * Loads a PEFT adapter for a model of this config.
 * @throws CheckpointError for a variant that is not plain LoRA, a missing tensor, a wrong shape or a broken file.
 */
export const loadAdapter = (dir: string, config: ModelConfig, options: LoadOptions = {}): Adapter => {
  recoverFolder(dir)
  const path = join(dir, configFile)
  const parsed = peftSchema.safeParse(readJson(path))
  if (!parsed.success) {
    const issues = parsed.error.issues.map(issue => `${path}: ${issue.path.join('.')}: ${issue.message}`)
    throw new CheckpointError(issues.join('\n'))
  }
  const peft = parsed.data
  const named = peft.target_modules ?? modulesIn(join(dir, weightsFile))
  const targetModules = named === 'all-linear' ? loraModules : named
  const lora = { rank: peft.r, alpha: peft.lora_alpha, targetModules }
  const tensors = loadSpecsFromFile(join(dir, weightsFile), loraSpecs(config, lora), options)
  return { lora, tensors, baseModel: peft.base_model_name_or_path ?? '' }
}

/** Adds the adapter to a weight in place, W += (alpha / rank) B A in float64; nothing happens to one that it leaves alone. */
export const mergeInto = (
  target: string,
  data: Float32Array,
  { lora, tensors }: Pick<Adapter, 'lora' | 'tensors'>,
): void => {
  const [{ name: aName }, { name: bName }] = adapterPair(target, 0, 0, lora.rank)
  const [a, b] = [tensors.get(aName), tensors.get(bName)]
  if (a && b) addProduct(data, b.data, a.data, lora.rank, loraScale(lora))
}

/** w [out, in] += scale * b [out, rank] a [rank, in] */
const addProduct = (w: Float32Array, b: Float32Array, a: Float32Array, rank: number, factor: number) => {
  const inner = a.length / rank
  const row = new Float64Array(inner)
  for (let out = 0; out < w.length / inner; out++) {
    row.fill(0)
    for (let r = 0; r < rank; r++) {
      const coefficient = b[out * rank + r]
      for (let i = 0; i < inner; i++) row[i] += coefficient * a[r * inner + i]
    }
    for (let i = 0; i < inner; i++) w[out * inner + i] += factor * row[i]
  }
}
