import { expect, it } from 'vitest'
import { loadRecipe, meantBy, RECIPES_BY_NAME } from './by-name.ts'
import { RECIPES } from './index.ts'

it('has every recipe with its presets, in the same order, and starts by their own names', async () => {
  const meant = Object.entries(RECIPES_BY_NAME).flatMap(([name, { presets }]) =>
    presets.map(preset => meantBy(name, preset)),
  )
  for (const [name, entry] of Object.entries(RECIPES)) {
    expect(await loadRecipe(name)).toBe(entry)
    const own = meant.flatMap(({ recipe, preset }) => (recipe === name ? [preset] : []))
    expect(own.sort()).toEqual(Object.keys(entry.presets).sort())
  }
  const recipes = Object.keys(RECIPES_BY_NAME).filter(name => meantBy(name, undefined).recipe === name)
  expect(recipes).toEqual(Object.keys(RECIPES))
  expect(meantBy('arithmetic-cold-start', undefined)).toEqual({
    recipe: 'sft',
    preset: 'arithmetic-cold-start',
  })
})
