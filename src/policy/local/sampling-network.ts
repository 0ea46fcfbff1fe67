/** @file The network as sampling runs it: one pass over prompts, which fills a cache, then steps of a token a row. */

import { prefillGraph, type StepLayout, stepGraph } from '../../model/decoding.ts'
import type { Weights } from '../../model/transformer.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { Executable, type ExecutableOptions, type Tensor } from '../../tensor/index.ts'
import { type Cache, CacheMemory, KeyValueCache } from './cache.ts'
import { CacheGraphs, DeviceCache } from './device-cache.ts'
import type { Parameters } from './parameters.ts'
import { joinedOutputs, type PieceOutputs, promptPieces } from './prompt-pieces.ts'
import { fixesWeights, type SampleBits } from './weight-sizes.ts'

export interface NetworkOptions {
  running: ExecutableOptions
  /** See `MOST_SCORES`. */
  mostScores?: number
  /** Of a weight; see `EngineOptions.sampleBits`. */
  bits?: SampleBits
  /** See `Trainer.readPrompts`. */
  readShared(prompts: readonly TokenIds[]): Promise<PieceOutputs[] | null>
}

/** Graphs are compiled when they are first wanted, and anew when weights that are fixed into them have changed. */
export class SamplingNetwork {
  readonly #parameters: Parameters
  readonly #running: ExecutableOptions
  readonly #mostScores: number | undefined
  readonly #bits: SampleBits
  readonly #readShared: NetworkOptions['readShared']
  readonly #memory = new CacheMemory()
  #cacheGraphs: CacheGraphs | null = null
  #prefill: Executable | null = null
  /** Of each layout that was wanted. */
  readonly #steps = new Map<boolean, { executable: Executable; version: number }>()

  constructor(parameters: Parameters, { running, mostScores, bits = 32, readShared }: NetworkOptions) {
    this.#parameters = parameters
    this.#running = running
    this.#mostScores = mostScores
    this.#bits = bits
    this.#readShared = readShared
  }

  get #isOnDevice(): boolean {
    return this.#running.provider === 'webgpu'
  }

  /** On a device keys and values stay there. */
  #compile(outputs: Record<string, Tensor>): Promise<Executable> {
    const keep = this.#isOnDevice ? Object.keys(outputs).filter(name => name !== 'logits') : undefined
    return Executable.compile(outputs, { ...this.#running, keep })
  }

  /** The graph of the prompts' pass. */
  async prefill(): Promise<Executable> {
    this.#prefill ??= await this.#compile(prefillGraph(this.#parameters.config, this.#parameters.asInputs()))
    return this.#prefill
  }

  get #isFixed(): boolean {
    return !this.#isOnDevice && (this.#bits === 8 || fixesWeights(this.#parameters.count))
  }

  /** Which weights are in a step's graph; those beside an adapter stay what they are. */
  get #version(): number {
    const { lora, version } = this.#parameters
    return this.#isFixed && !(lora && this.#bits === 8) ? version : 0
  }

  async #weights(): Promise<Weights> {
    const parameters = this.#parameters
    return this.#isFixed ? parameters.asConstants(this.#running, this.#bits) : parameters.asInputs()
  }

  /** The graph of a step, with the weights as they are now. */
  async step(layout: StepLayout): Promise<Executable> {
    const version = this.#version
    const known = this.#steps.get(layout.sharedPrompt)
    if (known?.version === version) return known.executable
    // Those of other layouts hold weights that are gone as well.
    await this.#releaseSteps(step => step.version !== version)
    const executable = await this.#compile(stepGraph(this.#parameters.config, await this.#weights(), layout))
    this.#steps.set(layout.sharedPrompt, { executable, version })
    return executable
  }

  async #releaseSteps(isOld: (step: { version: number }) => boolean): Promise<void> {
    for (const [layout, step] of this.#steps) {
      if (!isOld(step)) continue
      this.#steps.delete(layout)
      await step.executable.release()
    }
  }

  /** @param samples of each prompt @param newTokens that a row may come to hold after it @returns logits after each prompt [P, V] */
  async readPrompts(
    prompts: readonly TokenIds[],
    samples: number,
    newTokens: number,
  ): Promise<{ logits: Float32Array; cache: Cache }> {
    const { config } = this.#parameters
    const lengths = prompts.map(prompt => prompt.length)
    if (this.#isOnDevice) {
      this.#cacheGraphs ??= new CacheGraphs(config, this.#running)
      const { values, kept } = await this.#runPiece(prompts)
      const cache = await DeviceCache.of(this.#cacheGraphs, kept, lengths, samples)
      return { logits: values.logits.data as Float32Array, cache }
    }
    const pieces = (await this.#readShared(prompts)) ?? (await this.#readApart(prompts))
    const values = joinedOutputs(config, pieces, lengths)
    const padded = Math.max(...lengths)
    const cache = new KeyValueCache(config, this.#memory, values, lengths, padded, samples, newTokens)
    return { logits: values.logits.data as Float32Array, cache }
  }

  async #readApart(prompts: readonly TokenIds[]): Promise<PieceOutputs[]> {
    const pieces: PieceOutputs[] = []
    const lengths = prompts.map(prompt => prompt.length)
    for (const { start, end } of promptPieces(lengths, this.#parameters.config.heads, this.#mostScores)) {
      const { values } = await this.#runPiece(prompts.slice(start, end))
      const longest = Math.max(...lengths.slice(start, end))
      const rows = lengths.slice(start, end).map((count, row) => ({
        prompt: start + row,
        places: [{ prefix: '', start: row * longest, count }],
      }))
      pieces.push({ values, rows })
    }
    return pieces
  }

  async #runPiece(prompts: readonly TokenIds[]) {
    const longest = Math.max(...prompts.map(prompt => prompt.length))
    const tokens = new BigInt64Array(prompts.length * longest)
    const positions = new BigInt64Array(tokens.length)
    const last = new BigInt64Array(prompts.length)
    prompts.forEach((prompt, p) => {
      for (let s = 0; s < longest; s++) {
        tokens[p * longest + s] = BigInt(prompt[s] ?? 0)
        positions[p * longest + s] = BigInt(s)
      }
      last[p] = BigInt(p * longest + prompt.length - 1)
    })
    const prefill = await this.prefill()
    return prefill.execute({
      tokens: { data: tokens, dims: [tokens.length] },
      positions: { data: positions, dims: [prompts.length, longest] },
      last: { data: last, dims: [prompts.length] },
      ...(await this.#parameters.feeds(prefill.model.inputs)),
    })
  }
}
