/** @file The page of a recipe's settings in the documentation, from its schema; `npm run settings-docs` writes them all. */

import type { RecipeEntry } from '../../recipes/common/recipe.ts'
import { type SchemaKey, schemaKeys } from '../../util/schema-keys.ts'
import { defaultText } from './list-settings.ts'

const inCell = (text: string): string => text.replaceAll('|', '\\|')

/** Text inside a cell of a table. Code within it keeps its angle brackets: Markdown reads no entities there. */
const cell = (text: string): string =>
  inCell(text).replace(/(`[^`]*`)|</g, (_, kept?: string) => kept ?? '&lt;')

const code = (text: string): string => (text === '' ? '' : `\`${inCell(text)}\``)

const row = (key: SchemaKey): string => {
  const { path, type, unit, about, only } = key
  const usual = defaultText(key)
  const what = `${type}${unit === null ? '' : ` (${unit})`}`
  const where = only === null ? '' : ` Only with \`${only}\`.`
  return `| ${code(path)} | ${cell(what)} | ${usual === 'required' ? usual : code(usual)} | ${cell(about)}${where} |`
}

/** The page as Markdown. */
export const settingsPage = ({
  name,
  summary,
  schema,
  presets,
}: RecipeEntry): string => `# Settings of ${name}

${summary[0].toUpperCase()}${summary.slice(1)}. This page is made from the schema that checks every configuration, as \`gradus train ${name} --settings\` prints it. Presets: ${Object.keys(
  presets,
)
  .map(preset => `\`${preset}\``)
  .join(', ')}; \`--settings --preset NAME\` also shows what one changes.

| key | type | default | what it is |
|---|---|---|---|
${schemaKeys(schema).map(row).join('\n')}
`
