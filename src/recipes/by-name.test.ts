import { expect, it } from 'vitest'
import { loadRecipe, RECIPES_BY_NAME } from './by-name.ts'
import { RECIPES } from './index.ts'

it('has every recipe with its presets, in the same order', async () => {
  const presets = (entries: Readonly<Record<string, { presets: object }>>) =>
    Object.entries(entries).map(([name, { presets }]) => [name, presets])
  expect(presets(RECIPES_BY_NAME)).toEqual(
    presets(RECIPES).map(([name, presets]) => [name, Object.keys(presets)]),
  )
  for (const [name, entry] of Object.entries(RECIPES)) expect(await loadRecipe(name)).toBe(entry)
})
