// Short trainings of this machine beside what `gradus plan` makes of them: for each, the engine is measured on the model's shape, the
// training runs with one thread, and the engine is measured again. `node scripts/plan-check.mjs OUT [NAME...]` leaves in OUT a
// folder for each run, `NAME-before.json` and `NAME-after.json`, and `NAME-time.json` with seconds of processor and clock, so that
// a machine with other work can be told from a slow one. `gradus plan --check OUT/NAME --engine OUT/NAME-before.json` compares.
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = path => fileURLToPath(new URL(path, import.meta.url))
const [out = 'plan-check', ...names] = process.argv.slice(2)

// Evaluations are small: they are no part of a step. Five recipes, models of 0.25 to 1 million weights.
const RUNS = {
  ruscarl: { model: 'packing-start', steps: 12, args: [] },
  rit: { model: 'packing-thinking-start', steps: 8, args: [] },
  rlcer: { model: 'arithmetic-start', steps: 4, args: ['evaluation.rubrics=1'] },
  rubricem: { model: 'records-start', steps: 4, args: [] },
  'rubric-as-reward': { model: 'logic-short', steps: 4, args: ['evaluation.hopProblems=2'] },
}

const gradus = (args, timeFile) => {
  const result = spawnSync(process.execPath, ['--import', here('processor-time.mjs'), here('../bin/gradus.js'), ...args], {
    env: { ...process.env, PROCESSOR_TIME: timeFile },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (result.status !== 0) throw new Error(`gradus ${args.join(' ')}: exit code ${result.status}`)
  return result.stdout
}

mkdirSync(out, { recursive: true })
for (const [name, { model, steps, args }] of Object.entries(RUNS)) {
  if (names.length > 0 && !names.includes(name)) continue
  const file = suffix => resolve(join(out, `${name}-${suffix}.json`))
  const bench = () => gradus(['bench', 'engine', '--model', `package:models/${model}`, '--threads', '1', '--rounds', '2', '--json'], '')
  rmSync(join(out, name), { recursive: true, force: true })
  writeFileSync(file('before'), bench())
  const settings = [`steps=${steps}`, 'policy.threads=1', 'evaluation.problems=4', 'evaluation.problemsBetween=4', 'evaluation.every=0', ...args]
  const set = settings.flatMap(setting => ['--set', setting])
  gradus(['train', name, '--quiet', '--no-dashboard', '--out', join(out, name), ...set], file('time'))
  writeFileSync(file('after'), bench())
  console.log(name)
}
