/** @file The card of a model that a run trained: what it is, how it was made, what it scored; with the Hub's metadata. */

import { stringify } from 'yaml'
import { percent, percentInterval, visible } from '../../util/format.ts'
import { pointsWord } from '../criterion-words.ts'
import type { EvalRow, RunInfo } from '../rows.ts'
import { describeScore, headlineScores, scoreNamesOf, scoreValue } from '../scores.ts'

/** What a card tells. */
export interface CardFacts {
  /** `owner/name` on the Hub. */
  name: string
  info: RunInfo
  /** Of the checkpoint. */
  step: number
  evals: readonly EvalRow[]
  /** Settings that differ from the recipe's defaults, or those of its preset, by dotted path. */
  settings: readonly { name: string; value: unknown }[]
  /** A command line that trains it. */
  command: string
  /** Weights of an adapter alone. */
  adapter: boolean
  /** Names on the Hub; null: not given. */
  license: string | null
  baseModel: string | null
}

/** Headers of requests may hold keys. */
const TELLS_TOO_MUCH = new Set(['headers'])

/** A host of this machine or of a network of one's own: a name without a dot, an address that the internet does not route. */
const OWN_HOST =
  /^(?:[^.:[\]]+|[^/]*\.(?:local|internal|lan|home|corp|intranet|localdomain)|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(?:1[6-9]|2\d|3[01])\.[\d.]+|169\.254\.[\d.]+|\[[\da-f:.]+\])$/i

/** An address with its host left out where that is nobody else's business. */
const withoutOwnHost = (address: string): string => {
  if (!URL.canParse(address)) return address
  const { protocol, hostname, pathname } = new URL(address)
  return /^(?:https?|wss?):$/.test(protocol) && OWN_HOST.test(hostname)
    ? `${protocol}//HOST${pathname}`
    : address
}

/**
 * Where files lie on the machine that trained, and how servers beside it are called, is nobody's business, and what requests say of
 * who asks as little.
 */
export const withoutFolders = (value: unknown): unknown => {
  if (typeof value === 'string')
    return /^(?:[/~]|[A-Za-z]:[\\/]|\\\\)/.test(value)
      ? value.split(/[\\/]/).filter(Boolean).at(-1)
      : withoutOwnHost(value)
  if (Array.isArray(value)) return value.map(withoutFolders)
  if (value === null || typeof value !== 'object') return value
  const published = Object.entries(value).filter(([key]) => !TELLS_TOO_MUCH.has(key))
  return Object.fromEntries(published.map(([key, own]) => [key, withoutFolders(own)]))
}

/** Whether a setting, by its dotted path, may be told. */
export const isShared = (name: string): boolean => !name.split('.').some(key => TELLS_TOO_MUCH.has(key))

/** A block of code that nothing in it ends. */
const codeBlock = (language: string, code: string): string => {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map(([marks]) => marks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${code}\n${fence}`
}

/** Text of a run in a cell of a table: no markup, no line of its own, nothing unseen. */
const cell = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return visible(text.replace(/\s+/g, ' ')).replace(/[\\`*_{}[\]<>|#]/g, mark => `\\${mark}`)
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n')

/** Evaluations at the checkpoint, or the last ones before it: one a test set. */
const evalsAt = (evals: readonly EvalRow[], step: number): EvalRow[] => {
  const last = new Map<string, EvalRow>()
  for (const row of evals) if (row.step <= step) last.set(row.set, row)
  return [...last.values()]
}

const scoreText = (row: EvalRow | undefined, name: string): string => {
  const score = row?.scores[name]
  if (score?.value == null) return '–'
  const { value, interval } = score
  return `${percent(value)}${interval ? ` (${percentInterval(interval)})` : ''}`
}

const results = (evals: readonly EvalRow[], step: number): string => {
  const rows = evalsAt(evals, step).flatMap(row => {
    const first = evals.find(({ set }) => set === row.set)
    return scoreNamesOf([row]).map(name => [
      cell(row.set),
      cell(describeScore(name, [row])),
      first === row ? '–' : scoreText(first, name),
      scoreText(row, name),
      String(row.step),
      String(row.n),
    ])
  })
  return rows.length === 0
    ? 'The run evaluated nothing until this step.'
    : `${table(['test set', 'score', 'before', 'this model', 'evaluated at step', 'problems'], rows)}\n\nIn brackets 95% intervals over problems.`
}

/** The Hub's metadata: hf.co/docs/hub/model-cards, with the results as its `model-index`. */
const metadata = ({ name, info, step, evals, adapter, license, baseModel }: CardFacts): string => {
  const rows = evalsAt(evals, step).flatMap(row =>
    headlineScores([row]).flatMap(score => {
      const value = scoreValue(row, score)
      if (value === null) return []
      return {
        task: { type: 'text-generation' },
        dataset: { type: 'gradus', name: row.set },
        metrics: [{ type: score, value, name: describeScore(score, [row]) }],
      }
    }),
  )
  return stringify({
    ...(license !== null && { license }),
    ...(baseModel !== null && { base_model: baseModel }),
    library_name: adapter ? 'peft' : 'transformers',
    pipeline_tag: 'text-generation',
    tags: ['gradus', 'reinforcement-learning', 'rubric', ...(info.recipe ? [info.recipe] : [])],
    ...(rows.length > 0 && { 'model-index': [{ name: name.split('/').at(-1), results: rows }] }),
  })
}

/** The rubric that the model was trained by, in a table. */
const rubricTable = ({ rubric }: RunInfo): string => {
  if (rubric === undefined || rubric.criteria.length === 0) return ''
  const rows = rubric.criteria.map(({ id, text, points, check }) => [
    cell(id),
    cell(text ?? 'in words of each row'),
    points === null ? 'by row' : pointsWord(points),
    cell(check ?? 'a judge'),
  ])
  return `\n${table(['criterion', 'says', 'points', 'decided by'], rows)}\n`
}

const describeStart = ({ info, baseModel }: CardFacts): string => {
  if (baseModel !== null) return `Trained from [${baseModel}](https://huggingface.co/${baseModel}).`
  const { model } = info
  return model === undefined ? '' : `Trained from ${cell(withoutFolders(model))}.`
}

/** README.md of a model repository. Results and settings come from the run's files alone. */
export const modelCard = (facts: CardFacts): string => {
  const { name, info, step, evals, settings, command } = facts
  const { recipe = 'unknown', preset, seed, version, environment } = info
  const about = [
    ['recipe', recipe],
    ['preset', preset ?? '–'],
    ['seed', String(seed ?? '–')],
    ['step', `${step}${info.steps === undefined ? '' : ` of ${info.steps}`}`],
    ['Gradus', version ?? '–'],
    ['Node.js', String(environment.node ?? '–')],
  ]
  const changed = settings.map(({ name: key, value }) => [cell(key), cell(withoutFolders(value))])
  const formula = info.rewardFormula === undefined ? '' : `\nReward: ${cell(info.rewardFormula)}\n`
  return `---
${metadata(facts)}---

# ${name.split('/').at(-1)}

${describeStart(facts)} Trained with Gradus, rubric-based reinforcement learning for language models.
${formula}${rubricTable(info)}
## Results

${results(evals, step)}

## How it was made

${table(
  ['', ''],
  about.map(([what, value]) => [what, cell(value)]),
)}

${codeBlock('sh', command)}

${
  changed.length === 0
    ? 'All settings are those of the preset.'
    : `Settings that differ from the ${preset === undefined ? "recipe's defaults" : "preset's"}:\n\n${table(['setting', 'value'], changed)}`
}
`
}
