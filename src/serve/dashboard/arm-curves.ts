/** @file Curves of an experiment's arms, with bands over their runs: from the runs beside its results, else from the folder of its work. */

import { statSync } from 'node:fs'
import { sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { overlayCharts } from '../../runs/compare/charts.ts'
import type { ComparedRun, RunGroup } from '../../runs/compare/groups.ts'
import { armChart, COLORS, meanBand } from '../../runs/report/bands.ts'
import type { ChartSpec } from '../../runs/report/chart-spec.ts'
import type { Block, PageSection } from '../../runs/report/view.ts'
import { plural } from '../../util/format.ts'
import { thinnedData } from './curves.ts'
import { workFolder } from './experiments.ts'
import { type FoundExperiment, type FoundRun, fileOf, type Library } from './library.ts'
import { OpenRun } from './open-run.ts'

/** Charts of the runs that lie beside results in a folder; null where none do. What that file is, is known one layer up. */
export type ReadSlimCharts = (folder: string) => Promise<ChartSpec[] | null>

/** Runs of a work folder that are read; of more than these the first. */
const MOST_RUNS = 240
/** Points of a curve. */
const POINTS = 150
/** Runs that go on are read again after this. */
const WORK_MS = 15_000

const CURVES_ABOUT =
  'Lines are means over cold starts and seeds; n is how many runs. Bands are 95% intervals of the mean (Student’s t over runs), none where fewer than three have a value: with few runs they are wide, and they say nothing of other tasks or starts.'

/** Where curves come from, and how far they may be trusted. */
const curveBlocks = (source: string, charts: readonly ChartSpec[]): Block[] => [
  `${source} ${CURVES_ABOUT}`,
  { kind: 'charts', charts },
]

/** Runs of a registration by arm: they lie in `paper/hash/arm/start-seed/run`, wherever the folder of the work is. */
const runsByArm = (library: Library, found: FoundExperiment): Map<string, FoundRun[]> => {
  const byArm = new Map<string, FoundRun[]>()
  const work = workFolder(found)
  if (work === null) return byArm
  for (const run of library.runs) {
    const at = run.dir.lastIndexOf(`${sep}${work}${sep}`)
    const path = at < 0 ? [] : run.dir.slice(at + work.length + 2).split(sep)
    if (path.length === 3) byArm.set(path[0], [...(byArm.get(path[0]) ?? []), run])
  }
  return byArm
}

/** As much of a run as curves need; of what cannot be read the run's own page tells. */
const curvesOfRun = async (found: FoundRun): Promise<ComparedRun[]> => {
  const run = new OpenRun(found)
  await run.advance()
  try {
    return [{ dir: found.dir, data: thinnedData(run, { points: POINTS }).data }]
  } catch {
    return []
  }
}

const workCurves = async (library: Library, found: FoundExperiment): Promise<Block[]> => {
  const arms = [...runsByArm(library, found)].sort(([a], [b]) => (a < b ? -1 : 1))
  const groups: RunGroup[] = []
  let read = 0
  for (const [arm, runs] of arms.slice(0, COLORS.length)) {
    const own: ComparedRun[] = []
    for (const run of runs) {
      if (read === MOST_RUNS) break
      read++
      own.push(...(await curvesOfRun(run)))
      // Others are answered between two runs.
      await setImmediate()
    }
    groups.push({ label: `${arm}, n = ${own.length}`, runs: own })
  }
  const left = arms.reduce((sum, [, runs]) => sum + runs.length, 0) - read
  const source = `Of ${plural(read, 'run')} in the folder of the work, as far as they are${left === 0 ? '' : `; ${plural(left, 'run')} more are left out`}.`
  return curveBlocks(source, overlayCharts(groups, { band: meanBand }).map(armChart))
}

/** Curves of experiments, each worked out once as long as its files stay. */
export class ArmCurvesCache {
  readonly #read: ReadSlimCharts | undefined
  readonly #known = new Map<string, { state: string; blocks: Promise<Block[]> }>()

  /** @param read where not given, results have no curves but those of their work folder */
  constructor(read?: ReadSlimCharts) {
    this.#read = read
  }

  /** The section of an experiment's curves, which come from an address of their own; none where it has no runs. */
  section(library: Library, found: FoundExperiment): PageSection | false {
    const hasRuns = this.#slimState(found) !== null || runsByArm(library, found).size > 0
    const path = `/api/experiments/${encodeURIComponent(found.id)}/curves`
    const what = 'the curves of the arms'
    return hasRuns && { title: 'Curves of the arms', blocks: [{ kind: 'load', path, what }] }
  }

  /** @throws DataError for a damaged file */
  of(library: Library, found: FoundExperiment): Promise<Block[]> {
    const slim = this.#slimState(found)
    const state = slim ?? `work ${Math.floor(Date.now() / WORK_MS)}`
    const known = this.#known.get(found.id)
    if (known?.state === state) return known.blocks
    const blocks = slim === null ? workCurves(library, found) : this.#slim(found)
    this.#known.set(found.id, { state, blocks })
    blocks.catch(() => this.#known.delete(found.id))
    return blocks
  }

  /** Names the state of the file beside results; null where there is none that can be read. */
  #slimState({ dir }: FoundExperiment): string | null {
    const path = this.#read ? fileOf(dir, 'runs.jsonl.br') : null
    if (path === null) return null
    const { size, mtimeMs } = statSync(path)
    return `${size} ${mtimeMs}`
  }

  async #slim({ dir }: FoundExperiment): Promise<Block[]> {
    const charts = await this.#read?.(dir)
    return charts ? curveBlocks('Of the runs beside the results, as in their report.', charts) : []
  }
}
