/** @file A GGUF file seen as a folder of Hugging Face's files: every one that it can stand for, by name. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { CheckpointError } from '../../util/errors.ts'
import { RecentMap } from '../../util/recent-map.ts'
import { isGguf, wholeGgufs } from '../model-place.ts'
import { configJsonOf, generationConfigOf } from './config.ts'
import { type GgufHeader, readGgufHeader } from './header.ts'
import { hasVocabulary, tokenizerConfigOf, tokenizerJsonOf } from './vocabulary.ts'

/**
 * The GGUF file that a path names: itself, or the only one in a folder that has no files of Hugging Face's; null where it names none.
 * @throws CheckpointError for a folder with several
 */
export const ggufOf = (path: string): string | null => {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isFile()) return isGguf(path) ? path : null
  if (!stats?.isDirectory()) return null
  if (['config.json', 'adapter_config.json'].some(name => existsSync(join(path, name)))) return null
  const files = wholeGgufs(readdirSync(path))
  if (files.length > 1)
    throw new CheckpointError(
      `${path}: expected one model, found ${files.length}: ${files.slice(0, 3).join(', ')}`,
      {
        hint: 'name one of these files',
      },
    )
  return files.length === 1 ? join(path, files[0]) : null
}

/** Headers read last; arrays are not part of them, so that they are small. */
const headers = new RecentMap<string, GgufHeader>(4)

/** The header of a file; read again only when the file has changed. */
export const ggufHeader = (path: string): GgufHeader => {
  const { size, mtimeMs, ino } = statSync(path)
  const key = JSON.stringify([path, size, mtimeMs, ino])
  const known = headers.get(key)
  if (known) return known
  const header = readGgufHeader(path)
  headers.set(key, header)
  return header
}

const FILES: Readonly<Record<string, (header: GgufHeader) => Record<string, unknown>>> = {
  'config.json': configJsonOf,
  'generation_config.json': generationConfigOf,
  'tokenizer.json': tokenizerJsonOf,
  'tokenizer_config.json': header =>
    tokenizerConfigOf(header, configJsonOf(header).max_position_embeddings as number),
}
const TEMPLATE = 'chat_template.jinja'
const templateOf = (header: GgufHeader) => header.text('tokenizer.chat_template')

/** Whether a GGUF file stands for a file of that name. */
export const hasGgufFile = (path: string, name: string): boolean => {
  if (name === 'config.json') return true
  const header = ggufHeader(path)
  if (name === TEMPLATE) return templateOf(header) !== null
  return name in FILES && hasVocabulary(header)
}

/** The content of a JSON file that a GGUF file stands for. @throws CheckpointError where it has none of that name */
export const ggufJson = (path: string, name: string): Record<string, unknown> => {
  if (name in FILES && hasGgufFile(path, name)) return FILES[name](ggufHeader(path))
  throw new CheckpointError(`${path}: has nothing that stands for ${name}`, {
    hint: 'use a GGUF file with its tokenizer, or a Hugging Face folder',
  })
}

/** The text of a file that a GGUF file stands for. @throws CheckpointError as `ggufJson` does */
export const ggufText = (path: string, name: string): string => {
  const text = name === TEMPLATE ? templateOf(ggufHeader(path)) : null
  return text ?? `${JSON.stringify(ggufJson(path, name))}\n`
}
