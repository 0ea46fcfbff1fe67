/** @file What a configuration is checked for: a plan, or a run. */

import { existsSync } from 'node:fs'
import { resolveShipped } from '../../util/package.ts'

/** A plan may name a model and data that are to be put in place later, and says so; a run may not. */
export type Purpose = 'plan' | 'run'

/** Whether a file or folder is to be put in place later. */
export const comesLater = (path: string, purpose: Purpose): boolean =>
  purpose === 'plan' && !existsSync(resolveShipped(path))
