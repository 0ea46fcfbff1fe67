/** @file Writes docs/settings/ from the schemas of the recipes. `npm run settings-docs`, after a build. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { RECIPES } from '../dist/recipes/index.js'
import { schemaKeys } from '../dist/util/schema-keys.js'
import { settingsPages } from './settings/pages.js'

const folder = new URL('../docs/settings/', import.meta.url)
rmSync(folder, { recursive: true, force: true })
for (const name of ['shared', 'tasks']) mkdirSync(new URL(`${name}/`, folder), { recursive: true })
for (const [name, text] of settingsPages(RECIPES, schemaKeys))
  writeFileSync(new URL(`${name}.md`, folder), text)
