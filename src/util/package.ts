/** @file What the package knows of itself: its version, and the files that travel with it. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** src/util and dist/util lie at the same depth. */
const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Version as package.json says. */
export const packageVersion = (): string =>
  (JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as { version: string }).version

const PREFIX = 'package:'

/** A path as it is; `package:models/x` is a folder that ships with the package, wherever that is installed. */
export const resolveShipped = (path: string): string =>
  path.startsWith(PREFIX) ? fromRoot(path.slice(PREFIX.length)) : path
