/** @file Threads that leave the processor to the front, so that it always answers. */

import { getPriority, setPriority } from 'node:os'

/** This thread, and those that it starts, are so much nicer than the front, which comes first when it wants a core too. */
const NICER = 5
const NICEST = 19

export const giveWay = (): void => {
  try {
    // Of this thread alone, where the system knows priorities of threads; never of the whole process.
    if (process.platform === 'linux') setPriority(Math.min(NICEST, getPriority() + NICER))
  } catch {
    // Then they are equals.
  }
}
