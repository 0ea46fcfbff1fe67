/** @file What a request is: what a user asks, a right answer and a wrong one. */

import type { Rng } from '../../util/rng.ts'
import type { Body } from './style.ts'

export interface Request {
  ask: string
  right: Body
  /** An answer to the same request that is wrong; absent where nearly anything is right. */
  wrong?: Body
  /** The whole answer stands there as it is: no way to put it is added. */
  fixed?: boolean
}

/** A family of requests. */
export interface Kind {
  name: string
  draw(rng: Rng): Request
}
