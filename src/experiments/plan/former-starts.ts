/**
 * @file Settings as they were registered before they lay in `task`: those of cold starts, which are presets of sft today, and of
 * packing in ruscarl; and keyframes of a curriculum under the name that they had. What was trained by such starts is known by the hash
 * of settings as they were. Frozen: what is registered later says it as it is.
 */

import { isRecord } from '../../util/own-value.ts'
import { wordsIn } from '../../util/words.ts'

type Tree = Record<string, unknown>

/** By recipe the settings that were keys of their own; of a start its task as well. */
const FORMER: Readonly<Record<string, { kind?: string; keys: readonly string[] }>> = {
  ruscarl: { keys: ['world', 'heldOutTopics', 'carelessJudge'] },
  'logic-cold-start': { kind: 'logic', keys: [] },
  'checklist-cold-start': { kind: 'packing', keys: ['world', 'thinking', 'hinted'] },
  'arithmetic-cold-start': {
    kind: 'arithmetic',
    keys: ['operations', 'rubricators', 'hinted', 'tries', 'styles', 'errors', 'rubric', 'labels'],
  },
  'records-cold-start': {
    kind: 'records',
    keys: ['hops', 'reflectors', 'referred', 'heeds', 'tries', 'calls', 'scaffold'],
  },
}

const keyframesOfToday = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(keyframesOfToday)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key === 'knots' ? 'keyframes' : key, keyframesOfToday(part)]),
  )
}

/** Settings by their names of today, with those in `task` that were keys of their own. */
export const settingsOfToday = (recipe: string, registered: Tree): Tree => {
  const { keys = [] } = FORMER[recipe] ?? {}
  const settings = keyframesOfToday(registered) as Tree
  const entries = Object.entries(settings)
  const own = entries.filter(([key]) => keys.includes(key))
  if (own.length === 0) return settings
  const others = Object.fromEntries(entries.filter(([key]) => !keys.includes(key)))
  return { ...others, task: { ...(settings.task as Tree), ...Object.fromEntries(own) } }
}

const KEPT = wordsIn('seed out steps maxMinutes policy optimizer checkpoint monitors trackers batch')

/** The configuration of a start as it was then: hashes over it stay what they are in results. */
export const formerConfig = (config: Tree): Tree => {
  const { kind, tests, ...own } = (config.task ?? {}) as Tree
  const name = Object.keys(FORMER).find(each => FORMER[each].kind === kind)
  // Rows of a file have no task.
  if (config.recipe !== 'sft' || kind === undefined || name === undefined) return config
  const { folder, shape } = config.model as Tree
  const { every, problems, samples, maxTokens } = config.evaluation as Tree
  const greedy = (tests as Tree | undefined)?.greedy === 'only' && { samples: 0, greedy: true }
  return {
    recipe: name,
    ...Object.fromEntries(KEPT.map(key => [key, config[key]])),
    ...own,
    ...(['arithmetic', 'logic'].includes(kind as string) && { start: folder }),
    model: { shape },
    evaluation: {
      ...{ every, problems, ...(kind !== 'records' && { samples, maxTokens }) },
      ...{ ...(tests as Tree), ...greedy },
    },
  }
}
