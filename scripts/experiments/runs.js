// The runs that `gradus experiment` left, and small statistics over them; for scripts that look at what no claim was registered for.
//
// Needs `npm run build`: what Gradus has itself is taken from there.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { readEvals, readEvents, readMetrics, readRunInfo } from '../../dist/runs/readers.js'
import { scoreValue } from '../../dist/runs/scores.js'
import { mean } from '../../dist/util/statistics.js'

/** The numbers under a key, of rows that have it. */
export const present = (list, key) => list.map(row => row[key]).filter(value => typeof value === 'number')
/** The values of a score of evaluations, of those that have it. */
export const scoresOf = (list, name) => list.map(row => scoreValue(row, name)).filter(value => value !== null)
/** Means by key, over objects with the same keys. */
export const means = records =>
  Object.fromEntries(Object.keys(records[0]).map(key => [key, mean(records.map(record => record[key]))]))

const readRun = dir => ({
  dir,
  config: readRunInfo(dir).config,
  metrics: readMetrics(dir),
  evals: readEvals(dir),
  events: readEvents(dir),
})

const isFinished = folder => {
  const path = join(folder, 'job.json')
  return existsSync(path) && JSON.parse(readFileSync(path, 'utf8')).finished === true
}

export const firstOn = ({ evals }, set) => evals.find(row => row.set === set)
/** The cold start that a run of an arm began from. */
export const startOf = ({ dir }) => basename(dirname(dir)).split('-seed-')[0]
export const lastOn = ({ evals }, set) => evals.filter(row => row.set === set).at(-1)

/** What a probe left beside a run; null where it did not. */
export const probeOf = ({ dir }, name) => {
  const path = join(dirname(dir), `probe-${name}.json`)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
}

/** In how many runs each monitor warned. */
export const runsThatWarned = runs => {
  const warnings = {}
  for (const { events } of runs) {
    const fired = new Set(events.filter(({ turn }) => turn === 'on').map(({ monitor }) => monitor))
    for (const monitor of fired) warnings[monitor] = (warnings[monitor] ?? 0) + 1
  }
  return warnings
}

/** --work and --results of the command line. */
export const options = paper =>
  parseArgs({
    options: {
      work: { type: 'string', default: 'experiments-work' },
      results: { type: 'string', default: join('results', paper) },
    },
  }).values

/** The finished runs by arm, of the registration that a claim's results name. */
export const finishedRuns = ({ work, results }, paper, claim) => {
  const { registration } = JSON.parse(readFileSync(join(results, `${claim}.json`), 'utf8'))
  const folder = join(work, paper, registration.sha256.slice(0, 16))
  if (!existsSync(folder)) {
    console.error(`${folder}: no runs of this registration; name their folder with --work`)
    process.exit(1)
  }
  const runsOf = arm =>
    readdirSync(join(folder, arm))
      .map(name => join(folder, arm, name))
      .filter(isFinished)
      .map(own => readRun(join(own, 'run')))
  const arms = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  const runs = new Map(arms.map(({ name }) => [name, runsOf(name)]).filter(([, list]) => list.length > 0))
  return { sha256: registration.sha256, runs }
}

/** The cold starts that runs began from. */
export const coldStarts = ({ work }, runs) => {
  const checkpoints = [...runs.values()].flat().map(({ config }) => config.model.folder)
  // `cold-starts/NAME/run/checkpoints/step-005000`, by whatever path the experiment named its folder.
  const names = new Set(checkpoints.map(path => basename(join(path, '../../..'))))
  return [...names].sort().map(name => readRun(join(work, 'cold-starts', name, 'run')))
}

export const writeDiagnosis = ({ results }, diagnosis) => {
  const path = join(results, 'diagnosis.json')
  writeFileSync(path, `${JSON.stringify(diagnosis, null, 2)}\n`)
  console.log(path)
}
