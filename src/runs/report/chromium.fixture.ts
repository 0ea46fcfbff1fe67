/** @file Where the browser of tests is; they are skipped without one. */

import { existsSync } from 'node:fs'

/** Where distributions put it. */
const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/snap/bin/chromium',
]

export const chromiumPath = process.env.GRADUS_CHROMIUM ?? PLACES.find(existsSync)
if (chromiumPath === undefined)
  console.warn(
    'tests in a browser are skipped, no Chromium here; install the package chromium, or set GRADUS_CHROMIUM',
  )
