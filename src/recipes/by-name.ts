/** @file Recipes by their names, each loaded when it is named: whoever only lists them loads none. */

import type { RecipeEntry } from './common/recipe.ts'

interface NamedRecipe {
  /** Names of its presets, the default first. */
  presets: readonly string[]
  load(): Promise<unknown>
}

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
  'logic-cold-start': {
    presets: ['short', 'start', 'growing', 'three-hops', 'full'],
    load: async () => (await import('./logic-cold-start/entry.ts')).logicColdStart,
  },
  'logic-rubric-start': {
    presets: ['start', 'short'],
    load: async () => (await import('./logic-rubric-start/entry.ts')).logicRubricStart,
  },
  'checklist-cold-start': {
    presets: ['start'],
    load: async () => (await import('./checklist-cold-start/entry.ts')).checklistColdStart,
  },
  'arithmetic-cold-start': {
    presets: ['start'],
    load: async () => (await import('./arithmetic-cold-start/entry.ts')).arithmeticColdStart,
  },
  'records-cold-start': {
    presets: ['start'],
    load: async () => (await import('./records-cold-start/entry.ts')).recordsColdStart,
  },
  'chat-cold-start': {
    presets: ['start'],
    load: async () => (await import('./chat-cold-start/entry.ts')).chatColdStart,
  },
  'learned-verifier': {
    presets: ['small', 'wide'],
    load: async () => (await import('./learned-verifier/entry.ts')).learnedVerifier,
  },
  sft: { presets: ['chat', 'paper'], load: async () => (await import('./sft/entry.ts')).sftEntry },
}

/** A recipe by its name, one that there is. An entry checks its configuration by its own schema, so the type of it does not matter here. */
export const loadRecipe = async (name: string): Promise<RecipeEntry> =>
  (await RECIPES_BY_NAME[name].load()) as RecipeEntry
