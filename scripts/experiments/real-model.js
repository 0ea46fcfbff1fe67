#!/usr/bin/env node
/**
 * @file Runs experiments/real-model/registration.yaml: trainings of a public model on generated instructions, arms x seeds, and
 * evaluations on IFEval and IFBench of the start and of every end. What is there already is not run again; a training that was
 * stopped goes on.
 *
 *   node scripts/experiments/real-model.js --out DIR --model MODEL --ifeval FILE --ifbench FILE [--arms a,b] [--seeds 1,2]
 *   node scripts/experiments/real-model.js --out DIR --ifeval FILE --ifbench FILE --summary
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse, stringify } from 'yaml'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    model: { type: 'string' },
    ifeval: { type: 'string' },
    ifbench: { type: 'string' },
    arms: { type: 'string' },
    seeds: { type: 'string' },
    summary: { type: 'boolean', default: false },
  },
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const registration = parse(readFileSync(join(root, 'experiments/real-model/registration.yaml'), 'utf8'))
/** Runs a command and returns what it prints. */
const gradus = (...args) => {
  process.stderr.write(`$ gradus ${args.join(' ')}\n`)
  const { status, stdout } = spawnSync(process.execPath, [join(root, 'bin/gradus.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) {
    process.stderr.write(`exit code ${status}\n`)
    process.exit(status ?? 1)
  }
  return stdout
}
const jsonl = path =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
const { out } = values
if (out === undefined) {
  process.stderr.write('expected --out DIR\n')
  process.exit(2)
}

/** The rows of `init train --instructions`, without the criteria that an arm leaves out. */
const prepare = (arm, drop, model) => {
  const folder = join(out, 'data', arm)
  if (existsSync(join(folder, 'train.yaml'))) return folder
  gradus('init', 'train', folder, '--model', model, '--instructions', '--force')
  const rest = criteria => criteria.filter(({ id }) => !drop.includes(id))
  for (const name of ['rows.jsonl', 'test.jsonl']) {
    const rows = jsonl(join(folder, name)).map(row => ({ ...row, criteria: rest(row.criteria) }))
    writeFileSync(join(folder, name), rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  }
  const shared = parse(readFileSync(join(folder, 'rubric.yaml'), 'utf8'))
  writeFileSync(join(folder, 'rubric.yaml'), stringify({ criteria: rest(shared.criteria) }))
  const settings = parse(readFileSync(join(folder, 'train.yaml'), 'utf8'))
  const { rubric: _, ...task } = settings.task
  writeFileSync(
    join(folder, 'train.yaml'),
    stringify({
      ...settings,
      ...registration.settings,
      task: {
        ...task,
        file: join(folder, 'rows.jsonl'),
        testFile: join(folder, 'test.jsonl'),
        ...(rest(shared.criteria).length > 0 && { rubric: join(folder, 'rubric.yaml') }),
      },
    }),
  )
  return folder
}

const BENCHMARKS = ['ifeval', 'ifbench']
const answersOf = (name, task) => join(out, 'answers', `${name}-${task}.jsonl`)

/** Greedy answers to the benchmarks, kept as they come. */
const evaluate = (name, ...model) => {
  for (const task of BENCHMARKS) {
    const result = join(out, 'answers', `${name}-${task}.json`)
    if (existsSync(result) || values[task] === undefined) continue
    const told = gradus(
      ...['eval', '--task', task, '--data', values[task], ...model],
      ...['--out', answersOf(name, task), '--json'],
    )
    writeFileSync(result, told)
  }
}

/** Every end against the start, and the arms against each other, by the answers that were kept: one line of JSON each. */
const summary = () => {
  const names = Object.entries(registration.arms).flatMap(([arm, { seeds }]) =>
    seeds.map(seed => `${arm}-${seed}`),
  )
  for (const task of BENCHMARKS)
    for (const name of names) {
      if (!existsSync(answersOf(name, task))) continue
      const told = gradus(
        ...['eval', '--task', task, '--data', values[task]],
        ...['--model', answersOf(name, task), '--against', answersOf('start', task), '--json'],
      )
      process.stdout.write(`${JSON.stringify({ task, name, ...JSON.parse(told) })}\n`)
    }
}

const run = () => {
  const { model } = values
  if (model === undefined) throw new Error('expected --model')
  mkdirSync(join(out, 'answers'), { recursive: true })
  const arms = values.arms?.split(',') ?? Object.keys(registration.arms)
  evaluate('start', '--model', model)
  const seeds = arm => values.seeds?.split(',').map(Number) ?? registration.arms[arm].seeds
  for (const seed of [...new Set(arms.flatMap(seeds))])
    for (const arm of arms) {
      if (!seeds(arm).includes(seed)) continue
      const { drop = [], set = [] } = registration.arms[arm]
      const folder = prepare(arm, drop, model)
      const dir = join(out, 'runs', `${arm}-${seed}`)
      const steps = registration.settings.steps
      const last = join(dir, 'checkpoints', `step-${String(steps).padStart(6, '0')}`)
      const more = set.flatMap(setting => ['--set', setting])
      if (!existsSync(join(last, 'adapter_config.json')))
        gradus(
          'train',
          join(folder, 'train.yaml'),
          '--out',
          dir,
          '--set',
          `seed=${seed}`,
          ...more,
          '--resume-or-start',
        )
      evaluate(`${arm}-${seed}`, '--model', model, '--adapter', last)
    }
}

if (values.summary) summary()
else run()
