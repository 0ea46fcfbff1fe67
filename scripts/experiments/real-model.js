#!/usr/bin/env node
/**
 * @file Runs a registration of experiments/real-model/ (`--registration fourth`, for fourth.yaml): trainings of a public model on generated instructions, arms x seeds, and
 * evaluations on IFEval and IFBench of the start and of every end. What is there already is not run again; a training that was
 * stopped goes on.
 *
 *   node scripts/experiments/real-model.js --out DIR --model MODEL --ifeval FILE --ifbench FILE --judge MODEL
 *     [--arms a,b] [--seeds 1,2]
 *   node scripts/experiments/real-model.js ... --out ANOTHER --model SECOND --arms content --seeds 1     (the second model)
 *   node scripts/experiments/real-model-claims.js DIR
 *
 * With DIR results/real-model, which holds what was answered (*.jsonl.br), what is missing there is run.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse, stringify } from 'yaml'
import { readText } from './answers.js'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    registration: { type: 'string', default: 'fourth' },
    model: { type: 'string' },
    ifeval: { type: 'string' },
    ifbench: { type: 'string' },
    arms: { type: 'string' },
    seeds: { type: 'string' },
    judge: { type: 'string' },
  },
})
const root = fileURLToPath(new URL('../../', import.meta.url))
const registration = parse(
  readFileSync(join(root, `experiments/real-model/${values.registration}.yaml`), 'utf8'),
)
/** Runs a script and returns what it prints. */
const node = (...args) => {
  process.stderr.write(`$ node ${args.join(' ')}\n`)
  const { status, stdout } = spawnSync(process.execPath, args, {
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
const gradus = (...args) => node(join(root, 'bin/gradus.js'), ...args)
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

/** The rows and demonstrations of `init train --instructions --cold-start`, without the criteria that an arm leaves out. */
const prepare = (arm, drop, model) => {
  const folder = join(out, 'data', arm)
  if (existsSync(join(folder, 'train.yaml'))) return folder
  // The model is asked once: arms differ by criteria alone.
  const answers = join(out, 'data/content/answers.jsonl')
  if (existsSync(answers) || existsSync(`${answers}.br`)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'answers.jsonl'), `${readText(answers)}\n`)
  }
  gradus('init', 'train', folder, '--model', model, '--instructions', '--cold-start', '--force')
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

const MOST_TOKENS = { ifeval: 1280, ifbench: 1280, rows: 256 }
const answersOf = (name, task) => join(out, 'answers', `${name}-${task}.jsonl`)

/**
 * Greedy answers to a task, kept as they come: a benchmark, or the generated rows that are never trained, by all criteria.
 * @param modelOf arguments that name the model; called only where answers are missing, so kept answers need no training
 */
const evaluate = (task, name, modelOf) => {
  const result = join(out, 'answers', `${name}-${task}.json`)
  if (existsSync(result)) return
  const model = modelOf()
  const data = join(out, 'data/content')
  const asked =
    task === 'rows'
      ? ['--data', join(data, 'test.jsonl'), '--rubric', join(data, 'rubric.yaml')]
      : ['--task', task, '--data', values[task]]
  const settings = ['--temperature', '0', '--max-tokens', String(MOST_TOKENS[task])]
  const answers = gradus('eval', ...asked, ...settings, ...model, '--out', answersOf(name, task), '--json')
  writeFileSync(result, answers)
}

/** What the judge makes of answers that are there; those to rows, which are short, also by how likely they are to it. */
const judge = (name, task) => {
  const result = join(out, 'answers', `${name}-${task}-quality.json`)
  if (values.judge === undefined || existsSync(result)) return
  const how = task === 'rows' ? ['--likelihood'] : ['--limit', String(registration.judged)]
  const args = [...how, answersOf(name, task)]
  const script = join(root, 'scripts/experiments/quality.js')
  writeFileSync(result, node(script, '--judge', values.judge, ...args))
}

/** The last checkpoint of a run; null where it has not come to its end. */
const endOf = dir => {
  const config = join(dir, 'config.json')
  if (!existsSync(config)) return null
  const { steps } = JSON.parse(readFileSync(config, 'utf8'))
  const last = join(dir, 'checkpoints', `step-${String(steps).padStart(6, '0')}`)
  return existsSync(join(last, 'adapter_config.json')) ? last : null
}

/** Trains by a file of `folder` unless the run is there; goes on with one that was stopped. */
const trained = (folder, file, dir, seed, ...more) => {
  if (endOf(dir) === null)
    gradus('train', join(folder, file), '--out', dir, '--set', `seed=${seed}`, ...more, '--resume-or-start')
  return endOf(dir)
}

const demonstrated = (seed, model) => {
  const folder = prepare('content', [], model)
  const settings = [`data=${join(folder, 'demonstrations.jsonl')}`, 'policy.spinning=false']
  const dir = join(out, 'runs', `cold-${seed}`)
  return trained(folder, 'cold-start.yaml', dir, seed, ...settings.flatMap(each => ['--set', each]))
}

/** Where the weights of a run end; every arm's rewards begin with what the demonstrations of the same seed have taught. */
const train = (arm, seed, model) => {
  const { drop = [], steps = registration.settings.steps } = registration.arms[arm]
  const start = demonstrated(seed, model)
  if (arm === 'cold') return start
  const begin = ['--set', `steps=${steps}`, '--from', join(out, 'runs', `cold-${seed}`)]
  return trained(prepare(arm, drop, model), 'train.yaml', join(out, 'runs', `${arm}-${seed}`), seed, ...begin)
}

const run = () => {
  const { model } = values
  if (model === undefined) throw new Error('expected --model')
  mkdirSync(join(out, 'answers'), { recursive: true })
  prepare('content', [], model)
  const measureAll = (tasks, name, candidate) => {
    for (const task of tasks) evaluate(task, name, candidate)
    judge(name, tasks[0])
  }
  measureAll(['ifeval', 'ifbench', 'rows'], 'start', () => ['--model', model])
  const arms = values.arms?.split(',') ?? Object.keys(registration.arms)
  const seeds = arm => values.seeds?.split(',').map(Number) ?? registration.arms[arm].seeds
  for (const seed of [...new Set(arms.flatMap(seeds))])
    for (const arm of arms.filter(each => seeds(each).includes(seed)))
      measureAll(registration.arms[arm].tasks ?? ['ifeval', 'ifbench', 'rows'], `${arm}-${seed}`, () => [
        '--model',
        model,
        '--adapter',
        train(arm, seed, model),
      ])
}

run()
