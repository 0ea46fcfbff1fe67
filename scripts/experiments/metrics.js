// What the results of an experiment hold: the claims' values by arm; the cold starts as they were measured; of each arm evaluations
// and steps; all of it as means over runs with the range over runs. What docs/recipes/*.md tells beside the tables of claims is read
// from here. But for the claims nothing of it was registered.
//
//   npm run build
//   node scripts/experiments/metrics.js results/rlcer
//   node scripts/experiments/metrics.js results/rubricem --arm full,stages --metric right
//   node scripts/experiments/metrics.js results/rubricem --arm full --metric rubricChanges --where repeats=1 --ends 12
//   node scripts/experiments/metrics.js results/rit-binary --arm rit --metric thinking --runs
//   node scripts/experiments/metrics.js results/rlcer --arm rlcer --less no-evolving --metric correlation --ends 20
//
// With --less each arm is told as its runs less those of another arm with the same cold start and seed: mean, 95% interval (bootstrap
// over pairs, expanded for so few), how many are above 0, and a sign-flip p that is corrected for nothing.
//
// Reads the files of the claims, and runs.jsonl.br where there is one: evaluations at every step that has one, metrics of steps that
// claims and charts name at every step, all others at about 24 of them. An evaluation of an arm on fewer problems than its last one
// is read as it would be on all of them (docs/experiments.md, Statistics).
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { expandedInterval, resampledMeans } from '../../dist/experiments/analysis/pair-intervals.js'
import { readSlimRuns } from '../../dist/experiments/results/slim-runs.js'
import { scoreValue } from '../../dist/runs/scores.js'
import { mean, signFlipTest } from '../../dist/util/statistics.js'

const { values, positionals } = parseArgs({
  options: {
    arm: { type: 'string' },
    /** Part of the names of metrics. */
    metric: { type: 'string', default: '' },
    /** Steps at either end of a run whose mean is told. */
    ends: { type: 'string', default: '4' },
    /** NAME=NUMBER: of steps those alone in which this metric is that. */
    where: { type: 'string' },
    /** The arm whose metrics are taken off, pair by pair. */
    less: { type: 'string' },
    /** Every run's value in place of the mean. */
    runs: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})
const fail = message => {
  console.error(message)
  console.error(
    'usage: node scripts/experiments/metrics.js RESULTS [--arm A,B] [--metric PART] [--ends N] [--where NAME=NUMBER] [--runs] [--less ARM]',
  )
  process.exit(2)
}
if (positionals.length !== 1) fail('expected one folder of results')
const [folder] = positionals
if (!existsSync(folder)) fail(`${folder}: no such folder`)
const slim = readSlimRuns(folder)
const ends = Number(values.ends)
if (!Number.isInteger(ends) || ends < 1) fail(`--ends: expected a whole number above 0, got ${values.ends}`)

const [whereName, whereValue] = values.where?.split('=') ?? []
if (values.where !== undefined && !(whereName && whereValue && Number.isFinite(Number(whereValue))))
  fail(`--where: expected NAME=NUMBER, got ${values.where}`)

const isNumber = value => typeof value === 'number'
const isNamed = name => name.includes(values.metric)
const shown = value => {
  const size = Math.abs(value)
  if (size >= 100) return value.toFixed(0)
  return size >= 10 ? value.toFixed(1) : value.toFixed(4)
}
const least = list => list.reduce((a, b) => Math.min(a, b))
const most = list => list.reduce((a, b) => Math.max(a, b))
const summary = list => {
  if (list.length === 0) return '-'
  if (values.runs) return list.map(shown).join(' ')
  return `${shown(mean(list))} (${shown(least(list))} to ${shown(most(list))})`
}
const print = (...parts) => console.log(`  ${parts.join(' | ')}`)

/** Values under their names. */
class Named extends Map {
  add(name, value) {
    if (isNumber(value) && isNamed(name)) this.set(name, [...(this.get(name) ?? []), value])
  }
}

/** The numbers of a tree by dotted name. */
const leaves = (tree, before = '') =>
  Object.entries(tree).flatMap(([key, value]) => {
    if (isNumber(value)) return [[before + key, value]]
    return value && typeof value === 'object' ? leaves(value, `${before}${key}.`) : []
  })

const scoresOf = row => Object.keys(row.scores).map(name => [name, scoreValue(row, name)])

/** All that an evaluation says, by name. */
const metricsOf = row => [
  ...scoresOf(row),
  ...leaves({ criteria: row.criteria ?? {}, figures: row.figures ?? {} }),
  ['responseTokens', row.responseTokens],
]

/** Scores on the problems that were asked, where the row is read as it would be on more of them. */
const asMeasured = row =>
  scoresOf(row).map(([name, value]) => {
    const own = (row.items ?? []).map(({ scores }) => scores[name]).filter(isNumber)
    return [name, own.length === row.n ? mean(own) : value]
  })

const printClaims = () => {
  const files = readdirSync(folder).filter(name => name.endsWith('.json'))
  for (const { claim, runs } of files.map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')))) {
    if (claim === undefined) continue
    const found = new Named()
    for (const { arm, value } of runs) found.add(`${claim.id} | ${arm}`, value)
    for (const [name, list] of found) print(name, summary(list))
  }
}

/** The evaluation on most problems before the first step, of each cold start. */
const startRows = set => {
  const rows = new Map()
  for (const { start, evals } of slim.runs)
    for (const row of evals.filter(each => each.step === 0 && each.set === set))
      if (!(rows.get(start)?.n >= row.n)) rows.set(start, row)
  return [...rows.values()]
}

const setsOf = runs => [...new Set(runs.flatMap(({ evals }) => evals.map(({ set }) => set)))]

const printStarts = () => {
  for (const set of setsOf(slim.runs)) {
    const rows = startRows(set)
    const found = new Named()
    for (const row of rows) for (const [name, value] of asMeasured(row)) found.add(name, value)
    const problems = [...new Set(rows.map(({ n }) => n))].join(' or ')
    for (const [name, list] of found) print(set, name, `${summary(list)}, on ${problems}`)
  }
}

const printEvaluations = runs => {
  for (const set of setsOf(runs)) {
    const rows = runs.flatMap(({ evals }) => evals.filter(row => row.set === set))
    const steps = [...new Set(rows.map(({ step }) => step))].sort((a, b) => a - b)
    const byStep = steps.map(step => {
      const found = new Named()
      for (const row of rows.filter(each => each.step === step))
        for (const [name, value] of metricsOf(row)) found.add(name, value)
      return found
    })
    for (const name of new Set(byStep.flatMap(found => [...found.keys()])))
      print(set, name, ...byStep.map((found, i) => `step ${steps[i]}: ${summary(found.get(name) ?? [])}`))
  }
}

const isWhere = metrics =>
  whereName === undefined ||
  metrics.some(([name, value]) => name === whereName && value === Number(whereValue))

/** Means over a run's steps that a test takes, by name. */
const meansOf = ({ metrics }, takes) => {
  const found = new Named()
  for (const { step, ...row } of metrics) {
    const metrics = leaves(row)
    if (takes(step) && isWhere(metrics)) for (const [name, value] of metrics) found.add(name, value)
  }
  return new Map([...found].map(([name, list]) => [name, mean(list)]))
}

const printSteps = runs => {
  const lastOf = ({ metrics }) => metrics.at(-1)?.step ?? 0
  const parts = {
    [`first ${ends}`]: runs.map(run => meansOf(run, step => step <= ends)),
    [`last ${ends}`]: runs.map(run => meansOf(run, step => step > lastOf(run) - ends)),
    all: runs.map(run => meansOf(run, () => true)),
  }
  for (const name of new Set(parts.all.flatMap(found => [...found.keys()]))) {
    const valuesOf = list => list.map(found => found.get(name)).filter(isNumber)
    print(
      'steps',
      name,
      ...Object.entries(parts).map(([part, list]) => `${part}: ${summary(valuesOf(list))}`),
    )
  }
}

const lessText = list => {
  const [low, high] = expandedInterval(resampledMeans(list), list.length, 0.95)
  const above = list.filter(value => value > 0).length
  return `${shown(mean(list))} [${shown(low)}, ${shown(high)}], ${above} of ${list.length} above 0, p ${signFlipTest(list).toFixed(4)}`
}

/** Of a run: the last evaluation of every set, the steps at its ends, and how far it came from one end to the other. */
const partsOf = run => {
  const last = run.metrics.at(-1)?.step ?? 0
  const early = meansOf(run, step => step <= ends)
  const late = meansOf(run, step => step > last - ends)
  const found = new Map()
  for (const [name, value] of late) {
    found.set(`steps | ${name} | last ${ends}`, value)
    if (early.has(name))
      found.set(`steps | ${name} | last ${ends} less first ${ends}`, value - early.get(name))
  }
  for (const set of setsOf([run]))
    for (const [name, value] of metricsOf(run.evals.findLast(row => row.set === set)))
      if (isNumber(value) && isNamed(name)) found.set(`${set} | ${name}`, value)
  return found
}

const printLess = (arm, runs) => {
  const others = slim.runs.filter(run => run.arm === values.less)
  if (others.length === 0) fail(`--less ${values.less}: no such arm`)
  const pairs = runs.flatMap(run => {
    const other = others.find(({ start, seed }) => start === run.start && seed === run.seed)
    return other === undefined ? [] : [[partsOf(run), partsOf(other)]]
  })
  console.log(`${arm} less ${values.less}, ${pairs.length} pairs`)
  for (const name of new Set(pairs.flatMap(([own]) => [...own.keys()]))) {
    const list = pairs.map(([own, other]) => own.get(name) - other.get(name)).filter(Number.isFinite)
    if (list.length > 1) print(name, lessText(list))
  }
}

const printArm = arm => {
  const runs = slim.runs.filter(run => run.arm === arm)
  if (runs.length === 0) fail(`${arm}: no such arm`)
  if (values.less !== undefined) return printLess(arm, runs)
  console.log(`${arm}, ${runs.length} runs`)
  printEvaluations(runs)
  printSteps(runs)
}

console.log('claims')
printClaims()
if (slim === null) console.log(`runs\n  ${folder} has no runs.jsonl.br: nothing beside the claims`)
else {
  console.log('cold starts, as measured')
  printStarts()
  for (const arm of values.arm?.split(',') ?? new Set(slim.runs.map(run => run.arm))) printArm(arm)
}
