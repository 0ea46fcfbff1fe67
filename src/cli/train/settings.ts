/** @file A recipe's configuration from defaults, preset, YAML file and `--set`, each layer over the one before. */

import { existsSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { z } from 'zod'
import { loadRecipe, meantBy, RECIPES_BY_NAME } from '../../recipes/by-name.ts'
import type { RecipeEntry } from '../../recipes/common/recipe.ts'
import { ConfigError, GradusError, UsageError } from '../../util/errors.ts'
import { isRecord } from '../../util/own-value.ts'
import { describeValue, knownKeys, knownKeysOfAny, meantOr, parseWith } from '../../util/schema.ts'
import { readText } from '../../util/text-file.ts'
import { parseYaml } from '../../util/yaml.ts'

type Tree = Record<string, unknown>

/** Settings of a run that is there, in place of those of a recipe or file. */
export interface BaseSettings {
  recipe: string
  preset?: string
  config: Tree
  /** Where they stand, for messages. */
  source: string
}

export interface SettingsRequest {
  /** A recipe's name, or the path of a YAML file that names its `recipe`; or the settings of a run. */
  target: string | BaseSettings
  preset?: string
  /** `key=value` each; keys are dotted paths, values YAML. */
  set?: readonly string[]
}

export interface Settings {
  entry: RecipeEntry
  config: Tree
  /** Preset that was used; undefined for a file that asked for none. */
  preset?: string
  /** What a run of these settings is called, without its seed. */
  name: string
}

/** What is merged although the schema alone would not say so. */
interface Merging {
  path?: string[]
  /** Keys of `changes`, from the top, that were named one by one: `a.b=2` says nothing about what else is in `a`. */
  named?: number
  /** Inside a value that keeps its kind. */
  inKind?: boolean
}

/**
 * `changes` over `base`. Only objects with keys of their own in the schema are merged; lists, maps and other values
 * replace what was there. A value that is one of several kinds is changed key by key where the change names no kind or the same
 * one, and replaced where it names another: threads stay under `policy={maxRows: 8}`. A loss may be changed key by key whether it is
 * spelled out or a preset's name.
 */
const mergeSettings = (
  schema: z.ZodType,
  base: Tree,
  changes: Tree,
  { path = [], named = 0, inKind = false }: Merging = {},
): Tree => {
  const merged: Tree = { ...base }
  for (const [key, value] of Object.entries(changes)) {
    const old = base[key]
    const here = [...path, key]
    const isLoss = here.includes('loss')
    const ofKind = inKind || isRecord(old)
    const isOfKind = isRecord(value) && (!('kind' in value) || (isRecord(old) && value.kind === old.kind))
    const keepsKind = ofKind && isOfKind && knownKeysOfAny(schema, here).length > 0
    const isNamed = here.length <= named
    const merges =
      isRecord(value) &&
      (isNamed || (!('preset' in value) && (isLoss || keepsKind || knownKeys(schema, here).length > 0)))
    if (merges && isRecord(old))
      merged[key] = mergeSettings(schema, old, value, { path: here, named, inKind: keepsKind })
    else if (merges && isLoss && typeof old === 'string') merged[key] = { preset: old, ...value }
    else merged[key] = value
  }
  return merged
}

const recipeNamed = (name: unknown, source: string, ErrorKind: typeof ConfigError): string => {
  if (typeof name === 'string' && Object.hasOwn(RECIPES_BY_NAME, name)) return name
  const names = Object.keys(RECIPES_BY_NAME)
  throw new ErrorKind(`${source}: expected one of ${names.join(', ')}, got ${describeValue(name)}`, {
    hint: meantOr(typeof name === 'string' ? name : '', names, 'choose a recipe, or the path of a YAML file'),
  })
}

const isFile = (target: string): boolean => /\.(ya?ml|json)$/i.test(target) || target.includes('/')

/** @throws ConfigError naming file and line for what is not YAML, or not a map. */
const readSettingsFile = (path: string): Tree => {
  const value = parseYaml(readText(path, { ErrorKind: ConfigError }), path)
  if (!isRecord(value))
    throw new ConfigError(
      `${path}: expected settings as keys and values, got ${describeValue(value ?? undefined)}`,
      {
        hint: 'begin with "recipe: NAME"',
      },
    )
  return value
}

const presetOf = (entry: RecipeEntry, name: string) => {
  if (Object.hasOwn(entry.presets, name)) return entry.presets[name].config
  const names = Object.keys(entry.presets)
  throw new UsageError(`--preset: expected one of ${names.join(', ')}, got ${JSON.stringify(name)}`, {
    hint: meantOr(name, names, 'choose one of these'),
  })
}

/** Presets are named on the command line alone: whoever writes one into a file is told so. @throws ErrorKind */
const refusePreset = (
  { schema, name }: RecipeEntry,
  settings: Tree,
  source: string,
  ErrorKind: typeof ConfigError,
): void => {
  if (!Object.hasOwn(settings, 'preset') || knownKeys(schema, []).includes('preset')) return
  throw new ErrorKind(
    `${source}: preset: expected a setting of ${name}, got the name of a preset, which is part of the command`,
    {
      hint: `take it out and give --preset ${typeof settings.preset === 'string' ? settings.preset : 'NAME'} beside the file or recipe`,
    },
  )
}

/**
 * Paths are taken from the working directory. A file of rows that is not there may come later; one that lies beside the settings is
 * what was meant, from another folder. @throws ConfigError for such a one
 */
const refuseFilesBeside = ({ task }: Tree, settings: string): void => {
  if (!isRecord(task) || task.kind !== 'conversations') return
  const folder = dirname(settings)
  for (const key of ['file', 'testFile', 'rubric']) {
    const path = task[key]
    if (typeof path !== 'string' || existsSync(path) || !existsSync(join(folder, path))) continue
    throw new ConfigError(
      `${settings}: task.${key}: expected a file as seen from the working directory, got ${path}, which is not there but lies in ${folder}`,
      { hint: `run it from ${folder}, or write ${join(folder, path)}` },
    )
  }
}

const FORBIDDEN = new Set(['', '__proto__', 'constructor', 'prototype'])

const keysOf = (setting: string): string[] =>
  setting
    .slice(0, Math.max(0, setting.indexOf('=')))
    .trim()
    .split('.')

/**
 * One `--set` as a nested change: `a.b=2` -> `{ a: { b: 2 } }`.
 * @throws UsageError without `=`, for an empty key, or a value that is not YAML.
 */
export const parseSetting = (text: string): Tree => {
  const at = text.indexOf('=')
  const keys = keysOf(text)
  if (at < 0 || keys.some(key => FORBIDDEN.has(key)))
    throw new UsageError(`--set ${text}: expected key=value, for example --set optimizer.maxGradNorm=0.5`, {
      hint: 'put the recipe before --set, and a space between settings',
    })
  const value = parseYaml(text.slice(at + 1), `--set ${keys.join('.')}`, UsageError)
  return keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Tree
}

/** Several `--set` as one change. @throws UsageError as `parseSetting` */
export const parseSettings = (schema: z.ZodType, set: readonly string[]): Tree =>
  set.reduce((all, setting) => {
    const named = keysOf(setting).length - 1
    return mergeSettings(schema, all, parseSetting(setting), { named })
  }, {} as Tree)

/** What settings begin with. */
interface Origin {
  /** Its name. */
  recipe: string
  chosen?: string
  /** Settings over the defaults and the preset. */
  file: Tree | null
  source: string
  name: string
}

/** As `meantBy`. @throws UsageError for another preset of a recipe beside a name that itself stands for a preset */
const chosenBy = (name: string, preset: string | undefined) => {
  const meant = meantBy(name, preset)
  const { presets } = RECIPES_BY_NAME[name]
  if (meant.recipe === name || preset === undefined || [name, ...presets].includes(preset)) return meant
  const isOthers = RECIPES_BY_NAME[meant.recipe].presets.includes(preset)
  const other = isOthers ? `, or name the recipe: gradus train ${meant.recipe} --preset ${preset}` : ''
  throw new UsageError(
    `--preset: expected ${presets.join(', ')} with ${name}, got ${JSON.stringify(preset)}`,
    { hint: `leave it out${other}` },
  )
}

const originOf = (target: string | BaseSettings, preset: string | undefined): Origin => {
  if (typeof target !== 'string') {
    const { recipe } = meantBy(recipeNamed(target.recipe, `${target.source}: recipe`, ConfigError), undefined)
    if (preset !== undefined)
      throw new UsageError(
        `--preset ${preset}: expected none beside the settings of a run (${target.source})`,
        { hint: `name the recipe as well: gradus train ${recipe} --preset ${preset}` },
      )
    const { config: file, source } = target
    return { recipe, chosen: target.preset, file, source, name: nameOf(recipe, target.preset) }
  }
  if (isFile(target)) {
    const file = readSettingsFile(target)
    const named = recipeNamed(file.recipe, `${target}: recipe`, ConfigError)
    const { recipe, preset: chosen } = chosenBy(named, preset)
    const name = basename(target, extname(target))
    return { recipe, chosen, file: { ...file, recipe }, source: target, name }
  }
  const named = recipeNamed(target, 'recipe', UsageError)
  const first = preset ?? RECIPES_BY_NAME[named].presets[0]
  const { recipe, preset: chosen } = chosenBy(named, first)
  return { recipe, chosen, file: null, source: target, name: nameOf(named, first) }
}

const nameOf = (recipe: string, preset: string | undefined): string =>
  preset === undefined ? recipe : `${recipe}-${preset}`

/** Recipes that are loaded, by name. */
export type LoadedRecipes = Readonly<Record<string, RecipeEntry>>

/** The recipes that some targets name; a target that names none is told where it is resolved. */
export const loadRecipes = async (targets: readonly string[]): Promise<LoadedRecipes> => {
  const names = targets.flatMap(target => {
    try {
      return [originOf(target, undefined).recipe]
    } catch (error) {
      if (error instanceof GradusError) return []
      throw error
    }
  })
  const entries = await Promise.all([...new Set(names)].map(loadRecipe))
  return Object.fromEntries(entries.map(entry => [entry.name, entry]))
}

/**
 * Resolves what `gradus train` was asked to run: defaults < preset < file < `--set`. A recipe's name alone takes its first
 * preset; a file stands by itself and takes a preset only when asked.
 * @throws UsageError for the command line (unknown recipe, preset or `--set` key); ConfigError for the file, also for rows that are
 * looked for in the wrong folder.
 */
export const resolveSettings = async (request: SettingsRequest): Promise<Settings> => {
  const origin = originOf(request.target, request.preset)
  return settingsFrom(await loadRecipe(origin.recipe), origin, request)
}

/** As `resolveSettings`, of recipes that are loaded. */
export const resolveAmong = (recipes: LoadedRecipes, request: SettingsRequest): Settings => {
  const origin = originOf(request.target, request.preset)
  return settingsFrom(recipes[origin.recipe], origin, request)
}

const settingsFrom = (
  entry: RecipeEntry,
  { chosen, file, source, name }: Origin,
  { target, set = [] }: SettingsRequest,
): Settings => {
  const { schema } = entry
  const layer = (base: Tree, changes: Tree, source: string, ErrorKind?: typeof ConfigError) =>
    parseWith(schema, mergeSettings(schema, base, changes), source, ErrorKind) as Tree
  let config = parseWith(schema, {}, `defaults of ${entry.name}`) as Tree
  // A run's settings are whole: nothing of its preset is left to add.
  if (chosen !== undefined && typeof target === 'string')
    config = layer(config, presetOf(entry, chosen), `preset ${chosen}`)
  if (file) {
    refusePreset(entry, file, source, ConfigError)
    config = layer(config, file, source)
  }
  if (set.length > 0) {
    const changes = parseSettings(schema, set)
    refusePreset(entry, changes, '--set', UsageError)
    config = layer(config, changes, '--set', UsageError)
  }
  if (typeof target === 'string' && file) refuseFilesBeside(config, target)
  return { entry, config, preset: chosen, name }
}
