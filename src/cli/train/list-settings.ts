/** @file `gradus train RECIPE --settings`: every key with type, default, unit and what it is, from the recipe's schema. */

import { UsageError } from '../../util/errors.ts'
import { valueInside } from '../../util/own-value.ts'
import { meantOr } from '../../util/schema.ts'
import { jsonSchemaOf, type SchemaKey, schemaKeys } from '../../util/schema-keys.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { resolveSettings, type SettingsRequest } from './settings.ts'

/** A value as a YAML file would have it on one line. */
const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const defaultText = ({ default: value, required }: SchemaKey): string => {
  if (value !== undefined) return valueText(value)
  return required ? 'required' : ''
}

interface Listed extends SchemaKey {
  /** What preset, file or `--set` made of it, where that is not the default. */
  here?: unknown
}

const isSection = ({ type }: SchemaKey): boolean => type.startsWith('section')

/** Keys whose values the request changes; sections and entries of lists are told by their own keys. */
const withChanges = (keys: readonly SchemaKey[], config: Record<string, unknown>): Listed[] =>
  keys.map(key => {
    const here = key.path.includes('[') ? undefined : valueInside(config, key.path.split('.'))
    const isChanged =
      here !== undefined && !isSection(key) && key.path !== 'loss' && valueText(here) !== defaultText(key)
    return isChanged ? { ...key, here } : key
  })

const lineOf = (key: Listed): string => {
  const { path, type, unit, about, only, here } = key
  const usual = defaultText(key)
  const facts = [
    type,
    unit === null ? '' : `in ${unit}`,
    key.default === undefined ? usual : `default ${usual}`,
    here === undefined ? '' : `here ${valueText(here)}`,
    only === null ? '' : `with ${only}`,
  ].filter(fact => fact !== '')
  return `${path}\n    ${facts.join('; ')}\n${about === '' ? '' : `    ${about}\n`}`
}

/** Keys of one section, or all. @throws UsageError for a section that there is not */
const within = (keys: readonly Listed[], section: string | true): readonly Listed[] => {
  if (section === true) return keys
  const found = keys.filter(
    ({ path }) => path === section || path.startsWith(`${section}.`) || path.startsWith(`${section}[`),
  )
  if (found.length > 0) return found
  const paths = keys.map(({ path }) => path)
  throw new UsageError(`--settings: expected a key or section, got ${JSON.stringify(section)}`, {
    hint: meantOr(section, paths, 'leave it out for all of them'),
  })
}

/**
 * Prints the settings of a recipe, or of a file with what it changes. Returns the exit code.
 * @param options section: one (`rollout`), or true for everything
 */
export const listSettings = async (
  request: SettingsRequest,
  { section, json }: { section: string | true; json?: boolean },
  io: Io,
): Promise<number> => {
  const { entry, config, preset } = await resolveSettings(request)
  const keys = within(withChanges(schemaKeys(entry.schema), config), section)
  if (json) printJson(io, { recipe: entry.name, preset: preset ?? null, keys })
  else io.out.write(`${keys.map(lineOf).join('')}`)
  return EXIT.ok
}

/** Prints the JSON Schema of a recipe's YAML files. Returns the exit code. */
export const printJsonSchema = async (request: SettingsRequest, io: Io): Promise<number> => {
  const { entry } = await resolveSettings(request)
  printJson(io, jsonSchemaOf(entry.schema, `Settings of gradus train, recipe ${entry.name}`))
  return EXIT.ok
}
