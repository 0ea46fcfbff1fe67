/** @file Writes docs/settings/: a page of settings for each recipe, from its schema. `npm run settings-docs`, after a build. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { settingsPage } from '../dist/cli/train/settings-page.js'
import { RECIPES } from '../dist/recipes/index.js'

const folder = new URL('../docs/settings/', import.meta.url)
mkdirSync(folder, { recursive: true })
for (const entry of Object.values(RECIPES))
  writeFileSync(new URL(`${entry.name}.md`, folder), settingsPage(entry))
