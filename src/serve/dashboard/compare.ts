/** @file Several runs side by side, each a group of its own: the comparison of `gradus compare` over all that they record. */

import { comparedRuns } from '../../runs/compare/comparisons.ts'
import { type ComparedRun, groupRuns, runNames } from '../../runs/compare/groups.ts'
import { comparePage } from '../../runs/compare/view.ts'
import type { PageView } from '../../runs/report/view.ts'
import { comparedEvals, thinnedData } from './curves.ts'
import type { OpenRun } from './open-run.ts'

const POINTS = 250
const SMOOTHINGS = [
  ['', 'none'],
  ['5', '5 points'],
  ['15', '15 points'],
] as const

export const liveComparison = (runs: readonly OpenRun[]): PageView => {
  const addresses = new Map(runs.map(({ found: { dir, id } }) => [dir, `/run/${encodeURIComponent(id)}`]))
  const compared = runs.map((run): ComparedRun => {
    const { data } = thinnedData(run, { points: POINTS }, comparedEvals(run))
    return { dir: run.found.dir, data }
  })
  const grouped = groupRuns(compared, runNames(runs.map(({ found }) => found.dir)), () => false)
  const addressOf = (dir: string) => addresses.get(dir)
  const tools = { smoothings: SMOOTHINGS }
  return comparePage('Compare', grouped.groups, comparedRuns(grouped), { tools, addressOf })
}
