/** @file Requests for samplers and for samples: of which weights, in whose session. */

import type { Checkpoints } from './checkpoints.ts'
import { RequestError } from './errors.ts'
import type { Futures, Result } from './futures.ts'
import type { Sampling, ServedSampler } from './sampling.ts'
import type { Sessions } from './sessions.ts'
import type { ServedTraining } from './training.ts'
import type { CreateSamplerRequest, SampleBody } from './wire.ts'

/** As the hosted service names them. */
export const idOfSampler = (sessionId: string, number: number | null | undefined) =>
  number === null || number === undefined ? {} : { id: `${sessionId}:sample:${number}` }

/** In whose turn samples are drawn that were asked for without a session. */
const NO_SESSION = 'none'

interface Parts {
  readonly sessions: Sessions
  readonly checkpoints: Checkpoints
  readonly training: ServedTraining
  readonly sampling: Sampling
  readonly futures: Futures
}

/** Samples are a future of their session's, or of nobody's where a request names weights instead of a session. */
export class SamplerRequests {
  readonly #parts: Parts

  /** @param parts of the service */
  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** @returns id of the sampling session */
  open(request: CreateSamplerRequest, digest: string): string {
    const session = this.#parts.sessions.of(request.session_id)
    return this.#parts.sessions.once(session, `sampler ${request.sampling_session_seq_id}`, digest, () => {
      this.#parts.futures.assertOpen()
      return this.#open(session.id, request).id
    })
  }

  /** @throws RequestError for weights that there are not */
  #open(
    sessionId: string,
    {
      base_model,
      model_path,
      sampling_session_seq_id,
    }: Partial<Pick<CreateSamplerRequest, 'base_model' | 'model_path' | 'sampling_session_seq_id'>>,
  ): ServedSampler {
    const named = idOfSampler(sessionId, sampling_session_seq_id)
    if (model_path) {
      const stored = this.#parts.checkpoints.find(model_path)
      const weights = { kind: 'folder', folder: stored.folder, savedAt: stored.createdAt } as const
      const shape = this.#parts.training.shapeOf(stored, base_model)
      return this.#parts.sampling.open(sessionId, { shape, weights, path: model_path, ...named })
    }
    if (!base_model) throw new RequestError(422, 'expected base_model, model_path or a sampling session')
    const shape = { base: this.#parts.training.base(base_model), lora: null }
    return this.#parts.sampling.open(sessionId, { shape, weights: { kind: 'base' }, ...named })
  }

  /** @returns id of a future of samples */
  sample(request: SampleBody): string {
    this.#parts.futures.assertOpen()
    if (!request.sampling_session_id) return this.#sampleOnce(request)
    const sampler = this.#parts.sampling.of(request.sampling_session_id)
    this.#parts.sessions.touch(sampler.sessionId)
    return this.#parts.futures.begin(sampler.sessionId, () => this.#samples(sampler, request))
  }

  /** Without a session: what is opened for it ends with it. */
  #sampleOnce(request: SampleBody): string {
    const sampler = this.#open(NO_SESSION, request)
    return this.#parts.futures.begin(null, () =>
      this.#samples(sampler, request).finally(() => this.#parts.sampling.close(sampler.id)),
    )
  }

  async #samples(sampler: ServedSampler, request: SampleBody): Promise<Result> {
    this.#assertUnchanged(sampler)
    return { kind: 'sample', output: await this.#parts.sampling.sample(sampler, request) }
  }

  /** Weights that a session samples from are those that it was opened with, or none. */
  #assertUnchanged({ path, weights }: ServedSampler): void {
    if (path === null || weights.kind !== 'folder') return
    if (this.#parts.checkpoints.find(path).createdAt !== weights.savedAt)
      throw new RequestError(404, `${path}: it was overwritten since; open another sampling session`)
  }
}
