// Does reinforcement learning pay on five-hop proofs? Two cold starts x three seeds of the `quick` recipe, and beside them
// what the same minutes of rejection-sampling fine-tuning and of further supervised learning give from the same starts.
//
//   node scripts/experiments/logic-gain.js --starts DIR,DIR --out runs/logic-gain [--seeds 1,2,3] [--results results/rubric-as-reward]
//
// Needs `npm run build`. Finished runs are not repeated, an interrupted one is started again. Writes gain.json and gain.svg.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readEvals, readMetrics } from '../../dist/runs/readers.js'
import { greedyName, scoreValue } from '../../dist/runs/scores.js'
import { twoWayBootstrapInterval } from '../../dist/util/statistics.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { values } = parseArgs({
  options: {
    starts: { type: 'string' },
    seeds: { type: 'string', default: '1,2,3' },
    // Seeds for which the comparison arms run too.
    comparisons: { type: 'string', default: '1,2,3' },
    threads: { type: 'string', default: '2' },
    out: { type: 'string', default: 'runs/logic-gain' },
    results: { type: 'string', default: 'results/rubric-as-reward' },
    problems: { type: 'string', default: '500' },
    set: { type: 'string', multiple: true, default: [] },
  },
})
if (!values.starts) {
  console.error('usage: node scripts/experiments/logic-gain.js --starts DIR,DIR [--seeds 1,2,3] [--out DIR]')
  process.exit(2)
}
const starts = values.starts.split(',')
const seeds = values.seeds.split(',').map(Number)
const compared = new Set(values.comparisons.split(',').map(Number))
const SET = 'train-distribution'

/** Runs a training unless its last evaluation is there already. */
const train = (dir, args) => {
  if (existsSync(join(dir, 'done'))) return
  rmSync(dir, { recursive: true, force: true })
  console.error(`${dir}`)
  const command = [join(root, 'bin/gradus.js'), 'train', ...args, '--out', dir]
  const { status } = spawnSync(process.execPath, command, { stdio: ['ignore', 2, 2] })
  if (status !== 0) process.exit(status ?? 1)
  writeFileSync(join(dir, 'done'), '')
}

const setting = (key, value) => ['--set', `${key}=${value}`]
const common = (start, seed) => [
  'rubric-as-reward',
  ...['--preset', 'quick'],
  ...setting('model.folder', start),
  ...setting('seed', seed),
  ...setting('evaluation.sets', `[${SET}]`),
  ...setting('evaluation.problems', values.problems),
  ...setting('evaluation.every', 0),
  ...setting('policy.threads', values.threads),
  ...values.set.flatMap(text => ['--set', text]),
]

const trainedMinutes = dir => readMetrics(dir).reduce((sum, row) => sum + row.time.total, 0) / 60

const arms = (start, s, seed) => {
  const dir = name => join(values.out, `start${s + 1}-seed${seed}-${name}`)
  const reinforcement = dir('reinforcement')
  train(reinforcement, common(start, seed))
  const minutes = trainedMinutes(reinforcement)
  if (!compared.has(seed)) return { reinforcement, minutes }
  const rejection = dir('rejection')
  train(rejection, [
    ...common(start, seed),
    ...setting('method', 'rejection'),
    ...setting('maxMinutes', minutes),
  ])
  const supervised = dir('supervised')
  train(supervised, [
    'logic-cold-start',
    ...setting('model.folder', start),
    ...setting('policy.threads', values.threads),
    ...setting('seed', seed),
    ...setting('maxMinutes', minutes),
    ...setting('steps', 100000),
    ...setting('task.curriculum.kind', 'custom'),
    ...setting('task.curriculum.sources', '[{hops: 5}]'),
    ...setting('task.curriculum.keyframes', '[{at: 0, weights: [1]}]'),
    ...setting('optimizer.learningRate', '{kind: constant, peak: 0.0005, warmup: 10}'),
    ...setting('task.tests.hops', '[5]'),
    ...setting('evaluation.problems', values.problems),
    ...setting('evaluation.samples', 2),
  ])
  return { reinforcement, rejection, supervised, minutes }
}

const SHOWN = ['correctAndProved', 'accuracy']
const SCORES = [...SHOWN, 'correctAndValid'].flatMap(score => [score, greedyName(score)])

/** Per-problem change from before to after, over the problems that have the score in both. */
const changes = (before, after, score) => {
  const first = new Map(before.items.map(({ id, scores }) => [id, scores[score]]))
  return after.items.map(({ id, scores }) => scores[score] - first.get(id)).filter(Number.isFinite)
}

const runs = starts.flatMap((start, s) =>
  seeds.map(seed => ({ start: s + 1, seed, ...arms(start, s, seed) })),
)
const result = { set: SET, problems: Number(values.problems), samples: 2, arms: {} }
for (const arm of ['reinforcement', 'rejection', 'supervised']) {
  const pairs = runs
    .filter(run => run[arm])
    .map(run => ({
      ...run,
      before: readEvals(run.reinforcement).find(row => row.step === 0 && row.set === SET),
      after: readEvals(run[arm]).at(-1),
    }))
  const gains = Object.fromEntries(
    SCORES.flatMap(score => {
      const table = pairs.map(({ before, after }) => changes(before, after, score))
      // Runs of earlier versions did not keep every score problem by problem.
      if (table.some(own => own.length === 0)) return []
      return [[score, twoWayBootstrapInterval(table, { seed: 'gain' })]]
    }),
  )
  result.arms[arm] = {
    gains,
    runs: pairs.map(({ start, seed, minutes, before, after }) => ({
      start,
      seed,
      minutes,
      before: Object.fromEntries(SCORES.map(score => [score, scoreValue(before, score)])),
      after: Object.fromEntries(SCORES.map(score => [score, scoreValue(after, score)])),
    })),
  }
}

const percent = x => `${(100 * x).toFixed(1)}`
const draw = () => {
  const [width, left, rowHeight] = [800, 250, 34]
  const shown = Object.entries(result.arms).flatMap(([arm, { gains }]) =>
    SHOWN.filter(score => score in gains).map(score => ({ arm, score, ...gains[score] })),
  )
  const low = Math.min(0, ...shown.map(row => row.low)) - 0.02
  const high = Math.max(...shown.map(row => row.high)) + 0.02
  const x = value => left + ((value - low) / (high - low)) * (width - left - 90)
  const names = { correctAndProved: 'correct and proved', accuracy: 'answers' }
  const lines = shown.map((row, i) => {
    const y = 50 + i * rowHeight
    const colour = row.score === 'accuracy' ? '#8a8f98' : '#2468b8'
    return `<text x="${left - 12}" y="${y + 4}" text-anchor="end">${row.arm}, ${names[row.score]}</text>
<line x1="${x(row.low)}" x2="${x(row.high)}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="3"/>
<circle cx="${x(row.estimate)}" cy="${y}" r="6" fill="${colour}"/>
<text x="${x(row.high) + 12}" y="${y + 4}">${row.estimate >= 0 ? '+' : ''}${percent(row.estimate)}</text>`
  })
  const height = 50 + shown.length * rowHeight
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#333">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="16" y="22" font-weight="600">Gain in points after the same minutes: ${runs.length} runs, ${result.problems} unseen five-hop problems, 95% intervals</text>
<line x1="${x(0)}" x2="${x(0)}" y1="36" y2="${height - 10}" stroke="#bbb"/>
${lines.join('\n')}
</svg>\n`
}

mkdirSync(values.results, { recursive: true })
writeFileSync(join(values.results, 'gain.json'), `${JSON.stringify(result, null, 2)}\n`)
writeFileSync(join(values.results, 'gain.svg'), draw())
console.log(
  JSON.stringify(
    Object.fromEntries(Object.entries(result.arms).map(([arm, { gains }]) => [arm, gains])),
    null,
    2,
  ),
)
