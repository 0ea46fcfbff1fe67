/** @file Samples from a policy's adapter on an inference server, which loads every version of it from a folder under a new name. */

import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFolder } from '../../model/folder.ts'
import type { Policy, Sample } from '../policy.ts'
import { ServedModel } from '../served/served-model.ts'
import type { ServedOptions } from '../served/settings.ts'

/** Files by their names: `adapter_config.json`, `adapter_model.safetensors`. */
export type AdapterFiles = ReadonlyMap<string, Uint8Array>

export interface AdapterSamplerOptions {
  /** The server, and what it calls the base model. */
  served: ServedOptions
  /** Where adapters are written, for the server to read. */
  folder: string
  /** The same folder as the server names it. */
  seenAs: string
}

/** A version at the server. */
interface Version {
  version: number
  model: ServedModel
  folder: string
  /** Requests under way, which it is kept for. */
  calls: Set<Promise<unknown>>
}

/** Writes files into a folder that is there when it is whole. */
export const writeAdapter = (folder: string, files: AdapterFiles): void =>
  replaceFolder(folder, temporary => {
    for (const [name, bytes] of files) writeFileSync(join(temporary, name), bytes)
  })

/**
 * What is being sampled is finished with the version that it was begun with; one that nobody samples from any more is dropped, at the
 * server and in the folder.
 */
export class AdapterSampler implements Pick<Policy, 'sample' | 'score' | 'close'> {
  readonly #options: AdapterSamplerOptions
  readonly #base: ServedModel
  /** Names of this run are nobody else's. */
  readonly #run = randomBytes(4).toString('hex')
  #loads = 0
  #current: Version | null = null
  #dropping: Promise<unknown> = Promise.resolve()

  private constructor(base: ServedModel, options: AdapterSamplerOptions) {
    this.#base = base
    this.#options = options
  }

  /** @throws ConfigError, ServedError as `ServedModel.open` */
  static async open(options: AdapterSamplerOptions): Promise<AdapterSampler> {
    return new AdapterSampler(await ServedModel.open(options.served), options)
  }

  /**
   * Samples from these weights from now on.
   * @param version optimiser steps that they have taken
   * @throws ServedError where the server does not load them; it then goes on with those before
   */
  async take(files: AdapterFiles, version: number): Promise<void> {
    const name = `gradus-${this.#run}-${++this.#loads}-step-${version}`
    const folder = join(this.#options.folder, name)
    writeAdapter(folder, files)
    const model = await this.#base
      .withAdapter(name, `${this.#options.seenAs}/${name}`)
      .catch((error: unknown) => {
        rmSync(folder, { recursive: true, force: true })
        throw error
      })
    const before = this.#current
    this.#current = { version, model, folder, calls: new Set() }
    if (before) this.#dropping = Promise.all([this.#dropping, this.#drop(before)]).then(() => {})
  }

  /** It fails silently: what stays behind only takes room. */
  async #drop({ model, folder, calls }: Version): Promise<void> {
    await Promise.allSettled(calls)
    await model.close().catch(() => {})
    rmSync(folder, { recursive: true, force: true })
  }

  #versionOfNow(): Version {
    if (this.#current) return this.#current
    throw new Error('an adapter must be taken before anything is sampled')
  }

  #kept<T>({ calls }: Version, call: Promise<T>): Promise<T> {
    calls.add(call)
    const done = () => void calls.delete(call)
    call.then(done, done)
    return call
  }

  /** Samples that say which version drew them. @throws as `ServedModel.sample` */
  sample: Policy['sample'] = (request, onSample, onToken) => {
    const current = this.#versionOfNow()
    const { version, model } = current
    const tagged = (sample: Sample): Sample => ({ ...sample, version })
    const samples = model.sample(request, onSample && (sample => onSample(tagged(sample))), onToken)
    return this.#kept(
      current,
      samples.then(drawn => drawn.map(tagged)),
    )
  }

  score: Policy['score'] = (items, options) => {
    const current = this.#versionOfNow()
    return this.#kept(current, current.model.score(items, options))
  }

  async close(): Promise<void> {
    const current = this.#current
    this.#current = null
    if (current) await this.#drop(current)
    await this.#dropping
    await this.#base.close()
  }
}
