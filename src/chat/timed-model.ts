/** @file A chat model whose calls are timed. */

import type { ChatModel } from './chat-model.ts'

/** What became of a call; `cancelled` says nothing of the model. */
export type CallOutcome = 'answered' | 'failed' | 'cancelled'

/** Called with every call when it ends. */
export type CallListener = (outcome: CallOutcome, tookMs: number) => void

/** The same model; `onCall` hears how each call ended and how long it took. */
export const timedModel = (model: ChatModel, onCall: CallListener): ChatModel => ({
  name: model.name,
  variant: model.variant,
  async complete(request) {
    const startedMs = performance.now()
    try {
      const response = await model.complete(request)
      onCall('answered', performance.now() - startedMs)
      return response
    } catch (error) {
      onCall(request.signal?.aborted ? 'cancelled' : 'failed', performance.now() - startedMs)
      throw error
    }
  },
  close: async () => model.close?.(),
})
