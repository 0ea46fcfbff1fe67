/** @file Files of answers as they are written, or compressed as results keep them. */

import { existsSync, readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'

/** The text of `path`, or of `path.br`. */
export const readText = path =>
  (existsSync(path) ? readFileSync(path) : brotliDecompressSync(readFileSync(`${path}.br`)))
    .toString('utf8')
    .trim()
