/** @file Work beside a test that keeps cores busy, so that threads are held up in the middle of what they do. */

import { Worker } from 'node:worker_threads'

/** Runs a function while `count` threads compute without end. */
export const besideBusyLoops = async <T>(count: number, work: () => Promise<T>): Promise<T> => {
  const loops = Array.from({ length: count }, () => new Worker('for (;;) {}', { eval: true }))
  try {
    return await work()
  } finally {
    await Promise.all(loops.map(loop => loop.terminate()))
  }
}
