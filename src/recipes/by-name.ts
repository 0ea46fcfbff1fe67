/** @file Recipes by their names, each loaded when it is named: whoever only lists them loads none. */

import type { RecipeEntry } from './common/recipe.ts'

interface NamedRecipe {
  /** Names of its presets, the default first. */
  presets: readonly string[]
  load(): Promise<unknown>
}

const loadSft = async () => (await import('./sft/entry.ts')).sftEntry

/** A preset of sft that is known by its own name. */
const START: NamedRecipe = { presets: ['start'], load: loadSft }

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
  'checklist-cold-start': START,
  'arithmetic-cold-start': START,
  'records-cold-start': START,
  'chat-cold-start': START,
  'learned-verifier': {
    presets: ['small', 'wide'],
    load: async () => (await import('./learned-verifier/entry.ts')).learnedVerifier,
  },
  sft: { presets: ['chat', 'paper'], load: loadSft },
}

/** A recipe by its name, one that there is. An entry checks its configuration by its own schema, so the type of it does not matter here. */
export const loadRecipe = async (name: string): Promise<RecipeEntry> =>
  (await RECIPES_BY_NAME[name].load()) as RecipeEntry

/** What a name and a preset of the table mean: of a start that is a preset of sft that one. */
export const meantBy = (name: string, preset: string | undefined): { recipe: string; preset?: string } =>
  RECIPES_BY_NAME[name] === START
    ? { recipe: 'sft', preset: preset === undefined || preset === 'start' ? name : preset }
    : { recipe: name, preset }
