// What monitors would have done in all registered runs whose metrics are kept in results/: false alarms of the actions.
//
//   npm run build
//   node scripts/experiments/monitors-replay.js [--out results/monitors-act/replay.json]
//
// results/*/runs.jsonl.br keep every step of what claims and charts name, and about 24 steps of all else. So there are two counts:
// `exact` of monitors whose metrics were kept at every step, with the settings as they are; `coarse` of all, on the kept steps
// alone, where a window is five of them (some 35 steps of 160) in place of ten steps.
//
// Runs are of three kinds. `wrong`: paid wrongly on purpose (controls with random, shuffled or flipped rewards, and arms whose judge
// is made to be gamed), where an action is wanted. Of the others, `fell`: their first test set's primary score is no higher at the
// end than at the start; and `gained`: it is higher, so that an action would have been a false alarm.
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

/** Arms that are paid wrongly on purpose, by what was registered. */
const wrongArms = ({ arms, controls }) => {
  const named = Object.values(controls).flatMap(own => (typeof own?.arm === 'string' ? [own.arm] : []))
  const list = Array.isArray(arms) ? arms.map(arm => [arm.name, arm]) : Object.entries(arms)
  // A judge of groups that sees the truth pays in place of the careless one.
  const isGamed = text =>
    /"sees":"training"/.test(text) || (/"carelessJudge":true/.test(text) && !/"sees":"truth"/.test(text))
  const gamed = list.filter(([, arm]) => isGamed(JSON.stringify(arm)))
  return new Set([
    ...named,
    ...gamed.map(([name]) => name),
    ...list.flatMap(([name]) => (/^control-/.test(name) ? [name] : [])),
  ])
}

const scoreOf = row => row?.scores?.[row.primary]?.value ?? null

const runsOf = name => {
  const slim = readSlimRuns(join(root, 'results', name))
  if (slim === null) return []
  const wrong = wrongArms(slim.registration)
  return slim.runs
    .filter(({ metrics }) => metrics.length > 0)
    .map(run => ({ ...run, isWrong: wrong.has(run.arm) }))
}

const total = { runs: 0, steps: 0, kept: 0, wrong: 0, fell: 0, gained: 0, experiments: {} }
const tally = { exact: {}, coarse: {} }
const list = []
const NONE = { runs: 0, warned: 0, acted: 0 }
const count = (kinds, name, kind, { warned, acted }) => {
  kinds[name] ??= { wrong: { ...NONE }, fell: { ...NONE }, gained: { ...NONE } }
  const own = kinds[name][kind]
  own.runs++
  own.warned += Number(name in warned)
  own.acted += Number(name in acted)
}

for (const name of readdirSync(join(root, 'results'))) {
  for (const { arm, start, seed, steps, metrics, evals, isWrong } of runsOf(name)) {
    const set = evals[0]?.set
    const own = evals.filter(row => row.set === set)
    const [begin, end] = [scoreOf(own[0]), scoreOf(own.at(-1))]
    const gained = begin !== null && end !== null && end > begin
    const kind = isWrong ? 'wrong' : gained ? 'gained' : 'fell'
    const kept = metrics.filter(({ loss }) => loss !== undefined)
    const coarse = replay(kept, evals, settings(Object.keys(MONITORS), 5), set)
    for (const monitor of Object.keys(MONITORS)) count(tally.coarse, monitor, kind, coarse)
    const exact = {}
    for (const [monitor, keys] of Object.entries(EXACT)) {
      const whole = metrics.every(row => keys.every(key => typeof row[key] === 'number'))
      if (!whole || metrics.length !== steps) continue
      // `rollouts` tells entropyCollapse that it is no supervised step.
      const rows = metrics.map(row => ({ ...row, rollouts: row.rollouts ?? 1 }))
      const seen = replay(rows, [], settings([monitor], 10), set)
      Object.assign(exact, seen.acted)
      count(tally.exact, monitor, kind, seen)
    }
    total.runs++
    total.steps += steps
    total.kept += kept.length
    total[kind]++
    total.experiments[name] ??= { runs: 0, steps: 0 }
    total.experiments[name].runs++
    total.experiments[name].steps += steps
    if (Object.keys({ ...coarse.acted, ...exact }).length > 0)
      list.push({ experiment: name, arm, start, seed, kind, begin, end, coarse: coarse.acted, exact })
  }
  console.error(name)
}
mkdirSync(dirname(values.out), { recursive: true })
writeFileSync(values.out, `${JSON.stringify({ total, tally }, null, 1)}\n`)
writeFileSync(
  values.out.replace('.json', '-runs.json'),
  `[\n${list.map(row => JSON.stringify(row)).join(',\n')}\n]\n`,
)
