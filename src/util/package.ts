/** @file What the package knows of itself: its version, and the files that travel with it. */

import { existsSync, readFileSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { fileURLToPath } from 'node:url'

/** src/util and dist/util lie at the same depth. */
const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Version as package.json says. */
export const packageVersion = (): string =>
  (JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')) as { version: string }).version

/** A file as it is named where it is there, else the one of that name in the package: `experiments/rit.yaml` in any folder. */
export const shippedFile = (path: string): string =>
  existsSync(path) || isAbsolute(path) || !existsSync(fromRoot(path)) ? path : fromRoot(path)

const PREFIX = 'package:'

/** A path as it is; `package:models/x` is a folder that ships with the package, wherever that is installed. */
export const resolveShipped = (path: string): string =>
  path.startsWith(PREFIX) ? fromRoot(path.slice(PREFIX.length)) : path
