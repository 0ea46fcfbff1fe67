/** @file Where the dashboard keeps what it can make again: in the user's cache, never in a run. */

import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

/** `GRADUS_CACHE`, else the system's place for caches. */
export const pageCacheFolder = (env: Readonly<Record<string, string | undefined>> = process.env): string => {
  const named = env.GRADUS_CACHE ?? ''
  if (named !== '') return join(named, 'dashboard')
  const xdg = env.XDG_CACHE_HOME ?? ''
  const home = homedir()
  const base = xdg !== '' ? xdg : home === '' ? tmpdir() : join(home, '.cache')
  return join(base, 'gradus', 'dashboard')
}
