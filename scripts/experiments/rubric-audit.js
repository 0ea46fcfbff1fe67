#!/usr/bin/env node
/**
 * @file Runs experiments/rubric-audit/registration.yaml: audits rubrics, trains the small chat model by each, samples it before and
 * after; audits a real model whose training is done already. What is there is not run again.
 *
 *   node scripts/experiments/rubric-audit.js --out results/rubric-audit --work DIR [--seeds 1] [--rubrics a,b]
 *   node scripts/experiments/rubric-audit.js --out results/rubric-audit --work DIR --real MODEL [--likelihood]
 *   node scripts/experiments/rubric-audit.js ... --revised         (the revised audit, into a folder of its own)
 *   node scripts/experiments/rubric-audit-claims.js results/rubric-audit
 */

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { brotliCompressSync } from 'node:zlib'
import { parse, stringify } from 'yaml'
import { runCli } from '../../dist/cli/program.js'
import { CATEGORIES } from '../../dist/tasks/requests/lexicon.js'
import { readText } from './answers.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    work: { type: 'string' },
    seeds: { type: 'string', default: '1' },
    rubrics: { type: 'string' },
    revised: { type: 'boolean', default: false },
    likelihood: { type: 'boolean', default: false },
    real: { type: 'string' },
  },
})
if (values.out === undefined || values.work === undefined) {
  process.stderr.write('expected --out DIR and --work DIR\n')
  process.exit(2)
}
const registration = parse(readFileSync(join(root, 'experiments/rubric-audit/registration.yaml'), 'utf8'))
const out = resolve(values.out)
const work = resolve(values.work)
const audits = join(out, values.revised ? 'audits-revised' : 'audits')
for (const folder of [audits, join(out, 'answers'), work]) mkdirSync(folder, { recursive: true })

/** Runs a command in this process and returns what it prints: loading takes longer than most of them. */
const gradus = async (...args) => {
  process.stderr.write(`$ gradus ${args.join(' ')}\n`)
  let text = ''
  const found = {
    write(part) {
      text += part
    },
  }
  const code = await runCli(args, { out: found, err: process.stderr, onInterrupt: () => () => {} })
  if (code !== 0) throw new Error(`exit code ${code}: gradus ${args.join(' ')}`)
  return text
}
const jsonl = rows => rows.map(row => `${JSON.stringify(row)}\n`).join('')
const write = (path, text) => {
  writeFileSync(`${path}.tmp`, text)
  renameSync(`${path}.tmp`, path)
}

/** A criterion for things of a kind that the model knows; null of other rows. */
const listCriterion = ({ id, prompt }) => {
  const count = Number(/-(\d)$/.exec(id)?.[1])
  const category = CATEGORIES.find(({ many }) => prompt.includes(` ${many}`))
  if (!count || !category) return null
  return {
    ...{ id: 'right', text: `Names ${count} ${category.many}.`, points: 3 },
    verifier: { kind: 'rule', fn: 'mention_count', params: { terms: category.members, min: count } },
  }
}
const shippedRows = readFileSync(join(root, 'examples/train/rows.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map(JSON.parse)
const rowsBy = {
  facts: row => row,
  plain: ({ id, prompt }) => ({ id, prompt }),
  right: ({ id, prompt, criteria }) => {
    const own = criteria ?? [listCriterion({ id, prompt })].filter(each => each !== null)
    return { id, prompt, ...(own.length > 0 && { criteria: own }) }
  },
}

/** Answers as results keep them. */
const keep = (path, name) => {
  const rows = readText(path)
    .split('\n')
    .map(line => JSON.parse(line))
    .map(({ id, sample, prompt, response }) => ({ id, sample, prompt: prompt.at(-1).content, response }))
  write(join(out, 'answers', `${name}.jsonl.br`), brotliCompressSync(jsonl(rows)))
}

const { settings, samples, rubrics } = registration
const sampled = ['--samples', String(samples), '--temperature', String(settings.rollout.temperature)]
const short = ['--max-tokens', String(settings.rollout.maxTokens), '--threads', '1']

/** The start answers once: every rubric is audited on the same answers. */
const before = async () => {
  const file = join(work, 'before.jsonl')
  if (existsSync(file)) return file
  const { data, rubric } = prepare('shipped')
  await gradus(
    'eval',
    '--data',
    data,
    '--rubric',
    rubric,
    '--model',
    registration.model,
    ...sampled,
    ...short,
    '--out',
    file,
  )
  const bare = readText(file)
    .split('\n')
    .map(line => JSON.parse(line))
    .map(({ verdicts: _, scores: __, ...rest }) => rest)
  write(file, jsonl(bare))
  keep(file, 'before')
  return file
}

const prepare = name => {
  const { rows, file, criteria } = rubrics[name]
  const folder = join(work, name)
  mkdirSync(folder, { recursive: true })
  const data = join(folder, 'rows.jsonl')
  const rubric = join(folder, 'rubric.yaml')
  write(data, jsonl(shippedRows.map(rowsBy[rows])))
  write(rubric, file ? readFileSync(join(root, file), 'utf8') : stringify({ criteria }))
  return { folder, data, rubric }
}

const auditTo = async (name, args) => {
  const path = join(audits, `${name}.json`)
  if (existsSync(path)) return
  const { data: _, model: __, ...found } = JSON.parse(await gradus('rubric', 'audit', ...args, '--json'))
  write(path, `${JSON.stringify(found)}\n`)
}

const miniature = async name => {
  const { folder, data, rubric } = prepare(name)
  const rowsAndRubric = ['--data', data, '--rubric', rubric]
  await auditTo(name, [...rowsAndRubric, '--model', await before(), '--limit', String(shippedRows.length)])
  for (const seed of values.seeds.split(',')) {
    const answers = `${name}-${seed}`
    if (existsSync(join(out, 'answers', `${answers}.jsonl.br`))) continue
    const run = join(folder, `run-${seed}`)
    const config = join(folder, 'train.yaml')
    const example = parse(readFileSync(join(root, 'examples/train/train.yaml'), 'utf8'))
    write(
      config,
      stringify({ ...example, ...settings, task: { file: data, rubric, holdOut: example.task.holdOut } }),
    )
    await gradus('train', config, '--out', run, '--set', `seed=${seed}`, '--resume-or-start', '--quiet')
    const trained = join(run, 'checkpoints', `step-${String(settings.steps).padStart(6, '0')}`)
    const after = join(folder, `after-${seed}.jsonl`)
    await gradus('eval', ...rowsAndRubric, '--model', trained, ...sampled, ...short, '--out', after)
    keep(after, answers)
  }
}

/** The real model: one set of samples, paid by all criteria and by instructions alone. */
const real = async model => {
  const { rows, drop, limit, samples: each, temperature, maxTokens } = registration.real
  const folder = join(work, 'real')
  mkdirSync(folder, { recursive: true })
  const shared = [
    ['varied', 'repetition', { n: 4, maxShare: 0.15 }],
    ['language', 'likelihood', { min: -2.3 }],
  ].map(([id, fn, params]) => ({ id, text: id, points: 0.3, verifier: { kind: 'rule', fn, params } }))
  const rubric = join(folder, 'rubric.yaml')
  write(rubric, stringify({ criteria: shared }))
  const all = readFileSync(join(root, rows), 'utf8').trim().split('\n').map(JSON.parse)
  const bare = join(folder, 'bare.jsonl')
  write(
    bare,
    jsonl(all.map(row => ({ ...row, criteria: row.criteria.filter(({ id }) => !drop.includes(id)) }))),
  )
  const few = ['--limit', String(limit)]
  const answers = join(folder, 'samples.jsonl')
  const samplesAlone = join(folder, 'samples-alone.jsonl')
  if (!existsSync(samplesAlone)) {
    const how = Object.entries({ samples: each, temperature, 'max-tokens': maxTokens })
    const asked = how.flatMap(([name, value]) => [`--${name}`, String(value)])
    await auditTo('real-bare', ['--data', bare, '--model', model, ...asked, ...few, '--out', answers])
    const said = readText(answers)
      .split('\n')
      .map(line => JSON.parse(line))
    write(samplesAlone, jsonl(said.map(({ verdicts: _, scores: __, ...rest }) => rest)))
    keep(samplesAlone, 'real-samples')
  }
  const saved = name => [...few, '--model', samplesAlone, '--edited', join(folder, `edited-${name}.jsonl`)]
  await auditTo('real-bare', ['--data', bare, ...saved('bare')])
  const rulesAlone = join(folder, 'rules-alone.yaml')
  write(rulesAlone, stringify({ criteria: shared.filter(({ id }) => id !== 'language') }))
  const content = ['--data', join(root, rows), ...saved('content')]
  await auditTo('real-content-rules', [...content, '--rubric', rulesAlone])
  // What the start finds likely takes some seven minutes of processor time for a thousand answers.
  if (values.likelihood) await auditTo('real-content', [...content, '--rubric', rubric, '--start', model])
}

if (values.real !== undefined) await real(values.real)
else for (const name of values.rubrics?.split(',') ?? Object.keys(rubrics)) await miniature(name)
