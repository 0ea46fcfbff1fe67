/** @file A model in training: its engine, and its requests in their order, each computed when its session has its turn. */

import { type EngineOptions, LocalPolicy } from '../../policy/index.ts'
import type { Datum } from '../../rl/datum.ts'
import type { ForwardBackwardRequest } from '../../tinker/index.ts'
import { eventLoopYield } from '../../util/yield-to-event-loop.ts'
import type { TrainedShape } from './engines.ts'
import { RequestError } from './errors.ts'
import type { FairQueue } from './fair-queue.ts'
import type { Result } from './futures.ts'
import { InOrder, type InOrderOptions } from './in-order.ts'
import { datumOf, lossSpecOf, outputOf } from './losses.ts'
import type { OptimStepRequest } from './wire.ts'

export interface ModelIdentity {
  id: string
  sessionId: string
  shape: TrainedShape
}

export class Model {
  readonly id: string
  readonly sessionId: string
  readonly shape: TrainedShape
  readonly policy: LocalPolicy
  readonly order: InOrder
  /** Of the last request. */
  usedAt = new Date()
  /** Whether steps were made that no checkpoint has. */
  isUnsaved = false

  private constructor({ id, sessionId, shape }: ModelIdentity, policy: LocalPolicy, order: InOrderOptions) {
    this.id = id
    this.sessionId = sessionId
    this.shape = shape
    this.policy = policy
    this.order = new InOrder(order)
  }

  /** Loads the base model, with a fresh adapter where it has one. @throws CheckpointError and others from loading */
  static async start(
    identity: ModelIdentity,
    { engine, order, seed = 0 }: { engine: EngineOptions; order: InOrderOptions; seed?: number },
  ): Promise<Model> {
    const { base, lora } = identity.shape
    const source = { folder: base.folder, seed, ...(lora && { lora }) }
    return new Model(identity, await LocalPolicy.start(source, engine), order)
  }

  /** Log-probs and losses of a batch, and where it is asked for the gradient, which is added to what is accumulated. */
  async compute(request: ForwardBackwardRequest, queue: FairQueue): Promise<Result> {
    const loss = lossSpecOf(request)
    const datums = await this.#datumsOf(request)
    const logprobs = await queue.run(this.sessionId, async () => {
      if (request.forwardOnly) return (await this.policy.score(datums)).map(({ logprobs: one }) => one)
      return (await this.policy.accumulate(datums, { loss, logprobs: true })).logprobs!
    })
    return { kind: 'output', output: await outputOf(loss, datums, logprobs) }
  }

  /** What the engine would refuse is refused before it: its refusal drops what is accumulated. @throws RequestError */
  async #datumsOf({ data, lossFn }: ForwardBackwardRequest): Promise<Datum[]> {
    const yieldToEventLoop = eventLoopYield()
    const datums: Datum[] = []
    for (const [i, datum] of data.entries()) {
      await yieldToEventLoop()
      this.#checkLength(datum.tokens.length, `data[${i}]`)
      datums.push(datumOf(datum, lossFn, `data[${i}]`))
      this.#checkTokens(datums[i], `data[${i}]`)
    }
    return datums
  }

  #checkLength(length: number, place: string): void {
    const { maxPositions } = this.shape.base.config
    if (length > maxPositions)
      throw new RequestError(
        422,
        `${place}: expected at most ${maxPositions} tokens, the context, got ${length}`,
      )
  }

  #checkTokens({ promptTokens, tokens, targets = [] }: Datum, place: string): void {
    const { vocabSize } = this.shape.base.config
    for (const part of [promptTokens, tokens, targets]) {
      const odd = part.find(token => !(token >= 0 && token < vocabSize))
      if (odd !== undefined)
        throw new RequestError(422, `${place}: token ${odd} is outside the vocabulary of ${vocabSize}`)
    }
  }

  /** AdamW with what is accumulated. @throws UsageError when nothing is */
  async step({ adam_params: adam }: OptimStepRequest, queue: FairQueue): Promise<Result> {
    const { gradNorm } = await queue.run(this.sessionId, () =>
      this.policy.step({
        learningRate: adam.learning_rate,
        beta1: adam.beta1,
        beta2: adam.beta2,
        epsilon: adam.eps,
        weightDecay: adam.weight_decay,
        maxGradNorm: adam.grad_clip_norm,
      }),
    )
    this.isUnsaved = true
    return {
      kind: 'json',
      body: { metrics: { grad_norm: gradNorm!, learning_rate: adam.learning_rate }, type: 'optim_step' },
    }
  }

  async close(): Promise<void> {
    await this.policy.close(new RequestError(404, `Model not found: ${this.id}; it was unloaded`))
    this.order.close()
  }
}
