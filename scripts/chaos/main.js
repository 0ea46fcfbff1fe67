// The chaos test: every recipe and server under random faults; what has to hold afterwards is checked and counted.
//
//   npm run chaos -- --minutes 60 --seed 1 --work FOLDER --out results/chaos/chaos.json [--recipe NAME] [--fault KIND] [--jobs 2]
//
// docs/howto/chaos.md says how to read what it writes. Needs `npm run build`.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { packageVersion } from '../../dist/util/package.js'
import { Child } from './child.js'
import { SmallDevice } from './disturb.js'
import { experimentReference, experimentTrial } from './experiment-trial.js'
import { makeFixtures } from './fixtures.js'
import { gradeReference, gradeTrial } from './grade-trial.js'
import { planRound } from './plan.js'
import { serveReference, serveTrial } from './serve-trial.js'
import { Tally } from './tally.js'
import { trainReference, trainTrial } from './train-trial.js'
import { Trial } from './trial.js'

const KINDS = {
  train: [trainReference, trainTrial],
  grade: [gradeReference, gradeTrial],
  experiment: [experimentReference, experimentTrial],
  serve: [serveReference, serveTrial],
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    work: { type: 'string' },
    out: { type: 'string' },
    recipe: { type: 'string' },
    fault: { type: 'string' },
    jobs: { type: 'string', default: '1' },
  },
})

const say = text => process.stderr.write(`${text}\n`)

/** What the command can do already, as its help says. */
const featuresOf = async () => {
  const help = async (...args) => {
    const child = new Child([...args, '--help'], { trial: 'help' })
    await child.ended
    return child.out
  }
  return {
    resumeOrStart: (await help('train')).includes('--resume-or-start'),
    runsCheck: /^\s+runs\b/m.test(await help()) && /^\s+check\b/m.test(await help('runs')),
  }
}

const commitOf = () => {
  try {
    const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).trim()
    return `${git('rev-parse', 'HEAD')}${git('status', '--porcelain') === '' ? '' : ' and changes'}`
  } catch {
    return null
  }
}

class Chaos {
  tally = new Tally()
  #references = new Map()
  #stopping = false
  #rounds = 0
  #begunMs = performance.now()
  #trials = 0

  constructor(work, context) {
    this.work = work
    this.context = context
  }

  stop() {
    this.#stopping = true
  }

  get #over() {
    return this.#stopping || this.minutes >= Number(values.minutes)
  }

  get minutes() {
    return (performance.now() - this.#begunMs) / 60_000
  }

  async run() {
    while (!this.#over) {
      const queue = planRound(values.seed, ++this.#rounds, values)
      if (queue.length === 0) throw new Error('no job has a fault of these names')
      const worker = async () => {
        while (!this.#over && queue.length > 0) await this.#runTrial(queue.shift())
      }
      await Promise.all(Array.from({ length: Number(values.jobs) }, worker))
    }
  }

  async #runTrial(plan) {
    const { job, fault, round, seed } = plan
    const folder = join(
      this.work,
      'trials',
      `${String(++this.#trials).padStart(4, '0')}-${job.name}-${fault}`.replaceAll(/[ ,]+/g, '-'),
    )
    const trial = new Trial(folder, seed)
    trial.note(JSON.stringify(plan))
    let outcome = 'failed'
    try {
      trial.reference = await this.#referenceOf(job)
      outcome = await KINDS[job.kind][1](plan, this.context, trial)
    } catch (error) {
      // A surprise for the harness is one for whoever reads its counters.
      trial.check('as the harness expects', [error.stack ?? String(error)])
    }
    const result = await trial.close(outcome)
    this.tally.add(plan, result)
    const bad = result.findings.filter(({ problems }) => problems.length > 0)
    say(
      `${this.minutes.toFixed(1).padStart(5)} min  ${round}  ${job.name}, ${fault}: ${bad.length > 0 ? `FAILED: ${bad.map(({ check, problems }) => `${check}: ${problems[0].slice(0, 200)}`).join('; ')} (${result.folder})` : outcome}`,
    )
  }

  /** The undisturbed run of a job, made once. Trials beside it wait. */
  #referenceOf(job) {
    const { name } = job
    if (!this.#references.has(name)) {
      const made = this.#makeReference(job)
      this.#references.set(name, made)
      // The next trial tries again.
      made.catch(() => this.#references.delete(name))
    }
    return this.#references.get(name)
  }

  async #makeReference(job) {
    const folder = join(this.work, 'references', job.name.replaceAll(/[ ,]+/g, '-'))
    rmSync(folder, { recursive: true, force: true })
    const trial = new Trial(folder, `${values.seed}/reference`)
    const reference = await KINDS[job.kind][0](job, this.context, trial)
    const { findings } = await trial.close('reference')
    const bad = findings.filter(({ problems }) => problems.length > 0)
    if (bad.length > 0) throw new Error(`${job.name}: undisturbed, it fails: ${JSON.stringify(bad)}`)
    return reference
  }

  get result() {
    return {
      command: `npm run chaos -- --minutes ${values.minutes} --seed ${values.seed}`,
      seed: values.seed,
      version: packageVersion(),
      commit: commitOf(),
      machine: {
        node: process.version,
        system: `${process.platform} ${process.arch}`,
        processor: cpus()[0]?.model ?? 'unknown',
        cores: cpus().length,
        memoryGiB: Math.round(totalmem() / 2 ** 30),
        smallDevices: this.context.mayMount,
      },
      minutes: Number(this.minutes.toFixed(1)),
      rounds: this.#rounds,
      total: this.tally.total(),
      checks: this.tally.checks,
      failures: this.tally.failures,
      counts: this.tally.cells,
    }
  }
}

const work = resolve(values.work ?? mkdtempSync(join(tmpdir(), 'gradus-chaos-')))
mkdirSync(work, { recursive: true })
say(`work in ${work}`)
const device = SmallDevice.mount(join(work, 'device'), 1 << 16)
device?.unmount()
const context = {
  fixtures: await makeFixtures(join(work, 'fixtures'), say),
  features: await featuresOf(),
  mayMount: device !== null,
}
const chaos = new Chaos(work, context)
process.once('SIGINT', () => {
  say('stopping after the trials under way; Ctrl+C again quits at once')
  chaos.stop()
  process.once('SIGINT', () => process.exit(130))
})
try {
  await chaos.run()
} finally {
  const { result } = chaos
  if (values.out !== undefined) {
    mkdirSync(dirname(resolve(values.out)), { recursive: true })
    writeFileSync(values.out, `${JSON.stringify(result, null, 2)}\n`)
  }
  console.log(chaos.tally.lines().join('\n'))
}
if (chaos.tally.failures.length === 0 && values.work === undefined)
  rmSync(work, { recursive: true, force: true })
process.exitCode = chaos.tally.failures.length > 0 ? 1 : 0
