/** @file `gradus export --gguf` and `--folder`: what was trained, for the places where people use models. */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { stopTokensOf } from '../../model/chat-format.ts'
import { loadChatTemplate } from '../../model/chat-template.ts'
import { readCompanionFiles, saveCheckpoint } from '../../model/checkpoint.ts'
import { GGUF_TYPES, type GgufType, writeGguf } from '../../model/gguf/export.ts'
import { hasOwnTemplate, modelfileOf } from '../../model/gguf/modelfile.ts'
import { isAdapterFolder } from '../../model/lora-files.ts'
import { type MergedModel, openMerged } from '../../model/merged.ts'
import { isModel } from '../../model/model-files.ts'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { tensorSpecs } from '../../model/weights.ts'
import { existingModel } from '../../recipes/common/starting-model.ts'
import { isRunFolder } from '../../runs/find.ts'
import { findFork } from '../../runs/forks.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { UsageError } from '../../util/errors.ts'
import { formatInteger } from '../../util/format.ts'
import { EXIT, type Io, printJson } from '../io.ts'

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

/** A run's latest checkpoint, `RUN/STEP`, or a model or adapter as it lies there. */
const targetOf = (target: string): Target => {
  if (isRunFolder(target) || !(isModel(target) || isAdapterFolder(target) || target.includes(':'))) {
    const { run, step, checkpoint } = findFork(target, target)
    return { model: checkpoint, name: `${basename(resolve(run))}-step${step}` }
  }
  return { model: existingModel(target, target), name: basename(resolve(target)).replace(/\.gguf$/, '') }
}

/**
 * Writes a GGUF file with a Modelfile, or a merged folder.
 * @throws UsageError for options that do not go together; RunError, CheckpointError for the model
 */
export const modelExport = (targets: readonly string[], options: ModelExportOptions, io: Io): number => {
  checkOptions(targets, options)
  const { model, name } = targetOf(targets[0])
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
}

const exportGguf = (
  merged: MergedModel,
  name: string,
  { gguf, out, json }: ModelExportOptions,
  io: Io,
): void => {
  const path = out!
  const modelfile = join(dirname(path), 'Modelfile')
  refuseOther(modelfile, path)
  const chatTemplate = loadChatTemplate(merged.base)
  writeGguf(path, merged, gguf!, name)
  const tokenizer = loadTokenizer(merged.base)
  const stops = stopTokensOf(merged.config, tokenizer).flatMap(id => tokenizer.tokenOf(id) ?? [])
  const { maxPositions } = merged.config
  writeFileAtomic(modelfile, modelfileOf({ file: basename(path), chatTemplate, stops, maxPositions }))
  const { size: bytes } = statSync(path)
  if (json) printJson(io, { gguf: path, bytes, modelfile })
  else io.out.write(`${path}: ${formatInteger(bytes)} bytes, ${gguf}, with ${modelfile} for Ollama\n`)
  if (chatTemplate && !hasOwnTemplate(chatTemplate))
    io.err.write(
      "note: the model's chat template is none that is known in Ollama's language; Ollama looks at the one in the GGUF file\n",
    )
}

/** A Modelfile names one model: that of another stays as it is. */
const refuseOther = (modelfile: string, path: string): void => {
  if (!existsSync(modelfile)) return
  const [, from] = /^FROM (.*)$/m.exec(readFileSync(modelfile, 'utf8')) ?? []
  if (from === `./${basename(path)}`) return
  throw new UsageError(`${modelfile}: is that of another model (FROM ${from ?? 'nothing'})`, {
    hint: 'write into a folder of its own',
  })
}

const exportFolder = (merged: MergedModel, folder: string, { json }: ModelExportOptions, io: Io): void => {
  const { config, base } = merged
  const weights = new Map(
    tensorSpecs(config).map(({ name, shape }) => [name, { shape, data: merged.read(name) }] as const),
  )
  saveCheckpoint(folder, { config, weights, files: readCompanionFiles(base) })
  if (json) printJson(io, { folder })
  else io.out.write(`${folder}: the whole model, as transformers and vLLM open it\n`)
}
