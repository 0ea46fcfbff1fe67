/** @file `gradus verify math FILE.jsonl`: options and help; the work is in the modules that it loads when it runs. */

import type { Command } from 'commander'
import type { Io } from './io.ts'

/** Adds `math` to `gradus verify`. `done` receives the exit code. */
export const addVerifyMath = (_verify: Command, _io: Io, _done: (code: number) => void): void => {}
