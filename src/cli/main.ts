/** @file Entry of the `gradus` command. */

import { runCli } from './program.ts'
import { runProcess } from './run.ts'

await runProcess('gradus', runCli)
