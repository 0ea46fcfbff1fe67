/**
 * @file When a registration and its later blocks were first seen, by which Gradus and under which decision rule: put down before the
 * first run of each, and never changed.
 */

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { ConfigError } from '../../util/errors.ts'
import { decisionRuleOf, RULE, ruleAt } from '../analysis/rules.ts'
import { blocksOf } from '../plan/blocks.ts'
import type { Registration } from '../plan/registration.ts'

/** What was written down at a registration. */
export interface Registered {
  sha256: string
  registeredAt: string
  /** Version of the decision rule that was at work. */
  rule: number
  /** Of Gradus, with its commit; empty in records from before they were kept. */
  versions: Record<string, string>
  /** SHA-256 of content hash, rule and versions together; null in records from before it was kept. */
  seal: string | null
}

/** What was written down at a registration and at each of its later blocks. */
export interface RegisteredBlocks extends Registered {
  blocks: Registered[]
}

type Written = Pick<Registered, 'sha256' | 'registeredAt'> & Partial<Registered>

const pathOf = (folder: string, nth: number): string =>
  join(folder, nth === 1 ? 'registration.json' : `registration-block-${nth}.json`)

const made = (sha256: string, versions: Record<string, string>): Registered => {
  const sealed = { sha256, rule: RULE.version, versions }
  return {
    ...sealed,
    registeredAt: new Date().toISOString(),
    seal: createHash('sha256').update(canonicalJson(sealed)).digest('hex'),
  }
}

/** @throws ConfigError for a later block that was changed, or a rule that this Gradus does not know */
const read = (path: string, sha256: string, nth: number, file: string): Registered | null => {
  if (!existsSync(path)) return null
  const record = JSON.parse(readFileSync(path, 'utf8')) as Written
  if (record.sha256 !== sha256)
    throw new ConfigError(
      `${file}: blocks[${nth - 2}]: expected the block ${record.sha256.slice(0, 16)} that was registered at ${record.registeredAt}, got ${sha256.slice(0, 16)}: it, or a block before it, was changed since`,
      { hint: 'undo the change, and add what is new as another block' },
    )
  const { registeredAt, rule = ruleAt(registeredAt).version, versions = {}, seal = null } = record
  return { sha256, registeredAt, rule: decisionRuleOf(rule, path).version, versions, seal }
}

/** What was written down; as of now where nothing was. @param versions of Gradus now */
export const readRegistered = (
  folder: string,
  registration: Registration,
  versions: Record<string, string>,
): RegisteredBlocks => {
  const [first, ...later] = blocksOf(registration).map(
    ({ nth, sha256 }) => read(pathOf(folder, nth), sha256, nth, registration.file) ?? made(sha256, versions),
  )
  return { ...first, blocks: later }
}

/** Puts down what is not yet: the registration, and each later block. @throws ConfigError as `readRegistered` */
export const register = (
  folder: string,
  registration: Registration,
  versions: Record<string, string>,
): void => {
  const { file, hash: _hash, blockHashes: _hashes, ...content } = registration
  const registered = readRegistered(folder, registration, versions)
  for (const { nth } of blocksOf(registration)) {
    const path = pathOf(folder, nth)
    if (existsSync(path)) continue
    const own = nth === 1 ? content : content.blocks[nth - 2]
    const { blocks: _blocks, ...first } = registered
    const record = nth === 1 ? first : registered.blocks[nth - 2]
    writeFileAtomic(path, `${canonicalJson({ ...record, file, content: own })}\n`)
  }
}

/** Of two records of each block the one that was put down first. @param other those of blocks that `own` does not have are left out */
export const earlierRegistered = (own: RegisteredBlocks, other: RegisteredBlocks): RegisteredBlocks => {
  const { blocks, ...first } = own
  const records = [other, ...other.blocks]
  const earlier = (record: Registered): Registered => {
    const found = records.find(each => each.sha256 === record.sha256)
    if (found === undefined || found.registeredAt >= record.registeredAt) return record
    const { sha256, registeredAt, rule, versions, seal } = found
    return { sha256, registeredAt, rule, versions, seal }
  }
  return { ...earlier(first), blocks: blocks.map(earlier) }
}
