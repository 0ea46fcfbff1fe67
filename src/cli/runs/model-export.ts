/** @file `gradus export --gguf` and `--folder`: what was trained, for the places where people use models. */

import { existsSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { stopTokensOf } from '../../model/chat-format.ts'
import { loadChatTemplate } from '../../model/chat-template.ts'
import { companionNames, saveCheckpoint } from '../../model/checkpoint.ts'
import { GGUF_TYPES, type GgufType, writeGguf } from '../../model/gguf/export.ts'
import { hasOwnTemplate, modelfileOf } from '../../model/gguf/modelfile.ts'
import { isAdapterFolder, wholeFolder } from '../../model/lora-files.ts'
import { type MergedModel, openMerged } from '../../model/merged.ts'
import { isModel } from '../../model/model-files.ts'
import { modelNameOf } from '../../model/model-place.ts'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { tensorSpecs } from '../../model/weights.ts'
import { isRunFolder } from '../../runs/find.ts'
import { findFork } from '../../runs/forks.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { UsageError } from '../../util/errors.ts'
import { formatInteger } from '../../util/format.ts'
import { readText } from '../../util/text-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { fetchedModel } from '../model-option.ts'

export interface ModelExportOptions {
  gguf?: GgufType
  folder?: string
  out?: string
  json?: boolean
}

interface Target {
  model: string
  /** What the model is called where it is used. */
  name: string
}

/** Whether a run, or a step of one, is named: before anything else, because a run's folder and step look like a name on the hub. */
const isOfRun = (target: string): boolean =>
  isRunFolder(target) || (/^(?:step-)?\d+$/.test(basename(target)) && isRunFolder(dirname(target)))

/** A run's latest checkpoint, `RUN/STEP`, or a model or adapter, fetched to this machine with its base. */
const targetOf = async (target: string, io: Io): Promise<Target> => {
  const isNamed = isModel(target) || isAdapterFolder(target) || modelNameOf(target) !== null
  if (isOfRun(target) || !(isNamed || target.startsWith('package:'))) {
    const { run, step, checkpoint } = findFork(target, target)
    const { folder } = await fetchedModel({ model: checkpoint }, io)
    return { model: folder, name: `${basename(resolve(run))}-step${step}` }
  }
  const { folder } = await fetchedModel({ model: target }, io)
  return { model: folder, name: basename(target).replace(/\.gguf$/, '') }
}

/**
 * Writes a GGUF file with a Modelfile, or a merged folder.
 * @throws UsageError for options that do not go together; RunError, CheckpointError for the model
 */
export const modelExport = async (
  targets: readonly string[],
  options: ModelExportOptions,
  io: Io,
): Promise<number> => {
  checkOptions(targets, options)
  const { model, name } = await targetOf(targets[0], io)
  refuseOther(options, [model, wholeFolder(model)])
  const merged = openMerged(model)
  try {
    if (options.folder === undefined) exportGguf(merged, name, options, io)
    else exportFolder(merged, options.folder, options, io)
  } finally {
    merged.close()
  }
  return EXIT.ok
}

const checkOptions = (targets: readonly string[], { gguf, folder, out }: ModelExportOptions): void => {
  if (targets.length > 1) throw new UsageError(`expected one run or model, got ${targets.length}`)
  if (gguf !== undefined && folder !== undefined)
    throw new UsageError('expected either --gguf or --folder, got both')
  if (folder !== undefined && out !== undefined)
    throw new UsageError('--folder names where to write; --out is not needed')
  if (gguf !== undefined && !Object.hasOwn(GGUF_TYPES, gguf))
    throw new UsageError(`--gguf: expected ${Object.keys(GGUF_TYPES).join(', ')}, got ${gguf}`)
  if (gguf !== undefined && !out?.endsWith('.gguf'))
    throw new UsageError(`--gguf: expected --out FILE.gguf, got ${out ?? 'nothing'}`)
  if (/[\r\n]/.test(basename(out ?? '')))
    throw new UsageError('--out: expected a name without line breaks, which a Modelfile cannot hold')
}

const exportGguf = (
  merged: MergedModel,
  name: string,
  { gguf, out, json }: ModelExportOptions,
  io: Io,
): void => {
  const path = out!
  const modelfile = modelfileBeside(path)
  const chatTemplate = loadChatTemplate(merged.words)
  const tokenizer = loadTokenizer(merged.words)
  const stops = stopTokensOf(merged.config, tokenizer).flatMap(id => tokenizer.tokenOf(id) ?? [])
  const { maxPositions } = merged.config
  const isNew = !existsSync(modelfile)
  // Before the file that it names: a kill between the two leaves what may be written again.
  writeFileAtomic(modelfile, modelfileOf({ file: basename(path), chatTemplate, stops, maxPositions }))
  try {
    writeGguf(path, merged, gguf!, name)
  } catch (error) {
    if (isNew) rmSync(modelfile)
    throw error
  }
  const { size: bytes } = statSync(path)
  if (json) printJson(io, { gguf: path, bytes, modelfile })
  else io.out.write(`${path}: ${formatInteger(bytes)} bytes, ${gguf}, with ${modelfile} for Ollama\n`)
  if (chatTemplate && !hasOwnTemplate(chatTemplate))
    io.err.write(
      "note: the model's chat template is none that is known in Ollama's language; Ollama looks at the one in the GGUF file\n",
    )
}

const modelfileBeside = (path: string): string => join(dirname(path), 'Modelfile')

/** An export may be repeated; what else is there stays as it is, and so does what is exported. @throws UsageError */
const refuseOther = ({ folder, out }: ModelExportOptions, sources: readonly string[]): void => {
  const place = folder ?? out!
  const isSource = (path: string) => existsSync(path) && realpathSync(path) === realpathSync(place)
  if (existsSync(place) && sources.some(isSource))
    throw new UsageError(`${place}: is the model that is exported`, { hint: 'write to another place' })
  if (folder === undefined) refuseOtherFile(place)
  else refuseOtherFolder(folder)
}

/** A Modelfile names one model, and tells which file an export has written. */
const refuseOtherFile = (path: string): void => {
  const modelfile = modelfileBeside(path)
  const [, from] = existsSync(modelfile) ? (/^FROM (.*)$/m.exec(readText(modelfile)) ?? []) : []
  if (from === `./${basename(path)}`) return
  if (existsSync(modelfile))
    throw new UsageError(`${modelfile}: is that of another model (FROM ${from ?? 'nothing'})`, {
      hint: 'write into a folder of its own',
    })
  if (existsSync(path))
    throw new UsageError(`${path}: is there, and no Modelfile says that an export has written it`, {
      hint: 'name another file',
    })
}

const EXPORTED = new Set([...companionNames, 'config.json', 'model.safetensors'])

const refuseOtherFolder = (folder: string): void => {
  const names = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : []
  const isExport = names.includes('model.safetensors') && names.every(name => EXPORTED.has(name))
  if (names.length === 0 || isExport) return
  const others = names.filter(name => !EXPORTED.has(name)).slice(0, 3)
  throw new UsageError(
    `${folder}: expected no folder, an empty one or an earlier export, got one with ${(others.length > 0 ? others : names).join(', ')}`,
    { hint: 'name another folder: all of it would be replaced' },
  )
}

const exportFolder = (merged: MergedModel, folder: string, { json }: ModelExportOptions, io: Io): void => {
  const { config } = merged
  const weights = new Map(
    tensorSpecs(config).map(({ name, shape }) => [name, { shape, data: merged.read(name) }] as const),
  )
  saveCheckpoint(folder, { config, weights, files: merged.files() })
  if (json) printJson(io, { folder })
  else io.out.write(`${folder}: the whole model, as transformers and vLLM open it\n`)
}
