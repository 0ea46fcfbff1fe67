/** @file Many runs as groups: runs that differ in nothing but their seed are one. */

import { joinKnown } from '../../util/format.ts'
import { flatSettings } from '../leaves.ts'
import { contentsOf, describeDigest } from '../report/compare.ts'
import type { ReportData } from '../report/data.ts'
import type { RunInfo } from '../rows.ts'

/** A run with what comparisons read of it. */
export interface ComparedRun {
  dir: string
  data: ReportData
}

export interface RunGroup {
  /** What sets the group apart: `kl.coef=0.01`, or the name of its first run. */
  label: string
  runs: ComparedRun[]
}

export interface GroupedRuns {
  groups: RunGroup[]
  /** Settings in which groups differ, by dotted path: a value a group, undefined where it has none. */
  settings: { name: string; values: unknown[] }[]
}

/** Where and how a run is computed and kept, and its seed: no matter of what is compared. */
const isAside = (path: string): boolean =>
  path === 'seed' ||
  path === 'out' ||
  /^(?:checkpoint|monitors)(?:\.|$)/.test(path) ||
  /^(?:policy|engine)\.(?!kind$|model$|lora)/.test(path)

/** The settings that count, by dotted path, contents of files among them; a fork's model is called by what it was forked from. */
const settingsOf = (
  { config, recipe, forkedFrom, files = [] }: RunInfo,
  isLeftOut: (path: string) => boolean,
): Map<string, unknown> => {
  const settings = new Map(flatSettings(config).filter(([path]) => !isLeftOut(path)))
  if (recipe !== undefined) settings.set('recipe', recipe)
  if (forkedFrom) settings.set('model.folder', `${forkedFrom.run}/${forkedFrom.step}`)
  for (const { path, sha256 } of files) settings.set(contentsOf(path), describeDigest(sha256))
  return settings
}

const textOf = (value: unknown): string =>
  value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value)

/** Two settings are as many as a line of a table has room for. */
const LONGEST_LABEL = 48

const labelOf = ({ runs }: RunGroup, index: number, differing: GroupedRuns['settings']): string => {
  const words = differing.map(({ name, values }) => `${name}=${textOf(values[index])}`).join(' ')
  return words.length <= LONGEST_LABEL ? words : runs[0].data.info.id
}

const onlyLabel = ({ runs: [{ data }] }: RunGroup): string =>
  joinKnown([data.info.recipe, data.info.preset], ' ') || data.info.id

/** Labels that stand twice get the number of their group. */
const distinctLabels = (labels: readonly string[]): string[] =>
  labels.map((label, i) =>
    labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} (${i + 1})`,
  )

/**
 * Runs in groups, in the order in which they were named.
 * @param labels of runs by folder, where somebody knows better what sets them apart; runs of one label are one group
 * @param isLeftOut which settings do not tell groups apart
 */
export const groupRuns = (
  runs: readonly ComparedRun[],
  labels?: ReadonlyMap<string, string>,
  isLeftOut: (path: string) => boolean = isAside,
): GroupedRuns => {
  const settings = new Map(runs.map(run => [run, settingsOf(run.data.info, isLeftOut)]))
  const keyOf = (run: ComparedRun) =>
    labels?.get(run.dir) ?? JSON.stringify([...settings.get(run)!].sort(([a], [b]) => (a < b ? -1 : 1)))
  const byKey = new Map<string, ComparedRun[]>()
  for (const run of runs) byKey.set(keyOf(run), [...(byKey.get(keyOf(run)) ?? []), run])
  const groups = [...byKey.values()].map(own => ({ label: '', runs: own }))
  const names = [...new Set(runs.flatMap(run => [...settings.get(run)!.keys()]))]
  const differing = names
    .map(name => ({ name, values: groups.map(({ runs: [first] }) => settings.get(first)!.get(name)) }))
    .filter(({ values }) => new Set(values.map(value => JSON.stringify(value))).size > 1)
  const own = groups.map((group, i) => {
    const label = groups.length === 1 ? onlyLabel(group) : labelOf(group, i, differing)
    return labels?.get(group.runs[0].dir) ?? label
  })
  const shown = distinctLabels(own)
  return { groups: groups.map((group, i) => ({ ...group, label: shown[i] })), settings: differing }
}

/** The name of a run among others: its folder's last names, as many as it takes to tell it apart. */
export const runNames = (dirs: readonly string[]): Map<string, string> => {
  const parts = dirs.map(dir => dir.split(/[\\/]/).filter(part => part !== ''))
  for (let depth = 1; ; depth++) {
    const names = parts.map(own => own.slice(-depth).join('/'))
    if (new Set(names).size === new Set(dirs).size || depth > 12)
      return new Map(dirs.map((dir, i) => [dir, names[i]]))
  }
}
