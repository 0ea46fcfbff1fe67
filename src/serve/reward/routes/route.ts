/** @file What a route is: the shape of a request, items out of it, and the answer in the shape that the client expects. */

import { z } from 'zod'
import type { ChatMessage } from '../../../chat/chat-model.ts'
import type { RouteConfig } from '../config.ts'
import type { RewardItem, RewardResult } from '../item.ts'

/** A path that answers by itself, beside the one that grades. */
export interface SideRoute {
  method: 'get' | 'post'
  path: string
  summary: string
  request?: z.ZodType
  response: z.ZodType
  answer(body: unknown): unknown
}

/** One shape of request and answer at one path. */
export interface RewardRoute<Body = unknown> {
  config: RouteConfig
  summary: string
  request: z.ZodType<Body>
  response: z.ZodType
  /** Items of a request, in its order. */
  items(body: Body): RewardItem[]
  /** How many items a body has, whose shape nobody has looked at yet; 0 where there is no list of them. */
  count(given: unknown): number
  /** Where an item stands in the request, for errors. */
  place(index: number): string
  /** @param results one an item, in their order */
  answer(body: Body, results: readonly RewardResult[]): unknown
  side?: readonly SideRoute[]
}

/** Length of the list at a key of what may be anything. */
export const listLength = (given: unknown, key: string): number => {
  const list = (given as Readonly<Record<string, unknown>> | null | undefined)?.[key]
  return Array.isArray(list) ? list.length : 0
}

const ROLES = { system: 'system', developer: 'system', user: 'user', assistant: 'assistant' } as const

/** Messages as chat clients write them; a call of a tool has no content. Anything but text in a message has no place here. */
const messageSchema = z.object({
  role: z.enum([...Object.keys(ROLES), 'tool', 'function'] as (keyof typeof ROLES | 'tool' | 'function')[]),
  content: z.string().nullish(),
})

/** What people and models said; calls of tools and what they answered are left out. */
const spoken = (messages: readonly z.output<typeof messageSchema>[]): ChatMessage[] =>
  messages.flatMap(({ role, content }) =>
    role === 'tool' || role === 'function' || content === null || content === undefined
      ? []
      : [{ role: ROLES[role], content }],
  )

/** A prompt as a text or as messages. */
export const promptSchema = z.union([z.string(), z.array(messageSchema).min(1).transform(spoken)], {
  error: 'a text, or a list of messages {role, content}',
})
