/** @file The embedded policy: an engine in a worker thread, so that the caller's event loop stays free while it computes. */

import { Worker } from 'node:worker_threads'
import type { ModelConfig } from '../../model/config.ts'
import * as errors from '../../util/errors.ts'
import { asMemoryError } from '../../util/memory-failure.ts'
import { workerUrl } from '../../util/worker-url.ts'
import type { NextTurn, Policy, Sample, SampledToken, TurnReply } from '../policy.ts'
import { lossRefusal } from '../update.ts'
import type { Engine, EngineOptions } from './engine.ts'
import type { ModelSource } from './model-source.ts'
import type { CallMessage, ErrorData, NextTurnMessage, WorkerReply, WorkerStart } from './protocol.ts'
import { RunGate } from './run-gate.ts'
import type { PartialSampleRequest } from './sample-request.ts'

interface Listeners {
  onSample?: (sample: Sample) => void
  onToken?: (token: SampledToken) => void
  onTurn?: TurnReply
}

interface Pending extends Listeners {
  resolve(value: unknown): void
  reject(error: Error): void
}

/** Errors keep their class across the thread boundary. */
const revive = ({ name, kind, message, stack }: ErrorData): Error => {
  const classes = errors as unknown as Record<string, new (message: string) => Error>
  const error = new (kind === null ? Error : classes[kind])(message)
  return Object.assign(error, { name, stack })
}

/**
 * Whether an engine of this process has the GPU. The runtime has one device a process, and a second thread that uses it takes the
 * process down (a segmentation fault; onnxruntime-node 1.30).
 */
let deviceTaken = false

/** @throws GradusError when it is taken */
const takeDevice = (): void => {
  if (deviceTaken)
    throw new errors.GradusError('provider webgpu: expected one engine at a time, got a second one', {
      hint: 'close the first one, or let this one compute with the provider cpu',
    })
  deviceTaken = true
}

/** Gates of the engines that are there. */
const gates = new Set<RunGate>()

/** At the exit of the process Node ends all its threads, wherever they are. */
const shutAll = () => {
  for (const gate of gates) gate.shutNow()
}

/**
 * A policy on this machine: a transformer that is sampled and trained in worker threads of this process.
 * @example
 * const { parseModelConfig } = await import('gradus/model')
 * const size = { vocab_size: 16, hidden_size: 32, intermediate_size: 64, max_position_embeddings: 32 }
 * const config = parseModelConfig({ model_type: 'llama', ...size, num_hidden_layers: 1, num_attention_heads: 2 })
 * const policy = await LocalPolicy.start({ init: { config, seed: 1 } }, { threads: 1 })
 * const samples = await policy.sample({ prompts: [[1, 2]], samplesPerPrompt: 4, maxTokens: 3 })
 * samples.length // 4
 * await policy.close()
 */
export class LocalPolicy implements Policy {
  readonly config: ModelConfig
  readonly hasValueHead: boolean
  readonly parameterCount: number
  readonly trainedCount: number
  /** Resolves with the reason when the policy can do nothing any more: it was closed, or its worker failed. */
  readonly ended: Promise<Error>
  #end: (reason: Error) => void = () => {}
  readonly #worker: Worker
  readonly #gate: RunGate
  readonly #pending = new Map<number, Pending>()
  #nextId = 0
  #closed: Error | null = null
  #closing: Promise<void> | null = null

  private constructor(worker: Worker, gate: RunGate, ready: Extract<WorkerReply, { kind: 'ready' }>) {
    this.#worker = worker
    this.#gate = gate
    if (gates.size === 0) process.once('exit', shutAll)
    gates.add(gate)
    this.config = ready.config
    this.hasValueHead = ready.hasValueHead
    this.parameterCount = ready.parameterCount
    this.trainedCount = ready.trainedCount
    this.ended = new Promise(resolve => {
      this.#end = resolve
    })
    worker.on('message', (reply: WorkerReply) => this.#receive(reply))
    worker.on('error', error => this.#fail(asMemoryError(error, 'the engine') as Error))
    worker.on('exit', code => {
      this.#fail(new errors.GradusError(`the engine's worker stopped (exit ${code})`))
      this.#forget()
    })
  }

  /**
   * Starts the worker and loads the model.
   * @throws CheckpointError and others from loading; GradusError for `webgpu` where it does not start, or where another engine of this
   * process has it
   */
  static async start(source: ModelSource, options: EngineOptions = {}): Promise<LocalPolicy> {
    const onDevice = options.provider === 'webgpu'
    if (onDevice) takeDevice()
    const gate = new RunGate()
    const workerData: WorkerStart = { source, options, gate: gate.shared }
    const worker = new Worker(workerUrl(import.meta.url, './worker.js'), { workerData })
    if (onDevice)
      worker.once('exit', () => {
        deviceTaken = false
      })
    const ready = await new Promise<WorkerReply>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', error => reject(asMemoryError(error, 'the engine')))
    })
    // By name: Node listens to its own events of a worker, and without those no message arrives any more.
    for (const event of ['message', 'error']) worker.removeAllListeners(event)
    worker.unref()
    if (ready.kind === 'ready') return new LocalPolicy(worker, gate, ready)
    await worker.terminate()
    throw ready.kind === 'failed' ? revive(ready.error) : new Error(`unexpected message ${ready.kind}`)
  }

  #receive(reply: WorkerReply): void {
    if (reply.kind === 'ready' || reply.kind === 'failed') return
    if (reply.kind === 'turn') {
      void this.#answer(reply)
      return
    }
    const pending = this.#pending.get(reply.id)
    if (!pending) return
    if (reply.kind === 'sample' || reply.kind === 'token') {
      this.#handOut(pending, reply)
      return
    }
    this.#settle(reply.id)
    if (reply.kind === 'result') pending.resolve(reply.value)
    else pending.reject(revive(reply.error))
  }

  /** What the caller's function throws is the caller's: it rejects that one call, and ends its rows. */
  async #answer({ id, row, turn }: Extract<WorkerReply, { kind: 'turn' }>): Promise<void> {
    const pending = this.#pending.get(id)
    let next: NextTurn | null = null
    try {
      next = (await pending?.onTurn?.(row, turn)) ?? null
    } catch (error) {
      this.#settle(id)
      pending?.reject(error as Error)
    }
    const isOpen = this.#pending.has(id)
    if (!this.#closed)
      this.#worker.postMessage({ id, row, next: isOpen ? next : null } satisfies NextTurnMessage)
  }

  /** What the caller's function throws is the caller's: it rejects that one call. */
  #handOut(pending: Pending, reply: Extract<WorkerReply, { kind: 'sample' | 'token' }>): void {
    try {
      if (reply.kind === 'sample') pending.onSample?.(reply.sample)
      else pending.onToken?.(reply.token)
    } catch (error) {
      this.#settle(reply.id)
      pending.reject(error as Error)
    }
  }

  #settle(id: number): void {
    this.#pending.delete(id)
    if (this.#pending.size === 0) this.#worker.unref()
  }

  #fail(error: Error): void {
    this.#closed ??= error
    this.#end(error)
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }

  #call<T>(method: CallMessage['method'], args: unknown[], listeners: Listeners = {}): Promise<T> {
    if (this.#closed) return Promise.reject(this.#closed)
    const id = this.#nextId++
    return new Promise<T>((resolve, reject) => {
      this.#worker.ref()
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, ...listeners })
      this.#worker.postMessage({ id, method, args } satisfies CallMessage)
    })
  }

  /** See `Sampler.sample`. */
  async sample(
    request: PartialSampleRequest,
    onSample?: (sample: Sample) => void,
    onToken?: (token: SampledToken) => void,
  ): Promise<Sample[]> {
    const { samplesPerPrompt: group = 1, firstSample = 0 } = request
    const samples = new Array<Sample>(request.prompts.length * group)
    const keep = (sample: Sample) => {
      samples[sample.prompt * group + sample.index - firstSample] = sample
      onSample?.(sample)
    }
    await this.#call<void>('sample', [request, onToken !== undefined], { onSample: keep, onToken })
    return samples
  }

  converse: Engine['converse'] = (request, reply) => this.#call('converse', [request], { onTurn: reply })
  samplingWork: Engine['samplingWork'] = () => this.#call('samplingWork', [])
  score: Engine['score'] = (items, options) => this.#call('score', [items, options])
  refuses: Policy['refuses'] = loss => lossRefusal(loss, this.hasValueHead)
  accumulate: Engine['accumulate'] = (datums, options) => this.#call('accumulate', [datums, options])
  /** See `Trainer.accumulatePart`. */
  accumulatePart: Engine['accumulatePart'] = (part, options) => this.#call('accumulatePart', [part, options])
  /** See `Trainer.dropGradient`. */
  dropGradient: Engine['dropGradient'] = () => this.#call('dropGradient', [])
  step: Engine['step'] = optimizer => this.#call('step', [optimizer])
  freezeReference: Policy['freezeReference'] = () => this.#call('freezeReference', [])
  save: Policy['save'] = (folder, options) => this.#call('save', [folder, options])
  load: Engine['load'] = (folder, options) => this.#call('load', [folder, options])

  /** See `HiddenStates.means`. */
  hiddenMeans: Engine['hiddenMeans'] = sequences => this.#call('hiddenMeans', [sequences])
  /** See `Parameters.digest`. */
  digest: Engine['digest'] = () => this.#call('digest', [])

  /** See `Parameters.shareTrained`; the memory is the worker's, and any thread may read it. */
  shareWeights: Engine['shareWeights'] = () => this.#call('shareWeights', [])
  /** See `Parameters.takeTrained`. */
  takeWeights: Engine['takeWeights'] = shared => this.#call('takeWeights', [shared])
  /** See `Gradient.share`; the memory is the worker's, and any thread may read it. */
  shareGradient: Engine['shareGradient'] = () => this.#call('shareGradient', [])
  /** See `Gradient.gather`. */
  gatherGradient: Engine['gatherGradient'] = shared => this.#call('gatherGradient', [shared])
  /** See `Parameters.stepPart`; the memory is the worker's, and any thread may read it. */
  stepPart: Engine['stepPart'] = (optimizer, norm) => this.#call('stepPart', [optimizer, norm])
  /** See `Parameters.takeParts`. */
  takeParts: Engine['takeParts'] = weights => this.#call('takeParts', [weights])
  /** See `Optimizer.moments`. */
  moments: Engine['moments'] = part => this.#call('moments', [part])
  /** See `Optimizer.takeMoments`. */
  takeMoments: Engine['takeMoments'] = moments => this.#call('takeMoments', [moments])

  #forget(): void {
    gates.delete(this.#gate)
    if (gates.size === 0) process.off('exit', shutAll)
  }

  /**
   * Stops the worker as soon as it is not in the middle of a computation; calls that are still running are rejected with the
   * reason, and so is every later one. Called again it waits for the same end.
   */
  close(reason: Error = new errors.GradusError('the policy is closed')): Promise<void> {
    this.#fail(reason)
    this.#closing ??= this.#stop()
    return this.#closing
  }

  async #stop(): Promise<void> {
    await this.#gate.shut()
    await this.#worker.terminate()
  }
}
