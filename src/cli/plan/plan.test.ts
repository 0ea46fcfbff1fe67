import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { wordModel } from '../../recipes/common/word-models.ts'
import { rubricAsRewardSchema } from '../../recipes/rubric-as-reward/config.ts'
import { LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { cli, Sandbox, SLOW_MS } from '../cli.fixture.ts'
import { measuredEngines } from './plan.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const json = async (...args: string[]) => JSON.parse((await cli([...args, '--json'])).out)

// The first one loads all recipes.
describe('gradus plan', { timeout: SLOW_MS }, () => {
  it('says time, bottleneck, judge, memory and what it assumed', async () => {
    const judged = ['--judge-model', 'Qwen3-32B', '--judge-gpus', 'H200:8']
    const { code, out } = await cli(['plan', 'ruscarl', '--preset', 'paper', '--gpus', 'H200:8', ...judged])
    expect(code).toBe(0)
    for (const line of [
      /^ruscarl, preset paper: a plan; nothing was run$/m,
      /^ {2}sampling {5}policy: [\d.]+ s \([\d.]+ to [\d,.]+\)/m,
      /^ {2}bottleneck {3}(sampling|grading|update): /m,
      /^ {2}judge {8}5,888 calls a step/m,
      /^ {2}in all {7}350 steps: [\d.]+ h/m,
      /^ {13,}responseShare 0\.1 \/ 0\.25 \/ 1: /m,
    ])
      expect(out).toMatch(line)
  })

  it.each([
    ['ruscarl', 'paper'],
    ['rit', 'paper'],
    ['rit', 'paper-reasoning'],
    ['rlcer', 'paper'],
    ['rubricem', 'paper'],
    ['rubric-as-reward', 'paper'],
    ['sft', 'paper'],
    ['ruscarl', 'quick'],
    ['environment', 'chat'],
  ])('plans %s %s, and more GPUs are never slower', async (recipe, preset) => {
    const on = (count: number) =>
      json('plan', recipe, '--preset', preset, '--gpus', `H100:${count}`, '--judge-rate', '100')
    const [few, many] = [await on(8), await on(64)]
    expect(few.usual.seconds.update).toBeGreaterThan(0)
    expect(few.usual.seconds.sampling > 0).toBe(recipe !== 'sft')
    expect(many.usual.seconds.update).toBeLessThan(few.usual.seconds.update)
    expect(many.usual.seconds.sampling).toBeLessThanOrEqual(few.usual.seconds.sampling)
    expect(few.usual.hours * 3600).toBeCloseTo(few.steps * few.usual.seconds.overlapped, 3)
  })

  it('says who has a critic on several GPUs, before anything else', async () => {
    const base = ['plan', 'rlcer', '--preset', 'paper', '--gpus', 'H100:16']
    const { out } = await cli(base)
    expect(out.split('\n')[1]).toMatch(
      /critic +trained in one process here, on GPUs by a service that offers one \(ppo_critic/,
    )
    expect((await cli([...base, '--set', 'critic=null'])).out).not.toContain('critic ')
  })

  it('takes another model, prices, and what is known better', async () => {
    const base = ['plan', 'ruscarl', '--preset', 'paper', '--gpus', 'H100:8', '--judge-rate', '200']
    const small = await json(...base, '--model', 'Qwen2.5-3B', '--gpu-price', '2', '--judge-price', '1,2')
    const long = await json(...base, '--assume', 'responseShare=1', 'syncSeconds=0')
    const plain = await json(...base)
    expect(small.usual.seconds.update).toBeLessThan(plain.usual.seconds.update)
    expect(small.usual.cost.gpus).toBeCloseTo(2 * small.usual.gpuHours, 6)
    expect(small.usual.cost.judge).toBeGreaterThan(0)
    expect(plain.usual.cost).toEqual({ gpus: null, judge: null })
    expect(long.usual.sampledTokens).toBeCloseTo(64 * 8 * 4096, 3)
  })

  it.each([
    [['ruscarl'], /--gpus: expected NAME:COUNT or here/],
    [['--gpus', 'H100:8'], /expected a recipe or a YAML file/],
    [['ruscarl', '--gpus', 'H1:8'], /--gpus: expected NAME:COUNT of A100/],
    [['ruscarl', '--gpus', 'H100:8', '--judge-model', 'Qwen3-32B'], /expected both, got one/],
    [
      ['ruscarl', '--gpus', 'H100:8', '--judge-rate', '9', '--judge-gpus', 'H100'],
      /--judge-rate: expected it alone/,
    ],
    [['ruscarl', '--gpus', 'H100:8', '--judge-price', '1'], /--judge-price: expected IN,OUT/],
    [['ruscarl', '--gpus', 'H100:8', '--assume', 'length=2'], /--assume: expected NAME=VALUE/],
    [['ruscarl', '--gpus', 'H100:8', '--model', 'Nobody-7B'], /--model: expected a folder with config.json/],
    [['ruscarl', '--gpus', 'H100:8', '--model', 'Qwen3-30B-A3B'], /expected a dense model/],
    [['ruscarl', '--check', 'runs/a'], /--check: expected a run alone/],
    [['--check', 'runs/a', '--set', 'steps=2'], /--set: has no effect beside --check/],
    [['ruscarl', '--gpus', 'here', '--judge-rate', '9'], /--judge-rate: has no effect beside --gpus here/],
    [['ruscarl', '--gpus', 'H100:8', '--engine', 'e.json'], /--engine: has no effect beside GPUs/],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await cli(['plan', ...args])
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })

  it('says of a recipe without such steps what to do', async () => {
    const { code, err } = await cli(['plan', 'learned-verifier', '--gpus', 'H100:8'])
    expect(code).toBe(1)
    expect(err).toMatch(/expected|labels/)
  })
})

describe('gradus plan of this machine', { timeout: SLOW_MS }, () => {
  const SPEED = {
    ...{
      threads: 2,
      engines: 1,
      recompute: false,
      parameters: 250_000,
      trainGflops: 100,
      groupTrainGflops: 80,
      optimizerMsPerMillionParams: 1,
    },
    decodeTokensPerSecond: { 1: 1000, 8: 6000, 32: 15_000, 128: 25_000 },
    sharedPromptTokensPerSecond: { '4x8': 16_000, '16x8': 30_000 },
    raggedDecode: { prompts: 16, samples: 128, seconds: 0.3, tokens: 3000, longest: 80 },
    workload: { layers: 2, hiddenSize: 96, queryWidth: 96, promptTokens: 16, newTokens: 80, sequence: 96 },
  }
  const engine = join(sandbox.dir, 'bench.json')
  writeFileSync(engine, JSON.stringify(SPEED))

  it('goes by a file of the benchmark', async () => {
    const { usual, steps } = await json('plan', 'ruscarl', '--gpus', 'here', '--engine', engine)
    expect(steps).toBe(120)
    expect(usual.step).toBeCloseTo(usual.sampling + usual.update, 9)
    expect(usual.sampling).toBeGreaterThan(0)
    const { out } = await cli(['plan', 'ruscarl', '--gpus', 'here', '--engine', engine])
    expect(out).toMatch(/on {11}this machine: 2 threads, learning from groups at 80 GFLOP\/s/)
  })

  it('says among how many engines the threads of a file were divided', async () => {
    const two = join(sandbox.dir, 'two-engines.json')
    writeFileSync(two, JSON.stringify({ ...SPEED, engines: 2 }))
    const { out } = await cli(['plan', 'ruscarl', '--gpus', 'here', '--engine', two])
    expect(out).toMatch(/this machine: 2 threads in 2 engines, learning/)
  })

  it('measures with as many engines as the run would have', () => {
    const small = wordModel(LOGIC_VOCABULARY)(rubricAsRewardSchema.parse({}).model.shape)
    const [known, large] = [{ shape: small }, { shape: { ...small, layers: 200 } }]
    expect(measuredEngines({}, known)).toBe(2)
    expect(measuredEngines({ threads: 1 }, known)).toBe(1)
    // What is measured in its place may be small.
    expect(measuredEngines({}, large)).toBe(1)
    expect(measuredEngines({ engines: 3 }, large)).toBe(3)
    expect(measuredEngines({ sampler: {} }, known)).toBe(1)
    const unknown = { shape: null }
    expect(measuredEngines({}, unknown)).toBeUndefined()
    expect(measuredEngines({ engines: 3 }, unknown)).toBe(3)
    expect(measuredEngines({ sampler: {} }, unknown)).toBe(1)
  })

  it('takes measurements for what they were measured with', async () => {
    const other = join(sandbox.dir, 'recomputed.json')
    writeFileSync(other, JSON.stringify({ ...SPEED, recompute: true }))
    const update = async (file: string, ...more: string[]) =>
      (await json('plan', 'ruscarl', '--gpus', 'here', '--engine', file, ...more)).usual.update
    const set = ['--set', 'policy.recompute=true']
    // Four passes where three are measured, three where four are, and as measured.
    expect(await update(engine, ...set)).toBeGreaterThan(await update(engine))
    expect(await update(other)).toBeLessThan(await update(engine))
    expect(await update(other, ...set)).toBeCloseTo(await update(engine), 9)
  })

  it('says what a damaged file lacks', async () => {
    const broken = join(sandbox.dir, 'broken.json')
    writeFileSync(broken, '{"threads": 2}')
    const { code, err } = await cli(['plan', 'ruscarl', '--gpus', 'here', '--engine', broken])
    expect(code).toBe(1)
    expect(err).toMatch(/broken\.json/)
    const { err: gone } = await cli([
      'plan',
      'ruscarl',
      '--gpus',
      'here',
      '--engine',
      join(sandbox.dir, 'none.json'),
    ])
    expect(gone).toMatch(/none\.json/)
  })

  it('compares a run with its plan', async () => {
    const run = join(sandbox.dir, 'run')
    const settings = [
      'steps=3',
      'policy.threads=1',
      'evaluation.problems=2',
      'evaluation.every=0',
      'rollout.prompts=2',
    ]
    const set = settings.flatMap(setting => ['--set', setting])
    await cli(['train', 'ruscarl', '--quiet', '--out', run, ...set])
    const check = await json('plan', '--check', run, '--engine', engine)
    expect(check).toMatchObject({ recipe: 'ruscarl', steps: 2, grading: { planned: null } })
    expect(check.sampling.ratio).toBeCloseTo(check.sampling.planned / check.sampling.measured, 9)
    expect(check.lengths.policy.newTokens).toBeGreaterThan(0)
    const { code, out } = await cli(['plan', '--check', run, '--engine', engine])
    expect(code).toBe(0)
    expect(out).toMatch(/^ {2}sampling {5}planned [\d.e-]+ s, measured [\d.e-]+ s: [\d.e-]+ of it$/m)
  })
})
