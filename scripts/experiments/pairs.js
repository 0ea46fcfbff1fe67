/**
 * Do chosen pairs bring spoilt points back sooner than random ones? Lists of the shipped models/packing-start, whose true rubric is
 * known; a simulated person prefers by it, and says the opposite in a tenth of the cases. docs/howto/ask-people.md has the metrics.
 *
 *   npm run build
 *   node scripts/experiments/pairs.js [--labels 40] [--seeds 5] [--trips 100] [--samples 8]
 */
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { fitPoints, fittedPoints, nextPair, pairMargin } from '../../dist/eval/preferences.js'
import { LocalPolicy } from '../../dist/policy/index.js'
import { PackingWorld, packingTask } from '../../dist/tasks/checklist/index.js'
import { Rng } from '../../dist/util/rng.js'
import { studentQuantile } from '../../dist/util/special.js'

const option = value => ({ type: 'string', default: value })
const { values } = parseArgs({
  options: { labels: option('40'), seeds: option('5'), trips: option('100'), samples: option('8') },
})
const [LABELS, SEEDS, TRIPS, SAMPLES] = ['labels', 'seeds', 'trips', 'samples'].map(name =>
  Number(values[name]),
)
const NOISE = 0.1
/** Of the trips so many teach; pairs of the others are ordered. */
const TAUGHT = 0.6
/** Spoilt sizes of points: anything from 1 to 20, by its logarithm. */
const spoilt = (points, rng) => Math.sign(points) * 20 ** rng.next()

const world = new PackingWorld()
const task = packingTask(world)
const folder = fileURLToPath(new URL('../../models/packing-start', import.meta.url))
const policy = await LocalPolicy.start({ folder }, { threads: 1 })

/** Answers to trips with their credits. */
const answersOf = async seed => {
  const trips = new Rng(`pairs/${seed}/trips`).sample(task.tests['unseen trips'], TRIPS)
  const drawn = await policy.sample({
    prompts: trips.map(trip => task.prompt(trip)),
    ...{ samplesPerPrompt: SAMPLES, maxTokens: 26, temperature: 1, seed: `pairs/${seed}` },
  })
  return Promise.all(
    trips.map(async (trip, i) => {
      const { criteria } = world.rubric(trip)
      const items = drawn
        .filter(({ prompt }) => prompt === i)
        .map(({ tokens }) => ({ problem: trip, tokens, criteria }))
      const graded = await task.grade(items)
      const answers = graded.map(({ verdicts }) => ({
        credits: Object.fromEntries(
          verdicts.map(({ criterionId, met }) => [criterionId, met === null ? null : Number(met)]),
        ),
      }))
      const truth = Object.fromEntries(criteria.map(({ id, points }) => [id, points]))
      return { problemId: task.id(trip), truth, answers }
    }),
  )
}

const pairsOf = (trips, points) =>
  trips.flatMap(({ problemId, truth, answers }) =>
    answers.flatMap((a, i) =>
      answers.slice(i + 1).map(b => ({ problemId, truth, points, a, b, unsure: [] })),
    ),
  )

const choiceOf = (pair, rng) => {
  const margin = pairMargin(pair, pair.truth)
  if (margin === 0) return 'alike'
  return margin > 0 === rng.next() >= NOISE ? 'a' : 'b'
}

const cosine = (a, b) => {
  const dot = (x, y) => Object.keys(x).reduce((sum, id) => sum + x[id] * y[id], 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

/** Share of the pairs that differ in truth which points order rightly, ties half. */
const ordered = (pairs, pointsOf) => {
  const right = pairs.flatMap(pair => {
    const truth = pairMargin(pair, pair.truth)
    if (truth === 0) return []
    const margin = pairMargin(pair, pointsOf(pair))
    return [margin === 0 ? 0.5 : Number(margin > 0 === truth > 0)]
  })
  return right.reduce((sum, own) => sum + own, 0) / right.length
}

const labelBy = (candidates, choose, rng) => {
  const labelled = []
  const left = new Set(candidates)
  while (labelled.length < LABELS) {
    const pair = choose([...left], labelled)
    if (pair === null) break
    left.delete(pair)
    labelled.push({ ...pair, choice: choiceOf(pair, rng) })
  }
  return labelled
}

const rows = []
for (let seed = 1; seed <= SEEDS; seed++) {
  const rng = new Rng(`pairs/${seed}`)
  const trips = await answersOf(seed)
  const mean = id => trips.reduce((sum, { truth }) => sum + truth[id], 0) / trips.length
  const truth = Object.fromEntries(Object.keys(trips[0].truth).map(id => [id, mean(id)]))
  const spoiling = rng.fork('spoil')
  const present = Object.fromEntries(
    Object.entries(truth).map(([id, points]) => [id, spoilt(points, spoiling)]),
  )
  const cut = Math.round(TAUGHT * trips.length)
  const [candidates, heldOut] = [trips.slice(0, cut), trips.slice(cut)].map(own => pairsOf(own, present))
  const row = { seed, candidates: candidates.length, heldOut: heldOut.length }
  const add = (name, points) =>
    Object.assign(row, {
      [`${name}Order`]: ordered(heldOut, () => points),
      [`${name}Cosine`]: cosine(points, truth),
    })
  add('spoilt', present)
  add('true', truth)
  const draw = rng.fork('random')
  const arms = { chosen: nextPair, random: left => draw.pick(left) }
  for (const [name, choose] of Object.entries(arms)) {
    const labelled = labelBy(rng.fork('order').shuffle(candidates), choose, rng.fork(`person/${name}`))
    const fit = fitPoints(labelled)
    add(name, fittedPoints(present, fit))
    row[`${name}Labels`] = labelled.length
    row[`${name}Alike`] = labelled.filter(({ choice }) => choice === 'alike').length
    row[`${name}Moved`] = fit.moved
  }
  rows.push(row)
  process.stdout.write(`${JSON.stringify(row)}\n`)
}
await policy.close()

/** Mean over seeds with Student's interval. */
const report = (name, values) => {
  const mean = values.reduce((sum, own) => sum + own, 0) / values.length
  const square = values.reduce((sum, own) => sum + (own - mean) ** 2, 0) / (values.length - 1)
  const half = studentQuantile(0.975, values.length - 1) * Math.sqrt(square / values.length)
  const [low, high] = [mean - half, mean + half].map(own => own.toFixed(3))
  process.stdout.write(`${name.padEnd(28)} ${mean.toFixed(3)} [${low}, ${high}]\n`)
}
for (const metric of ['Order', 'Cosine']) {
  for (const arm of ['spoilt', 'random', 'chosen', 'true'])
    report(
      `${arm}${metric}`,
      rows.map(row => row[arm + metric]),
    )
  report(
    `chosen - random, ${metric}`,
    rows.map(row => row[`chosen${metric}`] - row[`random${metric}`]),
  )
  report(
    `chosen - spoilt, ${metric}`,
    rows.map(row => row[`chosen${metric}`] - row[`spoilt${metric}`]),
  )
}
