/** @file Reads a registration: its YAML, its schema, what its parts refer to, and its hashes. */

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { canonicalJson } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { shippedFile } from '../../util/package.ts'
import { parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'
import { parseYaml } from '../../util/yaml.ts'
import { checkReferences } from './references.ts'
import { type Registration, registrationSchema } from './registration.ts'

/** Results from before there was a word for it have none. */
const NOTHING: Registration['afterwards'] = { defaults: {}, armDefaults: {}, notes: [], apart: [] }

const sha256 = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex')

/** Hash of each later block, over its content and the hash before it. @param raw the blocks as the file has them */
const hashBlocks = (first: string, raw: readonly unknown[]): string[] => {
  let after = first
  return raw.map(block => {
    after = sha256({ after, block })
    return after
  })
}

/** Checks a registration's content. @throws ConfigError that lists everything wrong, by place. */
export const parseRegistration = (value: unknown, file: string): Registration => {
  const content = parseWith(registrationSchema, value, file)
  checkReferences(content, file)
  const { blocks = [], afterwards: _, ...first } = value as { blocks?: unknown[]; afterwards?: unknown }
  const hash = sha256(first)
  return { ...content, hash, blockHashes: hashBlocks(hash, blocks), file }
}

/** Reads a registration from a YAML file. @throws ConfigError for a file that is missing, no YAML, or no registration. */
export const readRegistration = (file: string): Registration => {
  return parseRegistration(parseYaml(readText(file, { ErrorKind: ConfigError }), file), file)
}

/**
 * A registration as results keep it, with what its file says was found afterwards; without the file, or beside one of another
 * content, what they keep of that. @throws ConfigError for a file that is no registration
 */
export const withAfterwards = (kept: Registration): Registration => {
  const file = shippedFile(kept.file)
  const now = existsSync(file) ? readRegistration(file) : null
  const afterwards = now?.hash === kept.hash ? now.afterwards : kept.afterwards
  return { ...kept, afterwards: afterwards ?? NOTHING }
}
