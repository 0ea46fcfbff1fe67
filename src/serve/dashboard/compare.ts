/** @file Several runs side by side, each a group of its own: the comparison of `gradus compare` over all that they record. */

import { comparedRuns } from '../../runs/compare/compare.ts'
import { type ComparedRun, groupLoaded, runNames } from '../../runs/compare/groups.ts'
import { compareView } from '../../runs/compare/view.ts'
import type { CompareView } from '../../runs/report/view.ts'
import { comparedEvals, thinnedData } from './curves.ts'
import type { OpenRun } from './open-run.ts'

const POINTS = 250

export const liveComparison = (runs: readonly OpenRun[]): CompareView => {
  const addresses = new Map(runs.map(({ found: { dir, id } }) => [dir, `/run/${encodeURIComponent(id)}`]))
  const compared = runs.map((run): ComparedRun => {
    const { data } = thinnedData(run, { points: POINTS }, comparedEvals(run))
    return { dir: run.found.dir, data }
  })
  const grouped = groupLoaded(compared, runNames(runs.map(({ found }) => found.dir)), () => false)
  const addressOf = (dir: string) => addresses.get(dir)
  return compareView(grouped.groups, comparedRuns(grouped), { isLive: true, addressOf })
}
