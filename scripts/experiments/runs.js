// The runs that `gradus experiment` left, and small statistics over them; for scripts that look at what no claim was registered for.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

export const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length
export const deviation = values => Math.sqrt(mean(values.map(value => (value - mean(values)) ** 2)))
export const correlation = (a, b) =>
  mean(a.map((value, i) => (value - mean(a)) * (b[i] - mean(b)))) / (deviation(a) * deviation(b))
/** The numbers under a key, of rows that have it. */
export const present = (list, key) => list.map(row => row[key]).filter(value => typeof value === 'number')
/** Means by key, over objects with the same keys. */
export const means = records =>
  Object.fromEntries(Object.keys(records[0]).map(key => [key, mean(records.map(record => record[key]))]))

const rows = path => {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').trim()
  return lines === '' ? [] : lines.split('\n').map(line => JSON.parse(line))
}

const readRun = dir => ({
  dir,
  metrics: rows(join(dir, 'metrics.jsonl')),
  evals: rows(join(dir, 'evals.jsonl')),
  events: rows(join(dir, 'events.jsonl')),
})

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
      .map(name => join(folder, arm, name, 'run'))
      .filter(dir => existsSync(join(dir, 'evals.jsonl')))
      .map(readRun)
  const arms = readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isDirectory())
  const runs = new Map(arms.map(({ name }) => [name, runsOf(name)]).filter(([, list]) => list.length > 0))
  return { sha256: registration.sha256, runs }
}

/** The cold starts of one recipe. */
export const coldStarts = ({ work }, recipe) =>
  readdirSync(join(work, 'cold-starts'))
    .filter(name => name.startsWith(recipe))
    .map(name => join(work, 'cold-starts', name, 'run'))
    .map(dir => ({ ...readRun(dir), ...JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8')) }))

export const writeDiagnosis = ({ results }, diagnosis) => {
  const path = join(results, 'diagnosis.json')
  writeFileSync(path, `${JSON.stringify(diagnosis, null, 2)}\n`)
  console.log(path)
}
