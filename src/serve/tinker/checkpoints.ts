/**
 * @file What the service keeps on disk: models that were trained, and their checkpoints by name. A checkpoint is a folder that
 * `transformers` or PEFT opens; its entry is written after it, so that what is listed is whole.
 *
 * `STATE/models/ID/model.json`, `STATE/models/ID/{weights,sampler_weights}/NAME/` and `NAME.json` beside it; ID with - for its colons.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type LoraModule, loraModules } from '../../model/lora-files.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { CheckpointError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { parseWith } from '../../util/schema.ts'
import { RequestError } from './errors.ts'

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
  createdAt: z.string(),
  bytes: z.number(),
  isPublic: z.boolean(),
  expiresAt: z.string().nullable(),
})
type Entry = z.output<typeof entrySchema>

export type CheckpointKind = 'weights' | 'sampler_weights'
const KINDS: readonly CheckpointKind[] = ['weights', 'sampler_weights']

export interface StoredCheckpoint extends Entry {
  model: ModelRecord
  kind: CheckpointKind
  name: string
  folder: string
}

const bytesIn = (folder: string): number =>
  readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

const readFile = <T>(path: string, schema: z.ZodType<T>): T =>
  parseWith(schema, parseJson(readFileSync(path, 'utf8')), path, CheckpointError)

/** `tinker://MODEL/weights/NAME`. */
export const tinkerPath = ({ model, kind, name }: Pick<StoredCheckpoint, 'kind' | 'name' | 'model'>) =>
  `tinker://${model.id}/${kind}/${name}`

const PATH = /^tinker:\/\/([A-Za-z0-9_:-]+)\/(weights|sampler_weights)\/([A-Za-z0-9_][A-Za-z0-9._-]*)$/

export class Checkpoints {
  readonly #models = new Map<string, ModelRecord>()
  readonly #stored = new Map<string, StoredCheckpoint>()
  readonly #root: string
  readonly #now: () => Date
  /** Names that are being written. */
  readonly #reserved = new Set<string>()

  /** Reads what is there. @throws CheckpointError for entries that are none */
  constructor(state: string, now: () => Date = () => new Date()) {
    this.#root = join(state, 'models')
    this.#now = now
    mkdirSync(this.#root, { recursive: true })
    for (const name of readdirSync(this.#root)) this.#read(join(this.#root, name))
  }

  #read(modelFolder: string): void {
    const path = join(modelFolder, 'model.json')
    if (!existsSync(path)) return
    const model = readFile(path, modelSchema)
    this.#models.set(model.id, model)
    for (const kind of KINDS) {
      const folder = join(modelFolder, kind)
      for (const file of namesIn(folder).filter(one => one.endsWith('.json'))) {
        const name = file.slice(0, -'.json'.length)
        this.#keep({ ...readFile(join(folder, file), entrySchema), ...this.#place(model, kind, name) })
      }
    }
  }

  #place(model: ModelRecord, kind: CheckpointKind, name: string) {
    return { model, kind, name, folder: join(this.#folderOf(model.id), kind, name) }
  }

  /** Not every file system has colons in names. */
  #folderOf(modelId: string): string {
    return join(this.#root, modelId.replaceAll(':', '-'))
  }

  #keep(stored: StoredCheckpoint): void {
    this.#stored.set(tinkerPath(stored), stored)
  }

  /** Writes down that there is such a model. */
  register(model: Omit<ModelRecord, 'createdAt'>): void {
    const record = { ...model, createdAt: this.#now().toISOString() } as ModelRecord
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
   * Has a checkpoint written, and lists it when it is there.
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
    const place = this.#place(this.model(modelId), kind, name)
    const path = tinkerPath(place)
    const isTaken = this.#reserved.has(path) || (this.#stored.has(path) && !overwrite)
    if (isTaken)
      throw new RequestError(
        409,
        `Checkpoint '${name}' already exists for model '${modelId}'; take another name`,
      )
    this.#reserved.add(path)
    try {
      await write(place.folder)
      const stored: StoredCheckpoint = {
        ...place,
        createdAt: this.#now().toISOString(),
        bytes: bytesIn(place.folder),
        isPublic: false,
        expiresAt: this.#expiry(ttlS),
      }
      this.#write(stored)
      return stored
    } catch (error) {
      // What is not listed is not kept: a folder without its entry would fill the disk unseen.
      if (!this.#stored.has(path)) rmSync(place.folder, { recursive: true, force: true })
      throw error
    } finally {
      this.#reserved.delete(path)
    }
  }

  #expiry(ttlS: number | null | undefined): string | null {
    return ttlS ? new Date(this.#now().getTime() + ttlS * 1000).toISOString() : null
  }

  #write(stored: StoredCheckpoint): void {
    const { createdAt, bytes, isPublic, expiresAt, folder } = stored
    writeFileAtomic(
      `${folder}.json`,
      `${JSON.stringify({ createdAt, bytes, isPublic, expiresAt }, null, 2)}\n`,
    )
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
    this.#remove(this.find(path))
  }

  #remove(stored: StoredCheckpoint): void {
    this.#stored.delete(tinkerPath(stored))
    // The entry first: what is listed is whole.
    rmSync(`${stored.folder}.json`, { force: true })
    rmSync(stored.folder, { recursive: true, force: true })
  }

  /** Removes what has expired. */
  sweep(): void {
    const now = this.#now().toISOString()
    for (const stored of this.#stored.values())
      if (stored.expiresAt !== null && stored.expiresAt <= now) this.#remove(stored)
  }
}
