/**
 * @file What the service keeps on disk: models that were trained, and their checkpoints by name. A checkpoint is a folder that
 * `transformers` or PEFT opens; its entry names that folder and is written after it, so that what is listed is whole.
 *
 * `STATE/models/ID/model.json`, `STATE/models/ID/{weights,sampler_weights}/FILE.json` and the folder FILE beside it (FILE~2 and so on
 * where one was there before); ID with - for its colons, FILE as `fileNameOf` has it.
 */

import {
  type Dirent,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { type LoraModule, loraModules } from '../../model/lora-files.ts'
import { sweepLeftovers, writeFileAtomic } from '../../util/atomic.ts'
import { CheckpointError, GradusError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { parseWith } from '../../util/schema.ts'
import { RequestError } from './errors.ts'
import { fileNameOf } from './stored-names.ts'

const loraSchema = z.strictObject({
  rank: z.int().positive(),
  alpha: z.number().positive(),
  targetModules: z.array(z.enum(loraModules as readonly [LoraModule, ...LoraModule[]])),
})

const modelSchema = z.object({
  id: z.string(),
  baseModel: z.string(),
  lora: loraSchema.nullable(),
  metadata: z.record(z.string(), z.unknown()).default({}),
  createdAt: z.string(),
})
/** A model that was trained here, in this life of the server or an earlier one. */
export type ModelRecord = z.output<typeof modelSchema>

const entrySchema = z.object({
  /** As the client gave it. */
  name: z.string(),
  /** Of the checkpoint, beside the entry. */
  folder: z
    .string()
    .regex(/^[^/\\]+$/, 'the name of a folder beside it')
    .refine(name => name !== '.' && name !== '..', 'the name of a folder beside it'),
  createdAt: z.string(),
  bytes: z.number(),
  isPublic: z.boolean(),
  expiresAt: z.string().nullable(),
})
type Entry = Omit<z.output<typeof entrySchema>, 'name' | 'folder'>

export type CheckpointKind = 'weights' | 'sampler_weights'
const KINDS: readonly CheckpointKind[] = ['weights', 'sampler_weights']

export interface StoredCheckpoint extends Entry {
  model: ModelRecord
  kind: CheckpointKind
  name: string
  folder: string
  /** Path of its entry. */
  entry: string
}

export interface CheckpointsOptions {
  now?: () => Date
  /** Called with what cannot be read, and is left out. */
  onDamaged?: (path: string, why: string) => void
  /** Throws where another process may have the folder by now. */
  assertOurs?: () => void
}

const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

const childrenOf = (folder: string): Dirent[] =>
  existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []

const ENTRY = '.json'
/** After what was put aside: whoever mends it takes the ending away. */
const ASIDE = '.damaged'

/** The first of PATH, PATH~2, PATH~3 that is not there. */
const freePath = (path: string): string => {
  for (let n = 1; ; n++) {
    const free = n === 1 ? path : `${path}~${n}`
    if (!existsSync(free)) return free
  }
}

/** Puts a file aside where that can be done; its path then. */
const putAside = (path: string): string => {
  const aside = freePath(`${path}${ASIDE}`)
  try {
    renameSync(path, aside)
    return aside
  } catch {
    return path
  }
}

/** What is not listed any more; if it cannot be removed now, the next start does it. */
const removeFolder = (folder: string): void => {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {}
}

const readFile = <T>(path: string, schema: z.ZodType<T>): T =>
  parseWith(schema, parseJson(readFileSync(path, 'utf8')), path, CheckpointError)

/** `tinker://MODEL/weights/NAME`. */
export const tinkerPath = ({ model, kind, name }: Pick<StoredCheckpoint, 'kind' | 'name' | 'model'>) =>
  `tinker://${model.id}/${kind}/${name}`

const PATH = /^tinker:\/\/([A-Za-z0-9_:-]+)\/(weights|sampler_weights)\/([A-Za-z0-9_][A-Za-z0-9._-]*)$/

/** Not every file system has colons in names. Ids are the service's own, `session_UUID:train:N`: no two become one. */
const folderNameOf = (modelId: string): string => modelId.replaceAll(':', '-')

export class Checkpoints {
  readonly #models = new Map<string, ModelRecord>()
  readonly #stored = new Map<string, StoredCheckpoint>()
  readonly #root: string
  readonly #options: Required<CheckpointsOptions>
  /** Names that are being written. */
  readonly #reserved = new Set<string>()

  /** Reads what is there, and removes what kills have left. What is damaged is put aside and reported, the rest is read. */
  constructor(state: string, options: CheckpointsOptions = {}) {
    this.#root = join(state, 'models')
    this.#options = { now: () => new Date(), onDamaged: () => {}, assertOurs: () => {}, ...options }
    mkdirSync(this.#root, { recursive: true })
    for (const child of childrenOf(this.#root)) if (child.isDirectory()) this.#readModel(child.name)
  }

  /** What `read` gives; null, and reported, where it cannot be read. What is no entry is put aside: a save may need its name. */
  #read<T>(path: string, read: () => T): T | null {
    try {
      return read()
    } catch (error) {
      // Else it is the disk that does not give it now.
      const isDamaged = error instanceof GradusError
      this.#options.onDamaged(isDamaged ? putAside(path) : path, (error as Error).message)
      return null
    }
  }

  #readModel(name: string): void {
    const folder = join(this.#root, name)
    const path = join(folder, 'model.json')
    sweepLeftovers(folder)
    if (!existsSync(path)) {
      if (childrenOf(folder).length === 0) removeFolder(folder)
      return
    }
    const model = this.#read(path, () => {
      const record = readFile(path, modelSchema)
      if (folderNameOf(record.id) === name) return record
      throw new CheckpointError(`${path}: expected the model of its folder, got ${record.id}`)
    })
    if (model === null) return
    this.#models.set(model.id, model)
    for (const kind of KINDS) this.#readKind(model, kind)
  }

  #readKind(model: ModelRecord, kind: CheckpointKind): void {
    const folder = join(this.#folderOf(model.id), kind)
    sweepLeftovers(folder)
    const children = childrenOf(folder)
    let areAllRead = !children.some(({ name }) => name.includes(ENTRY + ASIDE))
    for (const { name } of children.filter(child => child.isFile() && child.name.endsWith(ENTRY))) {
      const stored = this.#read(join(folder, name), () => this.#readEntry(model, kind, name))
      if (stored) this.#keep(stored)
      else areAllRead = false
    }
    // A folder may belong to an entry that cannot be read.
    if (areAllRead) this.#removeUnlisted(folder, children)
  }

  /** @throws CheckpointError, DataError */
  #readEntry(model: ModelRecord, kind: CheckpointKind, file: string): StoredCheckpoint {
    const parent = join(this.#folderOf(model.id), kind)
    const entry = join(parent, file)
    const before = file.slice(0, -ENTRY.length)
    const { name, folder: own, ...rest } = readFile(entry, entrySchema)
    const folder = join(parent, own)
    if (fileNameOf(name) !== before || this.#stored.has(tinkerPath({ model, kind, name })))
      throw new CheckpointError(
        `${entry}: expected the entry of this file's name, got another one of ${name}`,
      )
    if (!existsSync(folder))
      throw new CheckpointError(`${entry}: expected the folder ${own} beside it, found none`)
    return { ...rest, model, kind, name, folder, entry }
  }

  #removeUnlisted(parent: string, children: readonly Dirent[]): void {
    const listed = new Set([...this.#stored.values()].map(({ folder }) => folder))
    for (const child of children.filter(one => one.isDirectory())) {
      const folder = join(parent, child.name)
      if (!listed.has(folder)) removeFolder(folder)
    }
  }

  #folderOf(modelId: string): string {
    return join(this.#root, folderNameOf(modelId))
  }

  #keep(stored: StoredCheckpoint): void {
    this.#stored.set(tinkerPath(stored), stored)
  }

  /** Writes down that there is such a model. */
  register(model: Omit<ModelRecord, 'createdAt'>): void {
    this.#options.assertOurs()
    const record = { ...model, createdAt: this.#options.now().toISOString() } as ModelRecord
    writeFileAtomic(join(this.#folderOf(model.id), 'model.json'), `${JSON.stringify(record, null, 2)}\n`)
    this.#models.set(model.id, record)
  }

  models(): ModelRecord[] {
    return [...this.#models.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
  }

  /** @throws RequestError 404 */
  model(id: string): ModelRecord {
    const model = this.#models.get(id)
    if (model) return model
    throw new RequestError(404, `Training run not found: ${id}`)
  }

  /** The newest first. @param modelId of all models where absent */
  list(modelId?: string): StoredCheckpoint[] {
    this.sweep()
    return [...this.#stored.values()]
      .filter(({ model }) => modelId === undefined || model.id === modelId)
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
  }

  /**
   * Has a checkpoint written, and lists it when it is there: until then, and where that fails, the one that it replaces stays.
   * @param write to a folder, which appears whole or not at all
   * @throws RequestError 409 for a name that is taken
   */
  async save(
    modelId: string,
    {
      kind,
      name,
      overwrite,
      ttlS,
    }: { kind: CheckpointKind; name: string; overwrite: boolean; ttlS?: number },
    write: (folder: string) => Promise<void>,
  ): Promise<StoredCheckpoint> {
    const model = this.model(modelId)
    const path = tinkerPath({ model, kind, name })
    const replaced = this.#stored.get(path)
    if (this.#reserved.has(path) || (replaced && !overwrite))
      throw new RequestError(
        409,
        `Checkpoint '${name}' already exists for model '${modelId}'; take another name`,
      )
    const expiresAt = this.#expiry(ttlS)
    this.#options.assertOurs()
    const own = join(this.#folderOf(model.id), kind, fileNameOf(name))
    const folder = freePath(own)
    this.#reserved.add(path)
    try {
      await write(folder)
      const entry = replaced?.entry ?? `${own}${ENTRY}`
      const made = { createdAt: this.#options.now().toISOString(), bytes: bytesIn(folder) }
      const stored = { ...made, model, kind, name, folder, entry, isPublic: false, expiresAt }
      this.#write(stored)
      if (replaced) removeFolder(replaced.folder)
      return stored
    } catch (error) {
      // What is not listed is not kept: a folder without its entry would fill the disk unseen.
      removeFolder(folder)
      throw error
    } finally {
      this.#reserved.delete(path)
    }
  }

  #expiry(ttlS: number | null | undefined): string | null {
    return ttlS ? new Date(this.#options.now().getTime() + ttlS * 1000).toISOString() : null
  }

  #write(stored: StoredCheckpoint): void {
    this.#options.assertOurs()
    const { name, createdAt, bytes, isPublic, expiresAt, folder, entry } = stored
    const text = { name, folder: basename(folder), createdAt, bytes, isPublic, expiresAt }
    writeFileAtomic(entry, `${JSON.stringify(text, null, 2)}\n`)
    this.#keep(stored)
  }

  /** @throws RequestError 400 for what is no path, 404 for a checkpoint that there is not */
  find(path: string): StoredCheckpoint {
    if (!PATH.test(path))
      throw new RequestError(400, `expected a path such as tinker://MODEL/weights/NAME, got ${path}`)
    this.sweep()
    const stored = this.#stored.get(path)
    if (stored) return stored
    throw new RequestError(404, `Checkpoint not found: ${path}`)
  }

  /** @param ttlS from now; null: for good. @throws RequestError 404 */
  setTtl(path: string, ttlS: number | null): void {
    this.#write({ ...this.find(path), expiresAt: this.#expiry(ttlS) })
  }

  /** Whether other accounts may read it, which is kept and has no effect: there is one account. @throws RequestError 404 */
  setPublic(path: string, isPublic: boolean): void {
    this.#write({ ...this.find(path), isPublic })
  }

  /** @throws RequestError 404 */
  delete(path: string): void {
    const stored = this.find(path)
    this.#options.assertOurs()
    this.#remove(stored)
  }

  #remove(stored: StoredCheckpoint): void {
    this.#stored.delete(tinkerPath(stored))
    // The entry first: what is listed is whole.
    rmSync(stored.entry, { force: true })
    removeFolder(stored.folder)
  }

  #isOurs(): boolean {
    try {
      this.#options.assertOurs()
      return true
    } catch {
      return false
    }
  }

  /** Removes what has expired. */
  sweep(): void {
    const now = this.#options.now().toISOString()
    const expired = [...this.#stored.values()].filter(
      ({ expiresAt }) => expiresAt !== null && expiresAt <= now,
    )
    if (expired.length > 0 && this.#isOurs()) for (const stored of expired) this.#remove(stored)
  }
}
