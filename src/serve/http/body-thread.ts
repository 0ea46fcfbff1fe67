/** @file The side of the thread that reads bodies for `Bodies`. */

import { GradusError } from '../../util/errors.ts'
import { serveWork } from '../../util/work-serve.ts'
import type { BodyReaders, ReadReply, ReadRequest } from './bodies.ts'
import { giveWay } from './give-way.ts'

/** Reads bodies in this thread. */
export const serveBodies = (readers: BodyReaders): void => {
  giveWay()
  serveWork<ReadRequest, ReadReply>(({ reader, bytes }) => {
    try {
      return { value: readers[reader](bytes) }
    } catch (error) {
      if (error instanceof GradusError) return { refused: error.message }
      throw error
    }
  })
}
