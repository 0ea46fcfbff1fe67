/** @file A policy inside one thread: parameters, sampler and trainer together. Blocks its thread while it computes. */

import { assertTokenizerFits, createTokenizer, type Tokenizer } from '../../model/tokenizer.ts'
import { parseCheckpointJson } from '../../model/weights.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { Device, type ExecutableOptions, type Gate, type Provider, type Traffic } from '../../tensor/index.ts'
import { ConfigError } from '../../util/errors.ts'
import type { Policy } from '../policy.ts'
import { lossRefusal } from '../update.ts'
import { HiddenStates } from './hidden-states.ts'
import type { ModelSource } from './model-source.ts'
import type { MomentPieces, Shard } from './optimizer-step.ts'
import { Parameters } from './parameters.ts'
import { Sampler, type SamplerWork } from './sampler.ts'
import { Trainer } from './trainer.ts'
import { hasTwoLayouts, type SampleBits } from './weight-sizes.ts'

export interface EngineOptions {
  /** What computes: `cpu` by default. Of a device, weights, gradients, the optimiser's state and caches stay there. */
  provider?: Provider
  /** Threads inside one operation; 2 by default. */
  threads?: number
  /** Whether these threads spin while they wait; true by default, false where the cores are shared with other work. */
  spinning?: boolean
  /** Whether memory of a computation is kept for the next; true by default. */
  arena?: boolean
  /** Rows that are decoded together; 128 by default: more are no faster, and finish later. */
  maxRows?: number
  /** Scores of attention that prompts are read with at a time; see `MOST_SCORES`. On a device all prompts of a wave go together. */
  mostScores?: number
  /**
   * Prompts that begin alike are read, and learnt from, with what they share computed once, where that saves a tenth of the tokens or
   * more. By default of models above 16 million weights, on the processor: smaller ones gain little.
   */
  shareBeginnings?: boolean
  /** Padded tokens that go through a training graph at a time; 2048 by default. More is faster only where many share a long beginning. */
  microBatchTokens?: number
  /**
   * Bits of a weight while tokens are drawn; 32 by default. 8: matrices are rounded, and a sample's log-probs are those that it was
   * drawn by, but for its first token, which the prompt's pass gives. In a conversation what was drawn in earlier turns has been read
   * in 8 bits as well. On the processor alone.
   */
  sampleBits?: SampleBits
  /** Layers are computed a second time for their gradient: less memory for about a third more time; false by default. */
  recompute?: boolean
  /** Of the optimiser's work, where several engines share it; all of it by default. On the processor alone. */
  part?: Shard
}

export interface Engine
  extends Omit<
    Policy,
    'sample' | 'score' | 'accumulate' | 'step' | 'converse' | 'close' | 'load' | 'syncWeights'
  > {
  readonly parameters: Parameters
  sample: Sampler['sample']
  score: Trainer['score']
  accumulate: Trainer['accumulate']
  accumulatePart: Trainer['accumulatePart']
  dropGradient: Trainer['dropGradient']
  step: Trainer['step']
  converse: Sampler['converse']
  /** See `Policy.load`; the optimiser's state only where it is wanted, which it is unless told otherwise. */
  load(folder: string, options?: { optimizer?: boolean }): Promise<void>
  /** What sampling has computed since the start. */
  samplingWork(): Promise<SamplerWork>
  /** See `HiddenStates.means`. */
  hiddenMeans(sequences: readonly TokenIds[]): Promise<Float32Array[]>
  /** Bytes that runs were fed with and that came out of them since the start. */
  traffic(): Promise<Traffic>
  /** Of configuration and weights; see `Parameters.digest`. */
  digest(): Promise<string>
  /** See `Parameters.shareTrained`. */
  shareWeights(): Promise<SharedArrayBuffer[]>
  /** See `Parameters.takeTrained`. */
  takeWeights(shared: readonly SharedArrayBuffer[]): Promise<void>
  /** See `Gradient.share`. */
  shareGradient(): Promise<readonly SharedArrayBuffer[] | null>
  /** See `Gradient.gather`. */
  gatherGradient(shared: readonly (readonly SharedArrayBuffer[] | null)[]): Promise<number>
  stepPart: Parameters['stepPart']
  /** See `Parameters.takeParts`. */
  takeParts(weights: readonly (readonly SharedArrayBuffer[])[]): Promise<void>
  /** See `Optimizer.moments`. */
  moments(part?: Shard): Promise<MomentPieces>
  /** See `Optimizer.takeMoments`. */
  takeMoments(moments: MomentPieces): Promise<void>
}

/** Padded tokens of a training graph, where nothing else is said. */
export const MICRO_BATCH_TOKENS = 2048

/** Loads or initialises a model and makes it ready to sample and train. */
export const createEngine = (source: ModelSource, options: EngineOptions = {}, gate?: Gate): Engine => {
  const { provider = 'cpu', threads = 2, spinning = true, arena = true, maxRows = 128 } = options
  const {
    microBatchTokens = MICRO_BATCH_TOKENS,
    recompute = false,
    mostScores,
    sampleBits: bits,
    part,
  } = options
  const traffic: Traffic = { upBytes: 0, downBytes: 0 }
  if (bits !== undefined && bits !== 8 && bits !== 32)
    throw new ConfigError(`sampleBits: expected 8 or 32, got ${JSON.stringify(bits)}`)
  const running: ExecutableOptions = { provider, threads, spinning, arena, gate, traffic }
  const parameters = new Parameters(source, provider === 'cpu' ? null : new Device(running), part)
  const { shareBeginnings = provider === 'cpu' && !hasTwoLayouts(parameters.count) } = options
  const trainer = new Trainer(parameters, { running, microBatchTokens, recompute, shareBeginnings })
  const nextLogits = (prompts: readonly TokenIds[]) => trainer.nextLogits(prompts)
  const readShared = (prompts: readonly TokenIds[]) => trainer.readPrompts(prompts)
  const sampling = { running, maxRows, mostScores, bits, nextLogits, readShared }
  const sampler = new Sampler(parameters, sampling, () => tokenizerOf(parameters))
  const hiddenStates = new HiddenStates(parameters, { running, microBatchTokens })
  return {
    parameters,
    sample: (request, onSample, onToken) => sampler.sample(request, onSample, onToken),
    converse: (request, reply) => sampler.converse(request, reply),
    samplingWork: async () => sampler.work,
    score: (items, scoreOptions) => trainer.score(items, scoreOptions),
    refuses: loss => lossRefusal(loss, parameters.hasValueHead),
    accumulate: (datums, lossOptions) => trainer.accumulate(datums, lossOptions),
    accumulatePart: (part, lossOptions) => trainer.accumulatePart(part, lossOptions),
    dropGradient: () => trainer.dropGradient(),
    step: optimizer => trainer.step(optimizer),
    hiddenMeans: sequences => hiddenStates.means(sequences),
    traffic: async () => ({ ...traffic }),
    digest: () => parameters.digest(),
    shareWeights: () => parameters.shareTrained(),
    takeWeights: shared => parameters.takeTrained(shared),
    shareGradient: async () => parameters.gradient.share(),
    gatherGradient: async shared => parameters.gradient.gather(shared),
    stepPart: (optimizer, norm) => parameters.stepPart(optimizer, norm),
    takeParts: async weights => parameters.takeParts(weights),
    moments: async part => parameters.optimizer.moments(part),
    takeMoments: async moments => parameters.optimizer.takeMoments(moments),
    freezeReference: () => parameters.freezeReference(),
    save: (folder, saveOptions = {}) => parameters.save(folder, saveOptions.optimizer ?? true),
    load: async (folder, loadOptions = {}) => parameters.load(folder, loadOptions.optimizer ?? true),
  }
}

/** The tokenizer among a checkpoint's text files, or null; only stop strings need it here. */
const tokenizerOf = ({ files, config }: Parameters): Tokenizer | null => {
  const json = files.get('tokenizer.json')
  const settings = files.get('tokenizer_config.json')
  if (!json) return null
  const tokenizer = createTokenizer(
    parseCheckpointJson(json, 'tokenizer.json'),
    settings ? parseCheckpointJson(settings, 'tokenizer_config.json') : {},
  )
  assertTokenizerFits(tokenizer, config)
  return tokenizer
}
