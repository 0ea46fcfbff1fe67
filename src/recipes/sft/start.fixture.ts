/** @file A start that is a preset of sft, with changes, as the command line lays settings over each other. */

import { resolveAmong } from '../../cli/train/settings.ts'
import { RECIPES } from '../index.ts'
import type { SftConfig } from './config.ts'

/** @param name of the start or of another recipe, whose first preset it is then */
export const startConfig = (name: string, settings: Record<string, unknown> = {}): SftConfig => {
  const set = Object.entries(settings).map(([key, value]) => `${key}=${JSON.stringify(value)}`)
  return resolveAmong(RECIPES, { target: name, set }).config as SftConfig
}
