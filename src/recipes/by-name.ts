/** @file Recipes by their names, each loaded when it is named: whoever only lists them loads none. */

import type { RecipeEntry } from './common/recipe.ts'

interface NamedRecipe {
  /** Names of its presets, the default first. */
  presets: readonly string[]
  load(): Promise<unknown>
}

const loadSft = async () => (await import('./sft/entry.ts')).sftEntry

/** Presets of sft that are known by a name of their own, as `meantBy` says. */
const start = (...presets: string[]): NamedRecipe => ({ presets, load: loadSft })

/** In the order of the help. */
export const RECIPES_BY_NAME: Readonly<Record<string, NamedRecipe>> = {
  grpo: { presets: ['own'], load: async () => (await import('./grpo/entry.ts')).grpoEntry },
  'rubric-as-reward': {
    presets: ['longer', 'quick', 'full', 'paper'],
    load: async () => (await import('./rubric-as-reward/entry.ts')).rubricAsRewardEntry,
  },
  ruscarl: {
    presets: ['quick', 'full', 'paper'],
    load: async () => (await import('./ruscarl/entry.ts')).ruscarlEntry,
  },
  distill: {
    presets: ['quick', 'own'],
    load: async () => (await import('./distill/entry.ts')).distillEntry,
  },
  rlcer: {
    presets: ['quick', 'full', 'paper'],
    load: async () => (await import('./rlcer/entry.ts')).rlcerEntry,
  },
  rit: {
    presets: ['quick', 'arithmetic', 'full', 'paper', 'paper-reasoning'],
    load: async () => (await import('./rit/entry.ts')).ritEntry,
  },
  rubricem: {
    presets: ['quick', 'full', 'research', 'paper'],
    load: async () => (await import('./rubricem/entry.ts')).rubricemEntry,
  },
  environment: {
    presets: ['chat', 'packing'],
    load: async () => (await import('./environment/entry.ts')).environmentEntry,
  },
  'logic-cold-start': start('short', 'start', 'growing', 'three-hops', 'full'),
  'logic-rubric-start': start('start', 'short'),
  'checklist-cold-start': start('start'),
  'arithmetic-cold-start': start('start'),
  'records-cold-start': start('start'),
  'chat-cold-start': start('start'),
  'learned-verifier': {
    presets: ['small', 'wide'],
    load: async () => (await import('./learned-verifier/entry.ts')).learnedVerifier,
  },
  sft: { presets: ['chat', 'paper', 'paper-rlcer'], load: loadSft },
}

/** A recipe by its name, one that there is. An entry checks its configuration by its own schema, so the type of it does not matter here. */
export const loadRecipe = async (name: string): Promise<RecipeEntry> =>
  (await RECIPES_BY_NAME[name].load()) as RecipeEntry

/** What a name and a preset of the table mean: of a start the preset of sft that has its name, and behind it what is not its first. */
export const meantBy = (name: string, preset: string | undefined): { recipe: string; preset?: string } => {
  const { presets, load } = RECIPES_BY_NAME[name]
  if (load !== loadSft || name === 'sft') return { recipe: name, preset }
  const own = preset ?? presets[0]
  return { recipe: 'sft', preset: own === name || own === presets[0] ? name : `${name}-${own}` }
}
