/** @file A policy from a configuration's `policy` section: what kind it is, how it computes, and opening it, which loads what computes. */

import { z } from 'zod'
import type { ModelConfig } from '../model/config.ts'
import type { LossSpec } from '../rl/loss.ts'
import { PROVIDERS } from '../tensor/providers.ts'
import { natural } from '../util/setting-shapes.ts'
import type { ModelSource } from './local/model-source.ts'
import { defaultEngines, MOST_ENGINES, modelTensors } from './local/weight-sizes.ts'
import type { CriticModel, Policy } from './policy.ts'
import { tinkerRefusal } from './tinker/losses.ts'
import { openTinker, type TinkerSettings, tinkerSchema } from './tinker/settings.ts'
import { lossRefusal } from './update.ts'

/**
 * Rows decoded together where a judge grades what is finished beside the sampling of the rest: fewer end at a time, so that graders
 * begin earlier, and a step keeps to max(rollout, reward) + update (`gradus bench overlap`; RuscaRL appendix C.6).
 */
export const JUDGED_ROWS = 64

/** In this process, its engines in worker threads. */
const localFields = z.strictObject({
  kind: z.literal('local').default('local').describe('In this process.'),
  provider: z
    .enum(PROVIDERS)
    .default('cpu')
    .describe(
      'What computes. `webgpu`: a GPU, which also holds weights, gradients, optimiser and caches; without a GPU the run does not start.',
    ),
  threads: natural
    .default(2)
    .describe('Processor threads of the engine, or of all engines together. Ignored on a GPU.'),
  engines: natural
    .max(MOST_ENGINES)
    .nullable()
    .default(null)
    .describe(
      'Engines with the same weights that share the work, `threads`, `maxRows` and `microBatchTokens`. For a small model two engines of one thread are faster than one of two, at twice the memory. Results differ only by rounding. null: 2 for up to 16 million weights on two threads or more, else 1.',
    ),
  spinning: z
    .boolean()
    .default(true)
    .describe(
      'Threads spin while they wait. Faster on idle cores, far slower on cores that other work needs.',
    ),
  arena: z
    .boolean()
    .default(true)
    .describe(
      'Keep the memory of a computation for the next one. false: up to a fifth slower, with about a third less memory at the peak.',
    ),
  maxRows: natural
    .default(128)
    .describe(
      'Most rows decoded together. On the processor fewer, down to 32, if their keys and values would take more than 1 GiB an engine. The other rows are sampled afterwards, while finished ones are graded.',
    ),
  microBatchTokens: natural
    .default(2048)
    .describe(
      'Most padded tokens in a training graph, which limits memory. Samples that share a prompt may exceed it by that prompt. More is faster only if many samples share a long beginning.',
    ),
  sampleBits: z
    .union([z.literal(8), z.literal(32)])
    .default(32)
    .describe(
      'Bits of a weight while tokens are sampled, in evaluations too. 8: a model of half a billion weights samples 1.3 to 2.9 times as fast, a small one slower. Train an adapter with it: rounding hides small steps of whole weights. On the processor only.',
    ),
  recompute: z
    .boolean()
    .default(false)
    .describe(
      'Compute layers a second time for their gradient (gradient checkpointing). An update takes up to a third longer, and holds little more than one layer of a micro-batch in memory.',
    ),
})

type EngineFields = Pick<z.output<typeof localFields>, 'engines' | 'provider'> & { sampler?: unknown }

/** What divides its work among engines computes on the processor, and takes turns. */
const enginesFit = ({ engines, provider, sampler = null }: EngineFields): boolean =>
  engines === null || engines === 1 || (provider === 'cpu' && sampler === null)
const FITTING_ENGINES = {
  path: ['engines'],
  message: '1 with provider webgpu or a sampler; several engines share the processor in turns',
}

type BitsFields = Pick<z.output<typeof localFields>, 'sampleBits' | 'provider'> & { sampler?: unknown }

/** A sampler of its own computes on the processor. */
const bitsFit = ({ sampleBits, provider, sampler = null }: BitsFields): boolean =>
  sampleBits === 32 || provider === 'cpu' || sampler !== null
const FITTING_BITS = {
  path: ['sampleBits'],
  message: '32 with provider webgpu, which has no products of 8 bits',
}

const localSchema = localFields.refine(enginesFit, FITTING_ENGINES).refine(bitsFit, FITTING_BITS)

const pairedSchema = localFields
  .extend({
    sampler: z
      .strictObject({ threads: natural.default(1).describe('Processor threads of the second engine.') })
      .nullable()
      .default(null)
      .describe(
        'A second engine that only samples, so that a pipelined step is sampled while the step before is learnt from. It computes on the processor even if the first one has a GPU. The other settings hold for both. null: one engine does both in turns.',
      ),
  })
  .refine(enginesFit, FITTING_ENGINES)
  .refine(bitsFit, FITTING_BITS)

/** For what has to be in this process: fresh weights, value heads. */
export const localPolicySchema = z.discriminatedUnion('kind', [localSchema], {
  error: ({ input }) =>
    (input as { kind?: unknown } | undefined)?.kind === 'tinker'
      ? 'local: what begins with fresh weights, or adds an output to a model, is trained in this process'
      : undefined,
})
/** Where the policy of a recipe computes that samples and learns in turns. */
export const policySchema = z.discriminatedUnion('kind', [localSchema, tinkerSchema])
/** The same for a recipe that can sample ahead, where a second engine is of use. */
export const pipelinedPolicySchema = z.discriminatedUnion('kind', [pairedSchema, tinkerSchema])

export type LocalPolicySettings = z.output<typeof localPolicySchema>
export type PolicySettings = z.output<typeof policySchema>
export type PipelinedPolicySettings = z.output<typeof pipelinedPolicySchema>
type AnyPolicySettings = PolicySettings | PipelinedPolicySettings

/** Whether weights, gradients and optimiser are on a server. */
export const isRemote = (settings: AnyPolicySettings): settings is TinkerSettings =>
  settings.kind === 'tinker'

/** @throws GradusError where a device that the settings name does not start on this machine */
export const assertStarts = async (settings: Partial<AnyPolicySettings> = {}): Promise<void> => {
  if (!('provider' in settings) || settings.provider !== 'webgpu') return
  const { assertWebGpu } = await import('../tensor/device.ts')
  await assertWebGpu()
}

/** What settles how many engines there are. */
type EngineSettings = Partial<Pick<z.output<typeof localFields>, 'engines' | 'provider' | 'threads'>> & {
  sampler?: unknown
}

/** Engines that share the work on a model; its shape is asked for where it depends on it. */
export const enginesOf = (
  { engines = null, sampler = null, ...rest }: EngineSettings,
  shape: () => ModelConfig,
): number =>
  sampler === null ? (engines ?? defaultEngines(rest, () => modelTensors(shape(), null).total)) : 1

/** Whether layers are computed once more on the way back, in this process; a server decides for itself. */
export const recomputes = (settings: AnyPolicySettings): boolean => !isRemote(settings) && settings.recompute

/**
 * Why the policy that the settings name would not compute a loss, as its `refuses` says once it is open; null when it would.
 * Asked where a configuration is checked, so that no cold start is run in vain.
 */
export const refusedLoss = (
  settings: AnyPolicySettings,
  { valueHead = false }: Pick<ModelSource, 'valueHead'>,
  loss: LossSpec,
): string | null => (isRemote(settings) ? tinkerRefusal(loss) : lossRefusal(loss, valueHead))

/** A critic on the processor, which a GPU's one engine leaves free. */
const openCritic = async (settings: LocalPolicySettings, source: ModelSource): Promise<CriticModel> => {
  const { threads, engines, spinning, arena, microBatchTokens, recompute } = settings
  const { startEngines } = await import('./local/data-parallel-policy.ts')
  const { sourceConfig } = await import('./local/model-source.ts')
  const many = enginesOf({ engines, threads }, () => sourceConfig(source))
  const options = { threads, spinning, arena, microBatchTokens, recompute, engines: many }
  return startEngines({ ...source, valueHead: true }, options)
}

/**
 * Opens the policy that the settings name; the caller closes it.
 * @param source the model; of one on a server its folder is that of its words, and an adapter is made of `settings.lora`
 * @param critic the model of a critic of its own; on a server it is that of the policy
 * @throws CheckpointError and others from loading; TinkerError from a server; nothing is left running then
 */
export const openPolicy = async (
  settings: AnyPolicySettings,
  source: ModelSource,
  critic: ModelSource | null = null,
): Promise<Policy> => {
  if (isRemote(settings)) return openTinker(settings, source, critic !== null)
  const policy = await openAlone(settings, source)
  if (critic === null) return policy
  try {
    const { CriticPolicy } = await import('./critic-policy.ts')
    return new CriticPolicy(policy, await openCritic(settings, critic))
  } catch (error) {
    await policy.close()
    throw error
  }
}

const openAlone = async (
  settings: Exclude<AnyPolicySettings, TinkerSettings>,
  source: ModelSource,
): Promise<Policy> => {
  const { kind: _kind, sampler, engines: _engines, ...trainer } = { sampler: null, ...settings }
  if (sampler !== null) {
    const { PairedPolicy } = await import('./local/paired-policy.ts')
    return PairedPolicy.start(source, {
      trainer: { ...trainer, sampleBits: 32 },
      sampler: { ...trainer, ...sampler, provider: 'cpu' },
    })
  }
  const { startEngines } = await import('./local/data-parallel-policy.ts')
  const { sourceConfig } = await import('./local/model-source.ts')
  return startEngines(source, { ...trainer, engines: enginesOf(settings, () => sourceConfig(source)) })
}
