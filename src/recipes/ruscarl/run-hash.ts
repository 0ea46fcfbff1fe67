/** @file What must stay the same between stop and resume. */

import { configHash } from '../../runs/run-state.ts'
import { FREE_CONFIG_KEYS } from '../session.ts'
import type { RuscarlConfig } from './config.ts'

/** Hash of all that decides what is computed: of the judge who it is and how it is asked, not where it runs. */
export const runHash = (config: RuscarlConfig): string => {
  const { judge } = config
  const who = judge && { ask: judge.ask, models: judge.fleet.endpoints.map(({ model }) => model) }
  return configHash({ ...config, judge: who }, FREE_CONFIG_KEYS)
}
