/** @file What bodies of the chat server are read into. Pure; see `Bodies`. */

import type { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { parseBounded } from '../http/json-body.ts'
import { chatRequestSchema, completionRequestSchema } from './wire.ts'

/** Values and levels in the JSON of a request; prompts may be token ids. */
const LIMITS = { values: 1_000_000, parts: 100_000, depth: 100 }

const by =
  <S extends z.ZodType>(schema: S) =>
  (bytes: Uint8Array): z.output<S> =>
    parseWith(schema, parseBounded(bytes, LIMITS), '', DataError)

export const CHAT_READERS = { chat: by(chatRequestSchema), completion: by(completionRequestSchema) }
export type ChatReaders = typeof CHAT_READERS
