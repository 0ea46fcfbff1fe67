// Short trainings on this machine beside what `gradus plan` makes of them: for each the engine is measured on the model's shape, the
// training runs with one thread, and both are compared. `node scripts/plan-check.mjs OUT [NAME...] [--processors]` leaves the runs
// and measurements in OUT, and prints a table as it stands in docs/scaling.md. What is in OUT already is not measured again.
// On a machine with other work give --processors: then all times are those of processors (processor-clock.mjs, Linux), of a training
// those of the engine's thread and other workers. They come out somewhat longer: threads that compile and collect garbage count too.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = path => fileURLToPath(new URL(path, import.meta.url))
const byProcessors = process.argv.includes('--processors')
const [out = 'plan-check', ...names] = process.argv.slice(2).filter(arg => arg !== '--processors')

// Evaluations are small: they are no part of a step. Models of 0.14 to 0.8 million weights.
const RUNS = {
  ruscarl: { recipe: 'ruscarl', model: 'packing-start', steps: 40 },
  rit: { recipe: 'rit', model: 'packing-thinking-start', steps: 24 },
  'rubric-as-reward': {
    recipe: 'rubric-as-reward',
    model: 'logic-short',
    steps: 16,
    set: ['evaluation.hopProblems=2'],
  },
  rlcer: { recipe: 'rlcer', model: 'arithmetic-start', steps: 16, set: ['evaluation.rubrics=1'] },
  rubricem: { recipe: 'rubricem', model: 'records-start', steps: 16 },
}

const gradus = (args, PROCESSOR_CLOCK = 'all') => {
  const clock = byProcessors ? ['--import', here('processor-clock.mjs')] : []
  const result = spawnSync(process.execPath, [...clock, here('../bin/gradus.js'), ...args], {
    env: { ...process.env, PROCESSOR_CLOCK },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (result.status !== 0) throw new Error(`gradus ${args.join(' ')}: exit code ${result.status}`)
  return result.stdout
}

const trained = ({ recipe, steps, set = [] }, dir) => {
  if (existsSync(dir)) return
  const settings = [
    `steps=${steps}`,
    'policy.threads=1',
    'evaluation.problems=4',
    'evaluation.problemsBetween=4',
  ]
  const all = [...settings, 'evaluation.every=0', ...set].flatMap(setting => ['--set', setting])
  const part = `${dir}.part`
  rmSync(part, { recursive: true, force: true })
  gradus(['train', recipe, '--quiet', '--no-dashboard', '--out', part, ...all], 'workers')
  renameSync(part, dir)
}

const measured = (model, file) => {
  if (existsSync(file)) return
  const what = ['--model', `package:models/${model}`, '--threads', '1', '--rounds', '3']
  writeFileSync(file, gradus(['bench', 'engine', ...what, '--json']))
}

mkdirSync(out, { recursive: true })
const seconds = value => value.toFixed(3)
const cell = ({ planned, measured, ratio }) =>
  ratio === null ? '–' : `${seconds(planned)} / ${seconds(measured)}: ${ratio.toFixed(2)}`
console.log('| run | sampling, s: planned / measured | update | both |\n|---|---|---|---|')
for (const [name, run] of Object.entries(RUNS)) {
  if (names.length > 0 && !names.includes(name)) continue
  const [dir, file] = [join(out, name), join(out, `${name}.json`)]
  measured(run.model, file)
  trained(run, dir)
  const check = JSON.parse(gradus(['plan', '--check', dir, '--engine', file, '--json']))
  console.log(`| ${name} | ${cell(check.sampling)} | ${cell(check.update)} | ${cell(check.known)} |`)
}
