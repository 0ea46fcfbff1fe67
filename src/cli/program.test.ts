import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { meantBy, RECIPES_BY_NAME } from '../recipes/by-name.ts'
import { RECIPES } from '../recipes/index.ts'
import { readEvals } from '../runs/readers.ts'
import { generateLogicProblems } from '../tasks/logic/generator.ts'
import { toLogicLmRow } from '../tasks/logic/loaders.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { cli, Sandbox, SLOW_MS, tinyColdStart, tinyModel, tinyReinforcement } from './cli.fixture.ts'

const sandbox = new Sandbox()
let model: string
let data: string
beforeAll(async () => {
  model = await tinyModel(sandbox)
  const rows = generateLogicProblems(4, { hops: 1 }, 'program').map(toLogicLmRow)
  data = sandbox.write('data.jsonl', rows.map(row => `${JSON.stringify(row)}\n`).join(''))
}, SLOW_MS)
afterAll(() => sandbox.remove())

describe('help', { timeout: SLOW_MS }, () => {
  it('lists every command, and every recipe with its presets', async () => {
    const root = await cli(['--help'])
    expect(root.code).toBe(0)
    const byDefault = RECIPES_BY_NAME['rubric-as-reward']?.presets[0]
    expect(root.out).toContain(`gradus report runs/rubric-as-reward-${byDefault}-seed1`)
    for (const name of ['train', 'eval', 'sample', 'verify', 'report', 'compare', 'bench'])
      expect(root.out).toMatch(new RegExp(`^  ${name}`, 'm'))
    const { out } = await cli(['train', '--help'])
    const listed = Object.entries(RECIPES_BY_NAME)
    for (const [name, { presets }] of listed)
      expect(out.replaceAll(' (default)', '')).toMatch(
        new RegExp(`^ {2}${name} +${presets.join(', ')}$`, 'm'),
      )
    const meant = listed.flatMap(([name, { presets }]) => presets.map(preset => meantBy(name, preset)))
    for (const { name, presets } of Object.values(RECIPES))
      for (const preset of Object.keys(presets)) expect(meant).toContainEqual({ recipe: name, preset })
  })

  it('prints the version of package.json', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect((await cli(['--version'])).out).toBe(`${version}\n`)
  })
})

describe('gradus sample', { timeout: SLOW_MS }, () => {
  const sample = async (...args: string[]) => {
    const { code, out, err } = await cli(['sample', '--json', ...args])
    expect(err).toBe('')
    expect(code).toBe(0)
    return JSON.parse(out)
  }

  it('prints tokens, log-probs, text and why it ended', async () => {
    const prompt =
      'Every wumpus is red. Stella is a wumpus. Is the following statement true or false? Stella is red.'
    const args = ['--model', model, '--max-tokens', '6', '--seed', '3']
    const result = await sample(...args, '--prompt', prompt)
    expect(Object.keys(result)).toEqual(['tokens', 'logprobs', 'text', 'finishReason'])
    expect(result.tokens.length).toBe(result.logprobs.length)
    expect(result.text).toBeTypeOf('string')
    expect(await sample(...args, '--prompt', prompt)).toEqual(result)
  })

  const stories = sharedData('models/stories260K')
  it.skipIf(stories === null)('continues stories260K token by token as its reference does', async () => {
    const { ids } = JSON.parse(readFileSync(`${stories}/expected.json`, 'utf8'))
    const args = ['--prompt-tokens', '1', '--temperature', '0', '--max-tokens', '20']
    const result = await sample('--model', stories!, ...args)
    expect(ids[0]).toBe(1)
    expect(result.tokens).toEqual(ids.slice(1, 21))
    expect(result).toMatchObject({ text: null, finishReason: 'length' })
  })
})

describe('gradus eval', { timeout: SLOW_MS }, () => {
  it('prints the agreed fields and answers thresholds by exit code 100', async () => {
    const args = ['eval', '--task', 'logic', '--model', model, '--data', data, '--max-tokens', '32', '--json']
    const { code, out } = await cli(args)
    expect(code).toBe(0)
    const result = JSON.parse(out)
    expect(result).toMatchObject({ n: 4, primary: 'correctAndProved' })
    const names = ['correctAndProved', 'accuracy', 'correctAndValid', 'validProofs']
    expect(Object.keys(result.scores)).toEqual(names)
    expect(Object.keys(result.criteria)).toEqual(['C1', 'C2', 'C3', 'C4', 'C5'])
    expect(Object.keys(result.byLabel)).toEqual(['True', 'False'])
    expect(Object.keys(result.balance)).toEqual(['macroRecall', 'minClassRecall', 'predicted', 'trueBias'])
    const unique = await cli([...args, '--unique-names', '--solver-timeout-ms', '1000'])
    expect(JSON.parse(unique.out).criteria).toEqual(result.criteria)
    const hasty = await cli([...args, '--solver-timeout-ms', '0'])
    expect([hasty.code, hasty.err]).toEqual([2, expect.stringContaining('--solver-timeout-ms <ms>')])
    const low = await cli([...args, '--min-valid-proofs', '0.9'])
    expect(low.code).toBe(100)
    expect(low.err).toBe('validProofs: expected at least 0.9, got 0.0000\n')
    const named = ['--min-score', 'correctAndProved=0.5', '--min-score', 'validProofs=0']
    const below = await cli([...args, ...named])
    expect([below.code, below.err]).toEqual([100, 'correctAndProved: expected at least 0.5, got 0.0000\n'])
  })

  it('tells the metrics of several files apart, and names rows that it cannot read', async () => {
    const rows = readFileSync(data, 'utf8').trim().split('\n')
    const odd = JSON.stringify({ ...JSON.parse(rows[0]), id: 'odd', context: 'Alas! Wherefore art thou.' })
    const second = join(dirname(data), 'second.jsonl')
    writeFileSync(second, `${rows[0]}\n${odd}\n`)
    const args = ['eval', '--task', 'logic', '--model', model, '--data', data, second]
    const { code, out, err } = await cli([...args, '--json'])
    expect(code).toBe(0)
    expect(err).toContain(`${second}: 1 row left out: odd (context, sentence 1`)
    const { n, bySource, data: files } = JSON.parse(out)
    expect([n, files]).toEqual([5, `${data}, ${second}`])
    expect(
      Object.entries(bySource as Record<string, { n: number }>).map(([name, own]) => [name, own.n]),
    ).toEqual([
      [data, 4],
      [second, 1],
    ])
    expect(Object.keys(bySource[data])).toEqual(['n', 'scores', 'criteria', 'byLabel'])
    const text = (await cli(args)).out
    expect(text).toContain(`${second}, 1 problem: correct and proved`)
    expect(text).toContain('answers to      True')
  })

  it('puts the sentences of each row in another order, the same for the same seed', async () => {
    const evaluated = async (...more: string[]) => {
      const args = ['eval', '--task', 'logic', '--model', 'models/logic-start', '--data', data, '--json']
      const { code, out } = await cli([...args, ...more])
      expect(code).toBe(0)
      return JSON.parse(out)
    }
    const plain = await evaluated()
    const [once, again] = [await evaluated('--shuffle', '3'), await evaluated('--shuffle', '3')]
    expect(once).toEqual(again)
    expect(once).toMatchObject({ data: `${data}, sentences shuffled by 3`, n: plain.n })
    expect(plain.data).toBe(data)
    expect(once.scores).toHaveProperty('correctAndProved')
    const labels = (row: { byLabel: Record<string, { n: number }> }) =>
      Object.entries(row.byLabel).map(([label, { n }]) => [label, n])
    expect(labels(once)).toEqual(labels(plain))
    // Cues that go by the order of sentences answer otherwise; the others are what they were.
    const last = 'last mention of the queried adjective'
    expect(once.baselines['query negation']).toEqual(plain.baselines['query negation'])
    expect(once.baselines).toHaveProperty(last)
  })

  it('takes generated problems in place of a file, those that training never sees', async () => {
    const evaluated = async (...more: string[]) =>
      cli(['eval', '--task', 'logic', '--model', model, '--generated', 'shortcut-free', ...more])
    const { code, out } = await evaluated('--hops', '2', '--limit', '3', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ data: 'shortcut-free, 2 hops', n: 3, samples: 1, temperature: 0 })
    expect((await evaluated('--data', data)).err).toContain(
      '--data: expected a file or generated problems, got both',
    )
    expect((await evaluated('--hops', '17')).err).toContain('hops: expected a number of at most 16, got 17')
    const without = ['eval', '--task', 'logic', '--model', model]
    expect(await cli(without)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--generated shortcut-free'),
    })
    expect((await cli([...without, '--data', data, '--hops', '2'])).err).toContain('--hops: has no effect')
  })

  it.each([
    ['correctAndProven=0.5', /expected the name of a score, got correctAndProven/],
    ['accuracy', /Expected NAME=SHARE/],
    ['accuracy=2', /Expected a number from 0 to 1/],
  ])('refuses --min-score %s before it evaluates', async (value, message) => {
    const args = ['eval', '--task', 'logic', '--model', model, '--data', data, '--min-score', value]
    const { code, err } = await cli(args)
    expect(code).toBe(2)
    expect(err).toMatch(message)
  })
})

describe('gradus train', { timeout: SLOW_MS }, () => {
  it('plans without running', async () => {
    const { code, out } = await cli(['train', 'rubric-as-reward', '--preset', 'paper', '--dry-run', '--json'])
    expect(code).toBe(0)
    const plan = JSON.parse(out)
    // Qwen2.5-3B has 3,085,938,688 parameters; LoRA of rank 32 on all seven projections adds 59,867,136.
    expect(plan).toMatchObject({
      steps: 250,
      rolloutsPerStep: 64,
      parameters: 3_145_805_824,
      trainedParameters: 59_867_136,
    })
    expect(plan.config).toMatchObject({ condition: 'rubric', optimizer: { learningRate: { peak: 5e-6 } } })
    expect(plan.memoryBytes.weights).toBeGreaterThan(4 * 3.0e9)
  })

  it('sums up before and after with the time by stage, also as JSON; report and compare read the run', async () => {
    const file = sandbox.write('rl.yaml', tinyReinforcement(model, 2))
    const run = sandbox.path('run')
    const { code, out, err } = await cli(['train', file, '--out', run])
    expect(code).toBe(0)
    expect(out).toMatch(/train-distribution\n[\s\S]* Correct and proved +Answers right .*\nBefore .* 4\n/)
    expect(out).toMatch(/Criterion .*Change\nC1 answer .*(?:\nC\d .*){4}/)
    expect(out).toMatch(/mean step .*sampling .*grading .*update .*rest/)
    expect(out).toContain('checkpoints/step-000002')
    expect(err).toMatch(/reinforcement 2\/2/)

    const cold = sandbox.write('cs.yaml', tinyColdStart(2))
    const json = JSON.parse((await cli(['train', cold, '--out', sandbox.path('cs'), '--json'])).out)
    expect(json).toMatchObject({
      step: 2,
      finished: true,
      resume: null,
      sets: [{ set: '1 hop', before: null }],
    })
    expect(json.time.stages.rest.share).toBeLessThan(0.5)

    const [, last] = readEvals(run)
    expect(last.tax?.C4).toMatchObject({ n: 4, unseen: true, before: expect.any(Number) })

    expect((await cli(['report', run])).out).toContain('report.html')
    const { report } = JSON.parse((await cli(['report', run, '--json'])).out)
    expect(report).toBe(`${run}/report.html`)
    const compared = await cli(['compare', run, sandbox.path('cs'), '--json'])
    expect(JSON.parse(compared.out)).toMatchObject({ a: { steps: 2 }, b: { steps: 2 } })
    expect((await cli(['report', sandbox.path('nothing')])).code).toBe(1)
  })
})
