#!/usr/bin/env node
/**
 * @file What a registration of experiments/real-model/ claims, by the answers that real-model.js kept: of every run its metrics, its
 * differences to the start, and each claim with the interval that decides it.
 *
 *   node scripts/experiments/real-model-claims.js results/real-model-first first      (of first.yaml)
 *   node scripts/experiments/real-model-claims.js results/real-model-second second
 *   node scripts/experiments/real-model-claims.js results/real-model
 *
 * Differences are paired by prompt; 95% intervals resample seeds and prompts.
 */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { mean, twoWayBootstrapInterval } from '../../dist/util/statistics.js'
import { readText } from './answers.js'

const [out, name = 'fourth'] = process.argv.slice(2)
if (out === undefined) {
  process.stderr.write('expected the folder of real-model.js\n')
  process.exit(2)
}
const root = fileURLToPath(new URL('../../', import.meta.url))
const { arms } = parse(readFileSync(join(root, `experiments/real-model/${name}.yaml`), 'utf8'))
const at = name => join(out, 'answers', name)
const text = name => readText(at(name))
const has = name => existsSync(at(name))
/** Seeds of which anything was measured. */
const seedsOf = arm =>
  arms[arm].seeds.filter(seed => ['rows', 'ifeval'].some(task => has(`${arm}-${seed}-${task}.json`)))

/** A metric of each prompt: a score of a benchmark, or what the judge made of its answer. */
const metrics = {
  ifeval: name => scores(`${name}-ifeval.jsonl`, 'promptStrict'),
  ifbench: name => scores(`${name}-ifbench.jsonl`, 'promptLoose'),
  quality: name => qualities(`${name}-ifeval-quality.json`),
  rowsQuality: name => qualities(`${name}-rows-quality.json`),
}
const scores = (file, score) =>
  new Map(
    text(file)
      .split('\n')
      .map(line => JSON.parse(line))
      .map(({ id, scores: own }) => [id, own[score] ?? 0]),
  )
const qualities = file => new Map(JSON.parse(text(file)).items.map(({ id, good }) => [id, good]))

/** Paired by prompt; an arm's seeds against the start, which is one, or against the same seeds of another arm. */
const against = (arm, other, metric, seeds = seedsOf(arm)) => {
  const pairs = seeds.map(seed =>
    [`${arm}-${seed}`, other === 'start' ? other : `${other}-${seed}`].map(metrics[metric]),
  )
  const differences = pairs.map(([a, b]) => [...a].map(([id, value]) => value - b.get(id)))
  const meanOf = side => mean(pairs.map(pair => mean([...pair[side].values()])))
  const { estimate, low, high } = twoWayBootstrapInterval(differences, { seed: 'real-model' })
  return { a: meanOf(0), b: meanOf(1), difference: estimate, low, high }
}

const complete = arm => seedsOf(arm).length === arms[arm].seeds.length
const claim = (needed, decide) => (needed.every(complete) ? decide() : { open: 'runs are missing' })
const gain = () => {
  const pooled = against('content', 'start', 'ifeval')
  const bySeed = seedsOf('content').map(seed => ({ seed, ...against('content', 'start', 'ifeval', [seed]) }))
  return { ...pooled, bySeed, holds: pooled.difference >= 0.1 && bySeed.every(({ low }) => low > 0) }
}
const above = (arm, other, metric, margin) => () => {
  const found = against(arm, other, metric)
  return { ...found, holds: found.low > margin }
}
const below = (arm, other, metric) => () => {
  const found = against(arm, other, metric)
  return { ...found, holds: found.high < 0 }
}

/** Goes round in circles: of its runs of six words fewer than three in five are different. */
const isCircular = response => {
  const words = response.split(/\s+/).filter(word => word !== '')
  if (words.length < 30) return false
  const runs = words.slice(5).map((_, i) => words.slice(i, i + 6).join(' '))
  return new Set(runs).size < 0.6 * runs.length
}

/** Answers to IFEval that have what nobody pays and nobody asked for. */
const habitsOf = name => {
  if (!has(`${name}-ifeval.jsonl`) && !has(`${name}-ifeval.jsonl.br`)) return undefined
  const answers = text(`${name}-ifeval.jsonl`)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const unasked = (mark, words) =>
    answers.filter(({ prompt, response }) => mark(response) && !words.test(prompt.at(-1).content)).length
  return {
    answers: answers.length,
    circular: answers.filter(({ response }) => isCircular(response)).length,
    placeholderUnasked: unasked(said => said.includes('['), /placeholder|\[/i),
    quotationUnasked: unasked(said => said.trim().startsWith('"'), /quot/i),
  }
}

const summary = name => {
  const measured = task =>
    has(`${name}-${task}.json`) ? JSON.parse(text(`${name}-${task}.json`)) : undefined
  const plain = scored => scored && Object.fromEntries(Object.entries(scored).map(([k, v]) => [k, v.value]))
  const rows = measured('rows')
  return {
    ifeval: plain(measured('ifeval')?.scores),
    ifbench: plain(measured('ifbench')?.scores),
    rows: rows && { ...plain(rows.scores), ...plain(rows.criteria) },
    response: plain(measured('ifeval')?.response),
    habits: habitsOf(name),
    quality: Object.fromEntries(
      ['ifeval', 'rows'].map(task => {
        const file = at(`${name}-${task}-quality.json`)
        if (!existsSync(file)) return [task, undefined]
        const { good, natsPerByte } = JSON.parse(readFileSync(file, 'utf8'))
        return [task, { good: good.mean, natsPerByte: natsPerByte?.mean }]
      }),
    ),
  }
}

/** What a run's answers to the benchmarks are above the start's. */
const toStart = (arm, seed) =>
  Object.fromEntries(
    ['ifeval', 'ifbench']
      .filter(metric => has(`${arm}-${seed}-${metric}.json`))
      .map(metric => [metric, against(arm, 'start', metric, [seed])]),
  )

const trained = Object.keys(arms).flatMap(arm => seedsOf(arm).map(seed => ({ arm, seed })))
const leftOut = Object.keys(arms).filter(arm => arm.startsWith('without-') && seedsOf(arm).length > 0)
process.stdout.write(
  `${JSON.stringify(
    {
      claims: {
        'RM-1-gain': claim(['content'], gain),
        'RM-2-quality': claim(['content'], above('content', 'start', 'quality', -0.05)),
        'RM-3-unseen': claim(['content'], above('content', 'start', 'ifbench', -0.05)),
        'RM-4-content-matters': claim(['content', 'bare'], below('bare', 'content', 'quality')),
        ...(arms.cold && {
          'RM-5-rewards-matter': claim(['content', 'cold'], above('content', 'cold', 'ifeval', 0)),
        }),
      },
      leftOut: Object.fromEntries(
        leftOut.map(arm => [arm, against(arm, 'half', 'rowsQuality', seedsOf(arm))]),
      ),
      runs: {
        start: summary('start'),
        ...Object.fromEntries(
          trained.map(({ arm, seed }) => [
            `${arm}-${seed}`,
            { ...summary(`${arm}-${seed}`), toStart: arms[arm].tasks ? undefined : toStart(arm, seed) },
          ]),
        ),
      },
    },
    null,
    1,
  )}\n`,
)
