/** @file `gradus push`: what a card needs to know of a run, and the way of its files to the Hub. */

import { adapterBaseName } from '../../model/lora-files.ts'
import { modelNameOf } from '../../model/model-place.ts'
import { loadRecipe, RECIPES_BY_NAME } from '../../recipes/by-name.ts'
import type { RecipeEntry } from '../../recipes/common/recipe.ts'
import { findFork } from '../../runs/forks.ts'
import {
  isAdapter,
  isShared,
  type ModelFile,
  modelCard,
  modelFiles,
  pushModel,
  withoutFolders,
} from '../../runs/hub/index.ts'
import { readEvals, readRunInfo } from '../../runs/readers.ts'
import { differentSettings } from '../../runs/report/compare.ts'
import type { RunInfo } from '../../runs/rows.ts'
import { canonicalJson } from '../../util/canonical.ts'
import { ConfigError, GradusError, UsageError } from '../../util/errors.ts'
import { formatInteger } from '../../util/format.ts'
import { hubEndpoint, hubToken } from '../../util/hub-client.ts'
import { commandLineOf } from '../../util/invocation.ts'
import { isRecord } from '../../util/own-value.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { optionWords } from '../option-values.ts'
import { resolveSettings } from '../train/settings.ts'

export interface PushCommandOptions {
  license?: string
  baseModel?: string
  private?: boolean
  dryRun?: boolean
  json?: boolean
}

const HUB = 'https://huggingface.co'
/** As the Hub names owners and repositories. */
const REPOSITORY = /^[A-Za-z0-9][\w.-]{0,95}\/[A-Za-z0-9][\w.-]{0,95}$/

/**
 * Uploads a checkpoint, or with `dryRun` says what would be.
 * @throws UsageError for names that are none; RunError, CheckpointError for the run; ConfigError without a token; HubError
 */
export const pushCommand = async (
  target: string,
  repository: string,
  options: PushCommandOptions,
  io: Io,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<number> => {
  checkName(repository, 'repository')
  if (options.baseModel !== undefined) checkName(options.baseModel, '--base-model')
  const { run, step, checkpoint } = findFork(target, target)
  const files = modelFiles(checkpoint)
  const baseModel = options.baseModel ?? baseOf(checkpoint, run, files)
  const card = await cardOf(run, step, repository, files, { ...options, baseModel })
  if (options.dryRun) {
    const listed = files.map(({ name, bytes }) => ({ name, bytes }))
    if (options.json) printJson(io, { repository, step, card, files: listed })
    else io.out.write(`${card}\n${listText(files)}\nnothing was sent\n`)
    return EXIT.ok
  }
  const pushed = await pushModel({
    repository,
    card,
    files,
    message: `Step ${step} of ${readRunInfo(run).recipe ?? 'a run'}, with Gradus`,
    private: options.private ?? false,
    token: neededToken(repository, env),
    endpoint: hubEndpoint({ env }, repository) ?? HUB,
    tell: words => io.err.write(`${words}\n`),
  })
  if (options.json) printJson(io, { repository, step, ...pushed, files: files.map(({ name }) => name) })
  else io.out.write(`${pushed.url}: step ${step}, commit ${pushed.commit}\n`)
  return EXIT.ok
}

const checkName = (name: string, what: string): void => {
  if (!REPOSITORY.test(name))
    throw new UsageError(`${what}: expected OWNER/NAME, got ${name}`, {
      hint: 'letters, digits, dots, dashes and underscores, for example ann/proofs',
    })
}

/** The name on the hub of the model that was trained, where it was named so. */
const baseOf = (checkpoint: string, run: string, files: readonly ModelFile[]): string | undefined => {
  if (isAdapter(files)) return adapterBaseName(checkpoint)?.repo
  const { model } = (readRunInfo(run).config ?? {}) as { model?: { folder?: string | null } }
  return model?.folder ? modelNameOf(model.folder)?.repo : undefined
}

const neededToken = (repository: string, env: Readonly<Record<string, string | undefined>>): string => {
  const token = hubToken({ env }, repository)
  if (token !== undefined) return token
  throw new ConfigError('HF_TOKEN: expected a token of the Hub in the environment, got none', {
    hint: 'make one with write access at huggingface.co/settings/tokens; --dry-run needs none',
  })
}

const listText = (files: readonly ModelFile[]): string =>
  files.map(({ name, bytes }) => `${formatInteger(bytes).padStart(15)} bytes  ${name}\n`).join('')

const cardOf = async (
  run: string,
  step: number,
  name: string,
  files: readonly ModelFile[],
  { license = null, baseModel = null }: { license?: string | null; baseModel?: string | null },
): Promise<string> => {
  const info = readRunInfo(run)
  const settings = await changedSettings(info)
  return modelCard({
    name,
    info,
    step,
    evals: readEvals(run),
    settings,
    command: commandOf(info, settings),
    adapter: isAdapter(files),
    license,
    baseModel,
  })
}

/** `gradus train ...` with what differs; a file of settings is not kept by a run. */
const commandOf = (
  { recipe = 'RECIPE', preset }: RunInfo,
  settings: readonly { name: string; value: unknown }[],
): string => {
  const set = settings.map(
    ({ name, value }) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const words = ['train', recipe, ...optionWords({ preset, set }, ['preset', 'set'])]
  return commandLineOf(words, { argv: [], env: { PATH: '' }, cwd: '.', platform: 'linux' })
}

/** Settings that say nothing of the model. */
const ELSEWHERE = ['out', 'trackers', 'checkpoint.', 'policy.threads']

/**
 * What differs from the preset, or from the defaults; of a section that these do not have, what differs from its own defaults.
 */
export const changedSettings = async ({
  recipe = '',
  preset,
  config,
}: RunInfo): Promise<{ name: string; value: unknown }[]> => {
  const entry = Object.hasOwn(RECIPES_BY_NAME, recipe) ? await loadRecipe(recipe) : null
  const base = entry === null ? {} : await unchanged(entry, preset)
  return differentSettings(base, withoutOwnDefaults(entry, base, config))
    .filter(
      ({ name, b }) => b !== undefined && isShared(name) && !ELSEWHERE.some(other => name.startsWith(other)),
    )
    .map(({ name, b }) => ({ name, value: isNamedModel(name, b) ? b : withoutFolders(b) }))
}

/** A model's name on the hub is no path of this machine. */
const isNamedModel = (name: string, value: unknown): boolean =>
  name === 'model.folder' && typeof value === 'string' && modelNameOf(value) !== null

/** The settings without what a section that `base` lacks would have by itself: what is left reads as the same settings. */
const withoutOwnDefaults = (entry: RecipeEntry | null, base: object, config: unknown): unknown => {
  const read = (value: unknown): string | null => {
    const result = entry?.schema.safeParse(value)
    return result?.success ? canonicalJson(result.data) : null
  }
  const whole = read(config)
  if (whole === null) return config
  const left = structuredClone(config)
  takeOut(left, base, () => read(left) === whole)
  return left
}

/** Takes out of `node` whatever `other` does not have and whose lack `isSame` does not notice. */
const takeOut = (node: unknown, other: unknown, isSame: () => boolean): void => {
  if (Array.isArray(node)) for (const entry of node) takeOut(entry, {}, isSame)
  if (!isRecord(node)) return
  const known = isRecord(other) && other.kind === node.kind ? other : {}
  for (const [key, value] of Object.entries(node)) {
    const isKnown = Object.hasOwn(known, key) || (key === 'kind' && isRecord(other) && 'kind' in other)
    if (!isKnown) {
      node[key] = undefined
      if (isSame()) continue
      node[key] = value
    }
    takeOut(value, known[key], isSame)
  }
}

const unchanged = async (entry: RecipeEntry, preset: string | undefined): Promise<object> => {
  try {
    return preset === undefined
      ? (entry.schema.parse({}) as object)
      : (await resolveSettings({ target: entry.name, preset })).config
  } catch (error) {
    // A preset that is no more, or defaults that are not whole by themselves.
    if (error instanceof GradusError || (error as Error).name === 'ZodError') return {}
    throw error
  }
}
