/** @file `gradus experiment` as people run it: processes of its own, killed in the middle, gone on with. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cli, Sandbox, SLOW_MS, tinyColdStart, tinyReinforcement } from '../cli.fixture.ts'

const MAIN = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url))
const ABSENT = { absent: 'a test of the harness has nothing to control for' }

const settingsOnly = (settings: object) => {
  const {
    recipe: _recipe,
    model,
    steps: _steps,
    policy: _policy,
    ...rest
  } = settings as Record<string, unknown>
  return { rest, model }
}

const start = settingsOnly(tinyColdStart(2))
const arm = settingsOnly(tinyReinforcement('none', 2))
const REGISTRATION = {
  paper: 'tiny',
  title: 'Two arms, two seeds, two steps',
  recipe: 'rubric-as-reward',
  preset: 'quick',
  settings: { ...arm.rest, checkpoint: { every: 1 } },
  steps: 2,
  test: { problems: 4 },
  seeds: [1, 2],
  starts: [
    {
      name: 'a',
      recipe: 'logic-cold-start',
      seed: 1,
      settings: { ...start.rest, model: start.model, steps: 2 },
    },
  ],
  arms: {
    outcome: { settings: { condition: 'outcome' } },
    rubric: { summary: 'answer, steps and format', settings: { condition: 'rubric' } },
  },
  controls: {
    of: 'rubric',
    metric: 'score',
    smallestEffect: 0.02,
    'random-reward': ABSENT,
    'shuffled-rubrics': ABSENT,
    'flipped-verdicts': ABSENT,
  },
  claims: [
    {
      id: 'TINY-1',
      statement: 'The rubric beats the outcome.',
      arms: { a: 'rubric', b: 'outcome' },
      metric: { name: 'score', set: 'train-distribution' },
      smallestEffect: 0.02,
    },
  ],
}

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const command = (...more: string[]) => [
  'experiment',
  sandbox.path('tiny.yaml'),
  ...['--work', sandbox.path('work'), '--results', sandbox.path('results'), '--jobs', '2'],
  ...more,
]

/** Starts the command in a process and kills it without notice once `text` stands on its stderr. Returns that text. */
const killedAfter = async (text: string): Promise<string> => {
  const child: ChildProcess = spawn(process.execPath, [MAIN, ...command()], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let err = ''
  await new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.stderr!.on('data', chunk => {
      err += chunk
      if (err.includes(text)) resolve()
    })
  })
  child.kill('SIGKILL')
  if (child.signalCode === null && child.exitCode === null) await once(child, 'exit')
  return err
}

describe('gradus experiment', () => {
  let first: string
  beforeAll(async () => {
    sandbox.write('tiny.yaml', REGISTRATION)
    first = await killedAfter('[2/5]')
  }, SLOW_MS)

  it('was killed in the middle', () => {
    expect(first).toContain('[2/5]')
    expect(first).not.toContain('[5/5]')
    expect(existsSync(sandbox.path('results'))).toBe(false)
  })

  it(
    'goes on where it was: what is done is not run again',
    async () => {
      const done = [...first.matchAll(/\] (\S+): done/g)].map(([, id]) => id)
      const { code, err, out } = await cli(command())
      expect(err, err).not.toContain('failed')
      expect(code).toBe(0)
      for (const id of done) expect(err).not.toMatch(new RegExp(`(running|going on with) ${id}\\b`))
      expect(out).toContain('TINY-1: inconclusive (2 pairs; at least 6 are needed to say anything)')
    },
    SLOW_MS,
  )

  it('leaves results that name their registration, and a report', async () => {
    const claim = JSON.parse(sandbox.read('results', 'tiny', 'TINY-1.json'))
    expect(claim.registration.sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(claim.claim).toMatchObject({
      id: 'TINY-1',
      test: 'sign-flip',
      arms: { a: 'rubric', b: ['outcome'] },
    })
    expect(claim.trainedWith).toMatchObject([{ machine: { node: process.version }, runs: 5 }])
    expect(claim.runs).toHaveLength(4)
    expect(
      claim.comparisons[0].pairs.map(({ start, seed }: Record<string, string>) => `${start}${seed}`),
    ).toEqual(['a1', 'a2'])
    expect(claim.runs.every(({ tokens, seconds }: Record<string, number>) => tokens > 0 && seconds > 0)).toBe(
      true,
    )
    expect(claim).toMatchObject({ status: 'inconclusive', seeds: [1, 2], runsDone: { done: 4, planned: 4 } })
    expect(readFileSync(sandbox.path('results', 'tiny', 'report.html'), 'utf8')).toContain(
      'id="claim-TINY-1"',
    )
  })

  it('leaves what every status can be worked out from again, with rule, commit and command', async () => {
    const claim = JSON.parse(sandbox.read('results', 'tiny', 'TINY-1.json'))
    expect(claim.registration).toMatchObject({ rule: claim.rule, versions: { gradus: expect.any(String) } })
    expect(claim.registration.seal).toMatch(/^[0-9a-f]{64}$/)
    expect(claim.analysedWith.command).toContain('gradus experiment')
    expect(claim.trainedWith[0].command).toBe(claim.analysedWith.command)
    const { code, out } = await cli(['experiment', sandbox.path('results', 'tiny'), '--recompute'])
    expect(code).toBe(0)
    expect(out).toContain('from the runs that are kept in runs.jsonl.br')
    expect(out).toContain('TINY-1: inconclusive (2 pairs')
    expect(out).toContain('every status is as in its file')
  })

  it('goes on when a block of seeds is added: what is done stays, and each look is told', async () => {
    sandbox.write('tiny.yaml', { ...REGISTRATION, blocks: [{ seeds: [3], registered: '2026-12-01' }] })
    const { out } = await cli(command('--dry-run'))
    expect(out).toContain('enlarged by 1 block of seeds: 3')
    expect(out).toContain('looks: more looks than were planned at registration')
    expect(out).toContain('7 runs, 5 done')
    const analysed = await cli(command('--analyse', '--results', sandbox.path('enlarged')))
    expect(analysed.out).toContain('look 1, with seeds 1, 2 (4 runs): TINY-1 inconclusive')
    expect(analysed.out).toContain('look 2, with seeds 3 (0 runs): TINY-1 inconclusive (alone inconclusive)')
    sandbox.write('tiny.yaml', REGISTRATION)
  })

  it(
    'goes on elsewhere: runs that lie in the results are not trained again, and the start is the same one',
    async () => {
      const blocks = [{ seeds: [3], registered: '2026-12-01' }]
      sandbox.write('tiny.yaml', { ...REGISTRATION, blocks })
      const results = ['--results', sandbox.path('moved')]
      await cli(command('--analyse', ...results))
      const from = sandbox.path('moved', 'tiny', 'runs.jsonl.br')
      const elsewhere = (...more: string[]) =>
        cli(command('--work', sandbox.path('elsewhere-work'), ...results, ...more))
      expect((await elsewhere('--dry-run')).out).toContain('7 runs, 0 done')
      const { out: plan } = await elsewhere('--adopt', '--dry-run')
      expect(plan).toContain('7 runs, 4 done')
      expect(plan).toContain(`4 of 6 runs are adopted from ${from}\n`)
      const { code, out, err } = await elsewhere('--adopt')
      expect(code, err).toBe(0)
      const trained = [...err.matchAll(/^running (\S+)$/gm)].map(([, id]) => id)
      expect(trained.sort()).toEqual(['outcome/a/3', 'rubric/a/3', 'start/a'])
      expect(err).not.toContain('trained again here')
      expect(existsSync(sandbox.path('elsewhere-work', 'tiny'))).toBe(true)
      expect(out).toContain('tiny: 6 of 6 runs done')
      const claim = JSON.parse(sandbox.read('moved', 'tiny', 'TINY-1.json'))
      const here = ({ command: by }: { command: string }) => by.includes('--adopt')
      expect(claim.trainedWith.filter(here)).toMatchObject([{ runs: 3 }])
      expect(claim.trainedWith.filter((each: { command: string }) => !here(each))).toMatchObject([
        { runs: 5 },
      ])
      expect(claim.notes).toBeUndefined()
      const json = JSON.parse((await elsewhere('--adopt', '--analyse', '--json')).out)
      expect(json).toMatchObject({ runs: { done: 6 }, adopted: { from, starts: [], of: 6 } })
      expect(json.adopted.runs).toHaveLength(4)
      const again = await cli(['experiment', sandbox.path('moved', 'tiny'), '--recompute'])
      expect(again.out).toContain('every status is as in its file')
      sandbox.write('tiny.yaml', REGISTRATION)
    },
    SLOW_MS,
  )

  it(
    'starts from a model that is there: nothing is trained for it',
    async () => {
      const model = 'package:models/logic-start'
      const arms = { rubric: { settings: { condition: 'rubric' } } }
      const claims = [{ ...REGISTRATION.claims[0], arms: { a: 'rubric', b: 'start' } }]
      const paper = { paper: 'given', seeds: [1], starts: [{ name: 'a', model }], arms, claims }
      sandbox.write('given.yaml', { ...REGISTRATION, ...paper })
      const run = (...more: string[]) =>
        cli(['experiment', sandbox.path('given.yaml'), ...command().slice(2), ...more])
      expect((await run('--dry-run')).out).toMatch(
        /^ {2}cold start a {2}package:models\/logic-start, not trained$/m,
      )
      const { code, out, err } = await run()
      expect(code, err).toBe(0)
      expect(out).toContain('given: 1 of 1 runs done')
      expect(err).not.toContain('running start/a')
      const claim = JSON.parse(sandbox.read('results', 'given', 'TINY-1.json'))
      expect(claim.starts).toEqual([{ name: 'a', model }])
    },
    SLOW_MS,
  )

  it('adopts nothing where no results are, of another registration, or beside --recompute', async () => {
    const none = await cli(command('--adopt', '--dry-run', '--results', sandbox.path('nowhere')))
    expect([none.code, none.err]).toEqual([1, expect.stringContaining('found no such file')])
    sandbox.write('tiny.yaml', { ...REGISTRATION, title: 'Another one' })
    const other = await cli(command('--adopt', '--dry-run'))
    expect(other.err).toMatch(/expected runs of the registration [0-9a-f]{16} .*, got those of [0-9a-f]{16}/)
    sandbox.write('tiny.yaml', REGISTRATION)
    const both = await cli(['experiment', sandbox.path('results', 'tiny'), '--recompute', '--adopt'])
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('--adopt: expected no --recompute')])
  })

  it('runs nothing when all is done, and says so in a plan', async () => {
    const { out } = await cli(command('--dry-run', '--json'))
    expect(JSON.parse(out)).toMatchObject({ done: 5, secondsAll: 0 })
    const again = await cli(command('--json'))
    expect(JSON.parse(again.out)).toMatchObject({ paper: 'tiny', runs: { done: 4, planned: 4 } })
  })

  it('names results that an earlier registration left in the folder', async () => {
    expect((await cli(command('--analyse'))).err).toBe('')
    sandbox.write('results/tiny/TINY-0.json', sandbox.read('results', 'tiny', 'TINY-1.json'))
    const { err } = await cli(command('--analyse'))
    expect(err).toContain('results of no claim of this registration: TINY-0.json; ')
    rmSync(sandbox.path('results', 'tiny', 'TINY-0.json'))
  })

  it('never mixes in runs of another registration', async () => {
    sandbox.write('tiny.yaml', { ...REGISTRATION, seeds: [1, 3] })
    const { out, err } = await cli(command('--dry-run'))
    expect(err).toBe('')
    // The cold start is the same; the runs are not.
    expect(out).toContain('5 runs, 1 done')
    sandbox.write('tiny.yaml', REGISTRATION)
  })

  it('measures nothing by a registration that is not the one that was begun', async () => {
    const { code, err } = await cli(command('--probe', 'rubric/a/1', '--registered', 'f'.repeat(64)))
    expect(code).toBe(1)
    expect(err).toContain('expected the registration ffffffffffffffff, got ')
  })

  it('lists every training in a plan', async () => {
    const { out } = await cli(command('--dry-run'))
    expect(out).toContain('1 claim, 2 arms, 1 cold start x 2 seeds: 5 runs')
    expect(out).toMatch(/^ {2}cold start a {2}logic-cold-start, 2 steps, 1 run$/m)
    expect(out).toMatch(/^ {2}rubric {8}rubric-as-reward quick, 2 steps, 2 runs: answer, steps and format$/m)
  })

  it(
    'warns of a metric that no run has, once there is a run to see it by',
    async () => {
      const [claim] = REGISTRATION.claims
      const metric = { name: 'score', set: 'train-distribusion' }
      sandbox.write('tiny.yaml', { ...REGISTRATION, seeds: [1], claims: [{ ...claim, metric }] })
      expect((await cli(command('--dry-run'))).out).not.toContain('did you mean')
      const { err } = await cli(command('--results', sandbox.path('elsewhere')))
      expect(err).toMatch(/warning: claims\[0\]\.metric: no score on .*did you mean train-distribution\?/)
      expect((await cli(command('--dry-run'))).out).toContain('did you mean train-distribution?')
      sandbox.write('tiny.yaml', REGISTRATION)
    },
    SLOW_MS,
  )

  it(
    'times what it knows nothing of for a budget, and says when nothing fits',
    async () => {
      const work = ['--work', sandbox.path('timed')]
      const { code, err } = await cli(command(...work, '--budget', '0.001'))
      expect(code).toBe(2)
      expect(err).toContain('timing logic-cold-start: 2 steps and its evaluations')
      expect(err).toContain('timing rubric-as-reward: 2 steps and its evaluations')
      expect(err).toContain('into 0.001 minutes fit 0 of 2 (start, seed) blocks')
      expect(err).toContain('--budget 0.001: not even one seed of one cold start fits')
      const paces = Object.values(JSON.parse(sandbox.read('timed', 'paces.json')))
      expect(paces).toHaveLength(2)
      expect(paces.every(pace => (pace as { fixed: number }).fixed > 0)).toBe(true)
      const { out } = await cli(command(...work, '--budget', '600', '--dry-run'))
      expect(out).toContain('into 600 minutes fit 2 of 2 (start, seed) blocks: 5 runs, about ')
    },
    SLOW_MS,
  )

  it('refuses to analyse what was never run, and leaves results alone', async () => {
    const before = sandbox.read('results', 'tiny', 'TINY-1.json')
    const { code, err } = await cli(command('--analyse', '--work', sandbox.path('nowhere')))
    expect(code).toBe(1)
    expect(err).toContain('nothing to analyse')
    expect(sandbox.read('results', 'tiny', 'TINY-1.json')).toBe(before)
  })

  it('refuses settings that a recipe does not have, naming the arm', async () => {
    const arms = { ...REGISTRATION.arms, rubric: { settings: { conditions: 'rubric' } } }
    sandbox.write('wrong.yaml', { ...REGISTRATION, arms })
    const { code, err } = await cli(['experiment', sandbox.path('wrong.yaml'), '--dry-run'])
    expect(code).toBe(1)
    expect(err).toContain('wrong.yaml: arms.rubric: conditions')
    expect(err).toContain('did you mean condition?')
  })

  it('refuses settings that do not go together, before anything runs, naming the arm', async () => {
    const settings = { condition: 'outcome', softCriteria: 'exact' }
    const arms = { ...REGISTRATION.arms, rubric: { settings } }
    sandbox.write('wrong.yaml', { ...REGISTRATION, arms })
    const { code, err } = await cli(['experiment', sandbox.path('wrong.yaml'), '--dry-run'])
    expect(code).toBe(1)
    expect(err).toContain('wrong.yaml: arms.rubric: softCriteria: expected nothing set')
  })
})
