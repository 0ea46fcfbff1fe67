/** @file What a fake server computes with: real engines of this process, an adapter each, so that its numbers can be compared. */

import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTar } from 'nanotar'
import { loraModules } from '../../model/lora-files.ts'
import type { Datum } from '../../rl/datum.ts'
import { type LossSpec, lossSchema } from '../../rl/loss.ts'
import type { FakeModel, FakeSampler, FakeService } from '../../tinker/fake-server.fixture.ts'
import {
  type ForwardBackwardOutput,
  type ForwardBackwardRequest,
  floatTensor,
  type WireDatum,
} from '../../tinker/index.ts'
import type { Engine } from '../local/engine.ts'
import type { ModelSource } from '../local/model-source.ts'
import { tinyEngine } from '../local/tiny-model.fixture.ts'

/** `sums`: as the protocol says. `means`: as SkyRL has it, by weights or positions, then over all sequences of a step. */
type Aggregating = 'sums' | 'means'

export interface ServiceOptions {
  aggregating?: Aggregating
  /** Losses that it does not know by name. */
  lacks?: readonly string[]
  source?: ModelSource
  /** Whether it hands adapters out. Default true. */
  archives?: boolean
  /**
   * `offered`: a critic, as SkyRL has it (a9564572e): one, made after a policy, whose state is loaded by its first request or never.
   * `refused`: as SkyRL's other backends. `unknown`, the default: the role is overlooked, and the loss has no such name.
   */
  critics?: 'offered' | 'refused' | 'unknown'
}

/** The adapter that the service makes for a client, for a local engine to compare with. */
export const adapterOf = (
  source: ModelSource,
  { rank, seed = 0 }: { rank: number; seed?: number },
): ModelSource => ({
  ...source,
  lora: { rank, alpha: 32, targetModules: [...loraModules] },
  seed,
})

const sum = (values: Iterable<number>): number => Array.from(values).reduce((total, x) => total + x, 0)

/** All of a wire datum is a response to its first token; what the loss reads lies over it. */
const datumOf = ({ tokens, inputs }: WireDatum): Datum => {
  const targets = inputs.target_tokens.data as Int32Array
  const zeros = new Float32Array(targets.length)
  return {
    promptTokens: [tokens[0]],
    tokens: targets,
    mask: new Float32Array(targets.length).fill(1),
    oldLogprobs: (inputs.logprobs?.data as Float32Array | undefined) ?? zeros,
    advantages: (inputs.advantages?.data as Float32Array | undefined) ?? zeros,
    weights: (inputs.weights?.data as Float32Array | undefined) ?? new Float32Array(targets.length).fill(1),
  }
}

const loss = (policy: LossSpec['policy'], crossEntropyCoef = 0): LossSpec =>
  lossSchema.parse({ policy, crossEntropyCoef, aggregation: { mode: 'token-sum' } })

const lossOf = (name: string, config: Readonly<Record<string, number>> = {}): LossSpec => {
  const { clip_low_threshold: low = 0.8, clip_high_threshold: high = 1.2 } = config
  const bounds = { clipLow: 1 - low, clipHigh: high - 1, dualClip: null }
  if (name === 'cross_entropy') return loss({ ...bounds, kind: 'none' }, 1)
  if (name === 'ppo') return loss({ ...bounds, kind: 'clip' })
  if (name === 'cispo') return loss({ ...bounds, kind: 'cispo' })
  if (name === 'importance_sampling') return loss({ kind: 'clip', clipLow: 1, clipHigh: 1e9, dualClip: null })
  throw new Error(`loss_fn: expected another one, got ${name}`)
}

/** What a mean divides a sequence by, before it is averaged with the others. */
const divisorOf = ({ inputs, tokens }: WireDatum, lossFn: string): number =>
  lossFn === 'cross_entropy' ? sum(inputs.weights.data) : tokens.length

const samplerOf = (engine: Engine): FakeSampler => ({
  sample: async (prompt, samples, params, promptLogprobs) => {
    const { max_tokens: maxTokens, temperature, top_k: topK, top_p: topP, seed, stop } = params
    const drawn = await engine.sample({
      prompts: [prompt],
      samplesPerPrompt: samples,
      maxTokens: maxTokens as number,
      temperature: temperature as number,
      topK: Math.max(0, topK as number),
      topP: topP as number,
      seed: seed as number,
      stopTokens: (stop as number[] | undefined) ?? [],
    })
    const scored = promptLogprobs
      ? (await engine.score([{ promptTokens: [prompt[0]], tokens: prompt.slice(1) }]))[0].logprobs
      : null
    return {
      sequences: drawn.map(({ tokens, logprobs, finishReason }) => ({
        tokens,
        logprobs,
        stopReason: finishReason,
      })),
      promptLogprobs: scored,
    }
  },
})

/** An adapter's files in PEFT's layout, as a tar archive. */
const archiveOf = async (engine: Engine): Promise<Uint8Array> => {
  const folder = join(mkdtempSync(join(tmpdir(), 'tinker-adapter-')), 'adapter')
  await engine.save(folder, { optimizer: false })
  return createTar(readdirSync(folder).map(name => ({ name, data: readFileSync(join(folder, name)) })))
}

/** Gradients are kept as batches until the step: only then a mean over all of them is known. */
class EngineModel implements FakeModel {
  readonly #source: ModelSource
  readonly #engine: Engine
  readonly #options: ServiceOptions
  #pending: ForwardBackwardRequest[] = []

  constructor(source: ModelSource, options: ServiceOptions) {
    this.#source = source
    this.#engine = tinyEngine(source)
    this.#options = options
  }

  async compute(request: ForwardBackwardRequest) {
    const datums = request.data.map(datumOf)
    const scores = await this.#engine.score(datums)
    if (!request.forwardOnly) this.#pending.push(request)
    return {
      outputType: 'scalar',
      outputs: scores.map(({ logprobs }) => ({ logprobs: floatTensor(logprobs) })),
      metrics: {},
    }
  }

  #weighed(datum: WireDatum, lossFn: string, count: number): Datum {
    const own = datumOf(datum)
    if (this.#options.aggregating !== 'means') return own
    const divisor = divisorOf(datum, lossFn) * count
    return { ...own, weights: Float32Array.from(own.weights!, weight => weight / divisor) }
  }

  async step(adam: Record<string, number>) {
    const count = sum(this.#pending.map(({ data }) => data.length))
    for (const { data, lossFn, config } of this.#pending)
      await this.#engine.accumulate(
        data.map(datum => this.#weighed(datum, lossFn, count)),
        { loss: lossOf(lossFn, config) },
      )
    this.#pending = []
    const { gradNorm } = await this.#engine.step({
      learningRate: adam.learning_rate,
      beta1: adam.beta1,
      beta2: adam.beta2,
      epsilon: adam.eps,
      weightDecay: adam.weight_decay,
      maxGradNorm: adam.grad_clip_norm,
    })
    return { grad_norm: gradNorm }
  }

  async save() {
    const folder = join(mkdtempSync(join(tmpdir(), 'tinker-state-')), 'state')
    await this.#engine.save(folder)
    return folder
  }

  async load(state: unknown) {
    this.#pending = []
    await this.#engine.load(state as string)
  }

  async snapshot() {
    const copy = tinyEngine(this.#source)
    await copy.takeWeights(await this.#engine.shareWeights())
    if (this.#options.archives === false) return samplerOf(copy)
    return { ...samplerOf(copy), archive: () => archiveOf(copy) }
  }
}

const valueLoss = (clip: number): LossSpec =>
  lossSchema.parse({
    policy: { kind: 'none' },
    value: { coef: 1, clip },
    aggregation: { mode: 'sequence-mean' },
  })

/** Values in place of log-probs; where its gradient is taken there are none, as SkyRL has it. */
class EngineCritic implements FakeModel {
  readonly #engine: Engine
  #requests = 0

  constructor(source: ModelSource) {
    this.#engine = tinyEngine({ ...source, valueHead: true })
  }

  async compute({
    data,
    lossFn,
    config,
    forwardOnly,
  }: ForwardBackwardRequest): Promise<ForwardBackwardOutput> {
    this.#requests++
    if (lossFn !== 'ppo_critic') throw new Error(`Critic batches must use ppo_critic, got ${lossFn}`)
    const datums = data.map(datumOf)
    if (forwardOnly) {
      const scores = await this.#engine.score(datums)
      const outputs = scores.map(({ values }) => ({ values: floatTensor(values!) }))
      return { outputType: 'scalar', outputs, metrics: {} }
    }
    const read = ({ inputs }: WireDatum, name: string) => inputs[name].data as Float32Array
    const { parts } = await this.#engine.accumulate(
      datums.map(({ weights, ...datum }, i) => ({
        ...datum,
        mask: weights!,
        ...{ returns: read(data[i], 'returns'), oldValues: read(data[i], 'values') },
      })),
      { loss: valueLoss(config?.value_clip ?? 0.2) },
    )
    return {
      ...{ outputType: 'scalar', outputs: data.map(() => ({})) },
      metrics: { 'critic_loss:sum': parts!.value! },
    }
  }

  async step({ learning_rate: learningRate }: Record<string, number>) {
    this.#requests++
    await this.#engine.step({ learningRate })
    return {}
  }

  async save() {
    this.#requests++
    const folder = join(mkdtempSync(join(tmpdir(), 'tinker-critic-')), 'state')
    await this.#engine.save(folder)
    return folder
  }

  async load(state: unknown) {
    if (this.#requests++ > 0) throw new Error('LoadWeights is not permitted after other requests')
    await this.#engine.load(state as string)
  }

  snapshot(): never {
    throw new Error('Sampling is only supported for policy models')
  }
}

/** Adapters on one base model, each in an engine of its own. */
export const engineService = (options: ServiceOptions = {}): FakeService => ({
  refuses: name =>
    (name === 'ppo_critic' && (options.critics ?? 'unknown') === 'unknown') ||
    (options.lacks?.includes(name) ?? false),
  create: async (lora, role) => {
    const source = adapterOf(options.source ?? {}, lora)
    if (role === 'critic' && options.critics === 'refused')
      throw new Error("only supports model_role='policy', got 'critic'")
    return role === 'critic' && options.critics === 'offered'
      ? new EngineCritic(source)
      : new EngineModel(source, options)
  },
  base: async () => samplerOf(tinyEngine(options.source)),
})
