/** @file `gradus serve chat`: a local checkpoint as an OpenAI-compatible endpoint, until it is told to stop. */

import { WITHOUT_TEMPLATE } from '../../model/chat-format.ts'
import { describeSampling } from '../../model/generation-config.ts'
import { openLocalChat } from '../../policy/chat/local-chat.ts'
import type { SampleBits } from '../../policy/local/weight-sizes.ts'
import { chatLimits, startChatServer } from '../../serve/chat/server.ts'
import { keepGoing } from '../../serve/http/guards.ts'
import { firstInterrupt } from '../interrupts.ts'
import type { Io } from '../io.ts'
import { fetchedModel } from '../model-option.ts'
import { assertNotOpen, drained, keyOf, limitsOf, serverLog } from './options.ts'

export interface ServeChatOptions {
  model: string
  adapter?: string
  name?: string
  template?: string
  host: string
  port: number
  threads: number
  sampleBits?: SampleBits
  maxRows: number
  tokenEnv?: string
  limit: Record<string, number>
}

/** @throws UsageError for an address that is open to all, or limits that are none; as `openLocalChat` */
export const serveChat = async (options: ServeChatOptions, io: Io): Promise<number> => {
  const token = keyOf('--token-env', options.tokenEnv)
  assertNotOpen(options.host, token, '--token-env')
  const limits = limitsOf(chatLimits, options.limit)
  const { adapter } = await fetchedModel(options, io)
  const model = await openLocalChat(options.model, { ...options, adapter })
  if (!model.ownTemplate)
    io.err.write(
      `note: this is a base model, which has no chat template: messages are joined as plain text; ${WITHOUT_TEMPLATE}\n`,
    )
  const sampling = describeSampling(model.generation)
  if (sampling) io.err.write(`where a request says nothing: ${sampling}\n`)
  const { host, port, maxRows } = options
  const server = await startChatServer(model, { host, port, maxRows, token, limits, log: serverLog(io) })
  const stopGoing = keepGoing(server.onUnhandled)
  const rounded = options.sampleBits === 8 ? ', weights of 8 bits' : ''
  io.err.write(`${model.name} at ${server.url}/v1${rounded} (Ctrl+C stops)\n`)
  await firstInterrupt(io)
  io.err.write('answering what was accepted, then stopping\n')
  const unanswered = await server.close()
  stopGoing()
  return drained(unanswered, 'the limit drainMs', io)
}
