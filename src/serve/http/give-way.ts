/** @file Threads that leave the processor to the front, so that it always answers. */

import { setPriority } from 'node:os'

/** Above 0: this thread, and those that it starts, come second when the front wants a core too. */
const NICE = 5

export const giveWay = (): void => {
  try {
    // Of this thread alone, where the system knows priorities of threads; never of the whole process.
    if (process.platform === 'linux') setPriority(NICE)
  } catch {
    // Then they are equals.
  }
}
