// What monitors would have done in all registered runs whose metrics are kept in results/: false alarms of the actions.
//
//   npm run build
//   node scripts/experiments/monitors-replay.js [--out results/monitors-act/replay.json]
//
// results/*/runs.jsonl.br keep every step of what claims and charts name, and about 24 steps of all else. So there are two counts:
// `exact` of monitors whose figures were kept at every step, with the settings as they are; `coarse` of all, on the kept steps
// alone, where a window is five of them (some 35 steps of 160) in place of ten steps. A run gained when its first test set's
// primary score is higher at the end than at the start, by its evaluations; an action there is a false alarm.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readSlimRuns } from '../../dist/experiments/results/slim-runs.js'
import { monitorsSchema } from '../../dist/train/monitors/config.js'
import { MONITORS, Watch } from '../../dist/train/monitors/watch.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values } = parseArgs({
  options: { out: { type: 'string', default: join(root, 'results/monitors-act/replay.json') } },
})

const EXACT = { entropyCollapse: ['entropy'], heldOutFalls: ['heldOut', 'reward'] }
const settings = (names, window) =>
  monitorsSchema.parse({
    window,
    ...Object.fromEntries(
      Object.keys(MONITORS).map(name => [name, names.includes(name) ? { action: 'stop' } : null]),
    ),
  })

/** Steps at which each monitor would have warned, and acted first. */
const replay = (rows, evals, monitors, set) => {
  const watch = new Watch(monitors, set)
  const [warned, acted] = [{}, {}]
  const first = rows[0]?.step ?? 0
  watch.see(evals.filter(({ step }) => step < first))
  let last = first - 1
  for (const row of rows) {
    const own = evals
      .filter(({ step }) => step > last && step <= row.step)
      .map(own => ({ ...own, step: row.step }))
    last = row.step
    for (const { monitor, turn } of watch.step(row, own)) if (turn === 'on') warned[monitor] ??= row.step
    for (const { monitor } of watch.due()) acted[monitor] ??= row.step
  }
  return { warned, acted }
}

/** By arm of no control: what the registration calls them. */
const isControl = arm => /control|random|shuffled|flipped|chance/.test(arm)

const scoreOf = row => row?.scores?.[row.primary]?.value ?? null

const runsOf = name =>
  (readSlimRuns(join(root, 'results', name))?.runs ?? []).filter(({ metrics }) => metrics.length > 0)

const total = { runs: 0, steps: 0, kept: 0, gained: 0 }
const tally = { exact: {}, coarse: {} }
const list = []
const count = (kind, name, gained, { warned, acted }, looked) => {
  if (!looked) return
  tally[kind][name] ??= { runs: 0, gained: 0, warned: 0, warnedGained: 0, acted: 0, actedGained: 0 }
  const own = tally[kind][name]
  own.runs++
  own.gained += gained
  own.warned += Number(name in warned)
  own.warnedGained += Number(name in warned && gained)
  own.acted += Number(name in acted)
  own.actedGained += Number(name in acted && gained)
}

for (const name of readdirSync(join(root, 'results'))) {
  const by = { runs: 0, steps: 0, acted: 0, gained: 0, actedGained: 0 }
  for (const { arm, start, seed, steps, metrics, evals } of runsOf(name)) {
    const set = evals[0]?.set
    const own = evals.filter(row => row.set === set)
    const [begin, end] = [scoreOf(own[0]), scoreOf(own.at(-1))]
    const gained = begin !== null && end !== null && end > begin
    const kept = metrics.filter(({ loss }) => loss !== undefined)
    const coarse = replay(kept, evals, settings(Object.keys(MONITORS), 5), set)
    for (const monitor of Object.keys(MONITORS)) count('coarse', monitor, gained, coarse, kept.length >= 10)
    const exact = { warned: {}, acted: {} }
    for (const [monitor, keys] of Object.entries(EXACT)) {
      const whole =
        metrics.length === steps && metrics.every(row => keys.every(key => typeof row[key] === 'number'))
      // `rollouts` tells entropyCollapse that it is no supervised step.
      const rows = metrics.map(row => ({ ...row, rollouts: row.rollouts ?? 1 }))
      const seen = whole ? replay(rows, [], settings([monitor], 10), set) : exact
      Object.assign(exact.warned, seen.warned)
      Object.assign(exact.acted, seen.acted)
      count('exact', monitor, gained, seen, whole)
    }
    total.runs++
    total.steps += steps
    total.kept += kept.length
    total.gained += gained
    by.runs++
    by.steps += steps
    by.gained += gained
    const any = Object.keys({ ...coarse.acted, ...exact.acted }).length > 0
    by.acted += any
    by.actedGained += any && gained
    if (any)
      list.push({
        experiment: name,
        arm,
        start,
        seed,
        control: isControl(arm),
        gained,
        begin,
        end,
        coarse: coarse.acted,
        exact: exact.acted,
      })
  }
  if (by.runs > 0) {
    total[name] = by
    console.error(name, JSON.stringify(by))
  }
}
console.log(JSON.stringify(tally, null, 1))
mkdirSync(dirname(values.out), { recursive: true })
writeFileSync(values.out, `${JSON.stringify({ total, tally }, null, 1)}\n`)
writeFileSync(
  values.out.replace('.json', '-runs.json'),
  `[\n${list.map(row => JSON.stringify(row)).join(',\n')}\n]\n`,
)
