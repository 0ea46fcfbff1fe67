/** @file `gradus serve`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from './io.ts'

/** Adds `gradus serve` to the program. `done` receives the exit code. */
export const addServeCommand = (_program: Command, _io: Io, _done: (code: number) => void): void => {}
