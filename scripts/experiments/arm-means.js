// Means of an experiment's arms on one test set, from the slim metrics of its runs: each score before and after training, after it
// by start; criteria after it; tokens of a response over the first and the last six steps; the best of n where that was probed. A line
// of JSON an arm.
//
//   npm run build
//   node scripts/experiments/arm-means.js results/rubric-as-reward-v2 varied
import { readSlimRuns } from '../../dist/experiments/results/slim-runs.js'
import { mean } from '../../dist/util/statistics.js'

const [folder, set] = process.argv.slice(2)
if (!set) throw new Error('usage: node scripts/experiments/arm-means.js RESULTS SET')
const found = readSlimRuns(folder)
if (found === null) throw new Error(`${folder}: no runs.jsonl.br`)

/** Steps at either end that lengths are means over. */
const WINDOW = 6
const round = value => Number((100 * value).toFixed(1))
const meanOf = values => {
  const known = values.filter(value => typeof value === 'number')
  return known.length > 0 ? mean(known) : null
}
const percentOf = values => {
  const value = meanOf(values)
  return value === null ? null : round(value)
}

for (const arm of new Set(found.runs.map(run => run.arm))) {
  const runs = found.runs.filter(run => run.arm === arm)
  const evals = (own, at) => own.flatMap(run => run.evals.filter(row => row.set === set).at(at) ?? [])
  const after = evals(runs, -1)
  const scores = Object.keys(after[0]?.scores ?? {}).map(name => {
    const at = (own, which) => percentOf(evals(own, which).map(row => row.scores[name]?.value))
    const starts = [...new Set(runs.map(run => run.start))].sort()
    const byStart = Object.fromEntries(
      starts.map(start => [
        start,
        at(
          runs.filter(run => run.start === start),
          -1,
        ),
      ]),
    )
    return [name, { before: at(runs, 0), after: at(runs, -1), byStart }]
  })
  const criteria = Object.keys(after[0]?.criteria ?? {}).map(id => [
    id,
    percentOf(after.map(row => row.criteria?.[id])),
  ])
  const curves = runs.flatMap(run => run.probes['best-of-n']?.curve ?? [])
  const best = [...new Set(curves.map(({ n }) => n))].map(n => [
    n,
    percentOf(curves.filter(point => point.n === n).map(({ score }) => score)),
  ])
  const tokens = rows => meanOf(rows.map(row => row.responseTokens))
  const length = cut => Math.round(meanOf(runs.map(run => tokens(cut(run.metrics)))) ?? 0)
  console.log(
    JSON.stringify({
      ...{ arm, runs: runs.length, scores: Object.fromEntries(scores) },
      criteria: Object.fromEntries(criteria),
      tokens: [length(rows => rows.slice(0, WINDOW)), length(rows => rows.slice(-WINDOW))],
      ...(best.length > 0 && { bestOf: Object.fromEntries(best) }),
    }),
  )
}
