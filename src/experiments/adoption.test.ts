/** @file Experiments that go on elsewhere: runs of one machine lie in the results, the others are trained on the next. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { saveRunState } from '../runs/run-state.ts'
import { writeFileAtomic } from '../util/atomic.ts'
import { Experiment, type ExperimentReport } from './experiment.ts'
import { fakeContent, fakeRegistration, fakeRuns } from './fake-paper.fixture.ts'
import type { FinishedRun } from './metrics/index.ts'
import type { ResolveTraining } from './plan/jobs.ts'
import type { Registration } from './plan/registration.ts'
import { recompute } from './recompute.ts'
import { readSlimRuns, slimRunsPath, writeSlimRuns } from './results/slim-runs.ts'
import { probeFile } from './run/finished.ts'
import { readRecord, writeRecord } from './run/ledger.ts'
import type { Execute } from './run/runner.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gradus-adoption-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const never = new AbortController().signal

const merged: ResolveTraining = ({ settings }) => Object.assign({ rate: 0.1 }, ...settings)

const jsonl = (rows: readonly object[]): string => rows.map(row => `${JSON.stringify(row)}\n`).join('')

interface Machine {
  work: string
  results?: string
  adopt?: boolean
  resolve?: ResolveTraining
  registration?: Registration
  /** Added to every score before the first step: it rounds otherwise. */
  off?: number
}

/** An experiment in a work folder of its own, of which trainings take the runs of the made-up paper. */
class Elsewhere {
  readonly launched: string[] = []
  readonly experiment: Experiment
  readonly #runs: readonly FinishedRun[]
  readonly #off: number

  constructor({
    work,
    results = 'results',
    adopt,
    resolve = merged,
    registration = SMALL,
    off = 0,
  }: Machine) {
    this.#runs = fakeRuns(registration)
    this.#off = off
    this.experiment = new Experiment(registration, {
      work: join(root, work),
      results: join(root, results),
      width: 1,
      adopt,
      resolve,
      execute: this.#execute,
      probe: async job => {
        writeFileAtomic(probeFile(job, 'best-of-n'), JSON.stringify(this.#runOf(job).probes['best-of-n']))
      },
      command: 'gradus experiment made-up.yaml',
    })
  }

  #runOf({ arm, start, seed }: Pick<FinishedRun, 'arm' | 'start' | 'seed'>): FinishedRun {
    return this.#runs.find(run => run.arm === arm && run.start === start && run.seed === seed)!
  }

  readonly #execute: Execute = async ({ dir, training }) => {
    const { steps, seed } = Object.assign({}, ...training.settings) as { steps?: number; seed: number }
    const look = /starts\/(\w+)-from-(\w+)$/.exec(dir)
    const job = this.experiment.jobs.find(each => dir === join(each.dir, 'run'))
    this.launched.push(look ? `look ${look[1]}-${look[2]}` : job!.id)
    if (look ?? job?.kind === 'arm') {
      const [arm, start] = look ? look.slice(1) : [job!.arm, job!.start]
      const run = this.#runOf({ arm, start, seed: String(seed) })
      const evals = run.evals
        .filter(({ step }) => step === 0 || steps !== 0)
        .map(row => (row.step === 0 ? { ...row, scores: { accuracy: { value: 0.3 + this.#off } } } : row))
      writeFileAtomic(join(dir, 'evals.jsonl'), jsonl(evals))
      writeFileAtomic(join(dir, 'metrics.jsonl'), jsonl(steps === 0 ? [] : run.metrics))
    }
    const folder = join(dir, 'checkpoints', 'step-000001')
    mkdirSync(folder, { recursive: true })
    saveRunState(folder, { step: 1, configHash: 'x', rng: {}, recipe: { finished: true, trainedMs: 0 } })
    return { finished: true }
  }

  /** Runs its first jobs, and writes results. Returns them with what was said of starts. */
  async go(jobs = this.experiment.jobs.length): Promise<ExperimentReport & { differences: string[] }> {
    const differences: string[] = []
    const events = { onDifference: (text: string) => void differences.push(text) }
    const { failed } = await this.experiment.run(this.experiment.jobs.slice(0, jobs), never, events)
    expect(failed).toEqual([])
    return { ...this.experiment.report(), differences }
  }
}

/** A claim between arms, and one against the start; more of them say nothing more here. */
const [ORDER, , , LENGTH] = fakeContent().claims as { metric: object }[]
const registered = (changes: object): Registration =>
  fakeRegistration({ claims: [ORDER, LENGTH], ...changes })

/** Ten jobs: start/a and four arms from it, start/b and four arms. */
const SMALL = registered({ seeds: [1] })
/** Of 26 jobs, ten as above. */
const THREE_SEEDS = registered({ seeds: [1, 2, 3] })
const ARMS = ['better', 'plain', 'worse', 'random']

/** A file of results with changes. */
const rewrite = (folder: string, change: (run: FinishedRun) => FinishedRun, registration?: Registration) => {
  const found = readSlimRuns(folder)!
  writeSlimRuns(folder, registration ?? found.registration, found.context, found.runs.map(change))
}

const untold = (runs: readonly FinishedRun[]) => runs.map(run => ({ ...run, seconds: 0, provenance: [] }))

it('slim values have no responses that are kept for reading', async () => {
  await new Elsewhere({ work: 'one' }).go()
  const folder = join(root, 'results', 'made-up')
  rewrite(folder, run => ({
    ...run,
    evals: run.evals.map(row => ({
      ...row,
      items: [{ id: 'p', scores: { accuracy: 1 }, sample: { prompt: 'p', response: 'r', reward: 0.123 } }],
    })),
  }))
  const items = readSlimRuns(folder)!.runs.flatMap(({ evals }) => evals.flatMap(row => row.items ?? []))
  expect(items[0]).toEqual({ id: 'p', scores: { accuracy: 1 } })
  expect(items.filter(item => 'sample' in item)).toEqual([])
})

describe('without the option', () => {
  it('results that lie there are no matter: everything is trained', async () => {
    await new Elsewhere({ work: 'one' }).go()
    const second = new Elsewhere({ work: 'two' })
    expect(second.experiment.plan()).toMatchObject({ done: 0, adopted: null, secondsAll: null })
    expect(second.experiment.hasBegun).toBe(false)
    const { result, adopted } = await second.go(2)
    expect(second.launched).toEqual(['start/a', 'look better-a', 'better/a/1'])
    expect([result.runs.done, adopted]).toEqual([1, null])
    expect(result.notes).toBeUndefined()
  })
})

describe('adopted runs', () => {
  it('are not trained again, nor cold starts that only they need; all comes out as without a stop', async () => {
    const whole = await new Elsewhere({ work: 'whole', results: 'whole-results' }).go()
    await new Elsewhere({ work: 'one' }).go(6)
    const second = new Elsewhere({ work: 'two', adopt: true })
    expect(second.experiment.plan()).toMatchObject({
      done: 5,
      adopted: {
        from: join(root, 'results', 'made-up', 'runs.jsonl.br'),
        runs: ARMS.map(arm => `${arm}/a/1`),
        starts: ['start/a'],
        of: 8,
        warnings: [],
      },
    })
    const { result, folder } = await second.go()
    expect(second.launched).toEqual(['start/b', 'look better-b', ...ARMS.map(arm => `${arm}/b/1`)])
    expect(result.runs).toMatchObject({ done: 8, planned: 8 })
    expect(result.claims.map(({ status, p, comparisons }) => [status, p, comparisons])).toEqual(
      whole.result.claims.map(({ status, p, comparisons }) => [status, p, comparisons]),
    )
    expect(result.controls).toEqual(whole.result.controls)
    expect(result.trainedWith).toEqual(whole.result.trainedWith)
    expect(result.trainedWith.map(({ runs }) => runs)).toEqual([10])
    expect(result.notes).toBeUndefined()
    const [slim, wholeSlim] = [folder, whole.folder].map(each => readSlimRuns(each)!)
    expect(untold(slim.runs)).toEqual(untold(wholeSlim.runs))
    expect(slim.runs.every(({ provenance }) => provenance?.length === 1)).toBe(true)
    expect(slim.starts.map(({ id }) => id).sort()).toEqual(['start/a', 'start/b'])
    expect(slim.registration).toEqual(wholeSlim.registration)
    expect(recompute(folder, { versions: {}, machine: {} }).differences).toEqual([])
  })

  it('hang on a start that is trained again for the others, over several machines', async () => {
    const registration = THREE_SEEDS
    const whole = await new Elsewhere({ work: 'whole', results: 'whole-results', registration }).go()
    await new Elsewhere({ work: 'one', registration }).go(8)
    const second = new Elsewhere({ work: 'two', adopt: true, registration })
    await second.go(12)
    expect(second.launched).toEqual([
      ...['start/a', 'look better-a', 'start/b', 'look better-b'],
      ...['worse/b/1', 'random/b/1', 'better/a/2', 'plain/a/2'],
    ])
    const third = new Elsewhere({ work: 'three', adopt: true, registration })
    expect(third.experiment.plan().adopted).toMatchObject({ starts: [] })
    expect(third.experiment.plan().adopted!.runs).toHaveLength(10)
    const { result, folder } = await third.go()
    expect(third.launched).toHaveLength(4 + 14)
    expect(result.claims.map(({ status, comparisons }) => [status, comparisons])).toEqual(
      whole.result.claims.map(({ status, comparisons }) => [status, comparisons]),
    )
    // 24 runs; each of the two starts was trained three times, by the same as far as records tell.
    expect(result.trainedWith.map(({ runs }) => runs)).toEqual([24 + 2])
    expect(untold(readSlimRuns(folder)!.runs)).toEqual(untold(readSlimRuns(whole.folder)!.runs))
    // The same again in the same place: its own runs are those of the folders, and nothing is left to do.
    const again = new Elsewhere({ work: 'three', adopt: true, registration })
    expect(again.experiment.plan()).toMatchObject({ done: 26, secondsAll: 0 })
    expect((await again.go()).result.trainedWith).toEqual(result.trainedWith)
    expect(again.launched).toEqual([])
  })

  it('keep when they were registered, what they took, and failures that nobody has made good', async () => {
    const one = new Elsewhere({ work: 'one' })
    await one.go(5)
    const failed = one.experiment.jobs[5]
    writeRecord(failed, { ...readRecord(failed), attempts: 2, error: 'out of memory' })
    const before = one.experiment.report().result
    expect(before.failed).toEqual([{ id: 'start/b', message: 'out of memory' }])
    const second = new Elsewhere({ work: 'two', adopt: true })
    const analysed = second.experiment.report().result
    expect(analysed.registered).toEqual(before.registered)
    expect(analysed.failed).toEqual(before.failed)
    expect(analysed.arms).toEqual(before.arms)
    const { result } = await second.go()
    expect(result.registered).toEqual(before.registered)
    expect(result.failed).toEqual([])
  })

  it('tell how long the others will take', async () => {
    const one = new Elsewhere({ work: 'one' })
    await one.go(5)
    for (const job of one.experiment.jobs.slice(0, 5))
      writeRecord(job, { ...readRecord(job), seconds: job.kind === 'start' ? 1000 : 100 })
    one.experiment.report()
    expect(new Elsewhere({ work: 'two', adopt: true }).experiment.plan().secondsAll).toBe(1000 + 4 * 100)
  })

  it('come after the runs whose folders are here', async () => {
    await new Elsewhere({ work: 'one' }).go(5)
    rewrite(join(root, 'results', 'made-up'), run => ({ ...run, seconds: 12_345 }))
    await new Elsewhere({ work: 'two', results: 'elsewhere' }).go(2)
    const second = new Elsewhere({ work: 'two', adopt: true })
    expect(second.experiment.plan().adopted!.runs).not.toContain('better/a/1')
    const { result } = second.experiment.report()
    expect(result.arms.map(({ seconds }) => seconds === 12_345)).toEqual([false, true, true, true])
  })

  it('can be analysed where no folder is', async () => {
    const first = await new Elsewhere({ work: 'one' }).go(5)
    const second = new Elsewhere({ work: 'nothing', adopt: true })
    expect(second.experiment.hasBegun).toBe(true)
    expect(second.experiment.missingMetrics()).toEqual([])
    const { result } = second.experiment.report()
    expect(result.claims).toEqual(JSON.parse(JSON.stringify(first.result.claims)))
    expect(existsSync(join(root, 'nothing'))).toBe(false)
  })

  it('lack values that the registration names as runs here do', async () => {
    const metric = { name: 'score', set: 'unsene' }
    const registration = registered({ seeds: [1], claims: [{ ...ORDER, metric }] })
    await new Elsewhere({ work: 'one', registration }).go(2)
    const second = new Elsewhere({ work: 'two', registration, adopt: true })
    expect(second.experiment.plan().warnings.join()).toContain('did you mean unseen?')
  })
})

describe('a start that is trained again', () => {
  it('and is another one is told when it is there, and noted in results from then on', async () => {
    await new Elsewhere({ work: 'one' }).go(2)
    const second = new Elsewhere({ work: 'two', adopt: true, off: 0.001 })
    const { differences, result, folder } = await second.go()
    expect(differences).toEqual([
      expect.stringMatching(
        /^start\/a: trained again here, it is not what better\/a\/1 began with elsewhere: before the first step accuracy on unseen was 0\.30 and is 0\.301\. /,
      ),
    ])
    expect(result.notes).toEqual(differences)
    expect(JSON.parse(readFileSync(join(folder, 'FAKE-1.json'), 'utf8')).notes).toEqual(differences)
    expect(readFileSync(join(folder, 'summary.md'), 'utf8')).toContain(
      `- several machines: ${differences[0]}\n`,
    )
    expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('trained again here')
    expect(recompute(folder, { versions: {}, machine: {} }).result.notes).toEqual(differences)
    const third = new Elsewhere({ work: 'three', adopt: true })
    expect(third.experiment.report().result.notes).toEqual(differences)
  })

  it('is looked at as an adopted run did, where no claim asks for a look', async () => {
    const registration = registered({ seeds: [1], claims: [ORDER] })
    await new Elsewhere({ work: 'one', registration }).go(3)
    const second = new Elsewhere({ work: 'two', registration, adopt: true, off: 0.01 })
    const { differences } = await second.go()
    expect(second.launched.slice(0, 2)).toEqual(['start/a', 'look better-a'])
    expect(second.launched).not.toContain('look better-b')
    expect(differences).toHaveLength(1)
  })
})

describe('a start that is there', () => {
  it('is not said to be trained again where it does otherwise here than elsewhere', async () => {
    const model = join(root, 'model')
    mkdirSync(model)
    writeFileSync(join(model, 'model.safetensors'), 'weights')
    const registration = registered({ seeds: [1], starts: [{ name: 'a', model }] })
    await new Elsewhere({ work: 'one', registration }).go(3)
    const second = new Elsewhere({ work: 'two', registration, adopt: true, off: 0.01 })
    const { differences } = await second.go()
    expect(differences).toEqual([
      expect.stringMatching(/^start\/a: has the weights that it had elsewhere, .* was 0\.30 and is 0\.31\./),
    ])
    expect(second.launched.filter(id => id.startsWith('start'))).toEqual([])
  })
})

describe('what cannot be adopted', () => {
  const adopting = (more: Partial<Machine> = {}) => new Elsewhere({ work: 'two', adopt: true, ...more })
  const folder = () => join(root, 'results', 'made-up')

  it('is nothing, a damaged file, or runs of another registration', async () => {
    const path = slimRunsPath(folder())
    expect(() => adopting()).toThrow(`${path}: expected the runs of results to adopt, found no such file`)
    await new Elsewhere({ work: 'one' }).go(2)
    const whole = readFileSync(path)
    writeFileSync(path, whole.subarray(0, whole.length >> 1))
    expect(() => adopting()).toThrow(`${path}: expected the runs of results, got a file that was cut`)
    writeFileSync(path, whole)
    const other = registered({ seeds: [1, 2] })
    expect(() => adopting({ registration: other })).toThrow(
      `${path}: expected runs of the registration ${other.hash.slice(0, 16)} (made-up.yaml), got those of ${SMALL.hash.slice(0, 16)}`,
    )
  })

  it('is a run with other settings, unless its folder is here or the file is from before they were kept', async () => {
    await new Elsewhere({ work: 'one' }).go(3)
    const resolve: ResolveTraining = training => ({ ...merged(training, ''), rate: 0.2 })
    expect(() => adopting({ resolve })).toThrow(
      /runs\.jsonl\.br: better\/a\/1, plain\/a\/1: trained with other settings than now .*leave out --adopt/,
    )
    await new Elsewhere({ work: 'two', results: 'elsewhere', resolve }).go(3)
    expect(adopting({ resolve }).experiment.plan()).toMatchObject({ done: 3, adopted: { runs: [] } })
    rewrite(folder(), run => {
      const { configHash: _hash, provenance: _made, ...old } = run as typeof run & Record<string, unknown>
      return old as FinishedRun
    })
    const { result } = await adopting({ work: 'three', resolve }).go()
    expect(result.runs.done).toBe(8)
    // Two old runs with their start, by the one count that old files have; six here, with two starts.
    expect(result.trainedWith.map(({ runs }) => runs)).toEqual([11])
    expect(readSlimRuns(folder())!.runs.filter(({ configHash }) => configHash === undefined)).toHaveLength(2)
    expect(adopting({ work: 'four', resolve }).experiment.report().result.trainedWith).toEqual(
      result.trainedWith,
    )
  })

  it('is a run without its probe: it is said, trained again, and stands in the results until then', async () => {
    const probes = [{ name: 'best-of-n', arms: ['better'], problems: 24, samples: 64, ns: [1, 4, 16, 64] }]
    const registration = registered({ seeds: [1], probes })
    await new Elsewhere({ work: 'one', registration }).go(3)
    const whole = adopting({ registration }).experiment
    expect(whole.plan().adopted!.runs).toEqual(['better/a/1', 'plain/a/1'])
    expect(whole.report().result.runs.done).toBe(2)
    expect(readSlimRuns(folder())!.runs[0].probes).toHaveProperty('best-of-n')
    rewrite(folder(), run => ({ ...run, probes: {} }))
    const second = adopting({ registration })
    const { adopted, warnings } = second.experiment.plan()
    expect(adopted!.runs).toEqual(['plain/a/1'])
    expect(warnings).toContain(
      `${slimRunsPath(folder())}: without the probe best-of-n, so to be trained again: better/a/1`,
    )
    expect(second.experiment.report().result.runs.done).toBe(2)
    const { result } = await second.go()
    expect(second.launched.filter(id => id.endsWith('/a/1'))).toEqual([
      'better/a/1',
      'worse/a/1',
      'random/a/1',
    ])
    expect(result.runs.done).toBe(8)
    expect(readSlimRuns(folder())!.runs[0].probes).toHaveProperty('best-of-n')
  })

  it('is a run of a block that is another one now; those of blocks in common are', async () => {
    const block = (seeds: number[]) => ({ seeds, registered: '2026-12-01' })
    const before = registered({ seeds: [1], blocks: [block([2]), block([3])] })
    await new Elsewhere({ work: 'one', registration: before }).go()
    const now = registered({ seeds: [1], blocks: [block([2]), block([3, 4])] })
    const { adopted } = adopting({ registration: now }).experiment.plan()
    const seeds = new Set(adopted!.runs.map(id => id.split('/')[2]))
    expect([...seeds]).toEqual(['1', '2'])
    expect(adopted).toMatchObject({ of: 8 + 8 + 16 })
    expect(adopted!.warnings).toEqual([
      `${slimRunsPath(folder())}: 8 runs of blocks that this registration does not have, or has otherwise: not adopted, and results will be written without them`,
    ])
    const first = adopting({ registration: SMALL }).experiment.plan().adopted!
    expect(first.runs).toHaveLength(8)
    expect(first.starts).toEqual(['start/a', 'start/b'])
  })
})

describe('a start that was a model which is there no more', () => {
  const model = () => join(root, 'a-model')
  const given = () => registered({ seeds: [1], starts: [{ name: 'a', model: model() }] })
  const NONE = /starts\.a\.model: expected a checkpoint folder .*, got .*a-model, which is none/
  beforeEach(() => {
    mkdirSync(model())
    writeFileSync(join(model(), 'model.safetensors'), 'weights')
  })

  it('is no matter where all that it was for is done, here or in results', async () => {
    const registration = given()
    const before = await new Elsewhere({ work: 'one', registration }).go()
    rmSync(model(), { recursive: true })
    for (const more of [{ work: 'one' }, { work: 'two', adopt: true }]) {
      const again = new Elsewhere({ ...more, registration })
      expect(again.experiment.plan()).toMatchObject({ done: 5, secondsAll: 0 })
      expect(again.experiment.report().result.claims).toEqual(before.result.claims)
      expect((await again.go()).result.runs).toMatchObject({ done: 4, planned: 4 })
      expect(again.launched).toEqual([])
    }
    expect(readSlimRuns(before.folder)!.runs.every(({ configHash }) => configHash !== undefined)).toBe(true)
  })

  it('is asked for where an arm has to be trained from it; what is done is analysed without', async () => {
    const registration = given()
    await new Elsewhere({ work: 'one', registration }).go(3)
    rmSync(model(), { recursive: true })
    for (const more of [{ work: 'one' }, { work: 'two', adopt: true }]) {
      const again = new Elsewhere({ ...more, registration })
      expect(again.experiment.report().result.runs).toMatchObject({ done: 2, planned: 4 })
      expect(() => again.experiment.plan()).toThrow(NONE)
      await expect(again.go()).rejects.toThrow(NONE)
      expect(again.launched).toEqual([])
    }
  })

  it('is not compared by its weights, but settings are where it is there', async () => {
    const registration = given()
    await new Elsewhere({ work: 'one', registration }).go()
    writeFileSync(join(model(), 'model.safetensors'), 'other weights')
    expect(() => new Elsewhere({ work: 'two', adopt: true, registration })).toThrow(
      /trained with other settings than now/,
    )
  })
})
