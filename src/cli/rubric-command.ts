/** @file `gradus rubric`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from './io.ts'

/** Adds `gradus rubric` to the program. `done` receives the exit code. */
export const addRubricCommand = (_program: Command, _io: Io, _done: (code: number) => void): void => {}
