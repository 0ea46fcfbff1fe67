/** @file The records task as a world to act in: calls are looked up, an answer ends the episode. */

import { outputText } from './research.ts'
import { type LookUp, type Output, readTrajectory, trajectoryPieces } from './trajectory.ts'
import { encodeRecords, TAGS } from './vocabulary.ts'
import { lookUp, type RecordsQuestion } from './world.ts'

/** What the archive says to a call; what is no call finds nothing. */
const outputOf = (
  { archive }: RecordsQuestion,
  call: Pick<LookUp, 'person' | 'field'> | undefined,
): Output => {
  if (!call || call.person === null || call.field === null) return { kind: 'none' }
  const found = lookUp(archive, call.person, call.field)
  return found ? { ...found, kind: found.old ? 'old' : 'found' } : { kind: 'none' }
}

/** One attempt; fits `Episode` of the layer of training. */
export class RecordsEpisode {
  readonly #question: RecordsQuestion
  #left: number

  /** @param calls look-ups that may be made */
  constructor(question: RecordsQuestion, calls: number) {
    this.#question = question
    this.#left = calls
  }

  /** What the tool says to a turn; null where the turn does not end with a call. */
  async reply(turn: Int32Array): Promise<number[] | null> {
    const pieces = trajectoryPieces(turn, new Uint8Array(turn.length).fill(1))
    if (pieces.at(-1)?.text !== TAGS.callEnd) return null
    if (this.#left === 0) return encodeRecords(outputText({ kind: 'over' }))
    this.#left--
    return encodeRecords(outputText(outputOf(this.#question, readTrajectory(pieces).calls.at(-1))))
  }
}
