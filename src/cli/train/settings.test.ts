import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { RECIPES } from '../../recipes/index.ts'
import { parseSetting, resolveAmong, type SettingsRequest } from './settings.ts'

const resolveSettings = (request: SettingsRequest) => resolveAmong(RECIPES, request)

const dir = mkdtempSync(join(tmpdir(), 'gradus-settings-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const file = (text: string) => {
  const path = join(dir, 'mine.yaml')
  writeFileSync(path, text)
  return path
}

describe('settings', () => {
  it('lays preset over defaults, file over preset, --set over all', () => {
    const target = file('recipe: rubric-as-reward\nsteps: 7\nrollout:\n  samples: 5\n')
    const set = ['rollout.prompts=3', 'optimizer.learningRate.peak=1e-4', 'condition=hybrid']
    const { config, name, preset } = resolveSettings({ target, preset: 'paper', set })
    expect(config).toMatchObject({
      steps: 7,
      condition: 'hybrid',
      rollout: { prompts: 3, samples: 5, maxTokens: 512, temperature: 1 },
      optimizer: { learningRate: { peak: 1e-4, kind: 'constant' }, beta1: 0.9 },
    })
    expect([name, preset]).toEqual(['mine', 'paper'])
  })

  it('has a policy of a kind that there is', () => {
    expect(() => resolveSettings({ target: 'rubric-as-reward', set: ['policy.kind=elsewhere'] })).toThrow(
      /policy\.kind: expected one of local, tinker, got "elsewhere"/,
    )
    expect(() => resolveSettings({ target: 'rubric-as-reward', set: ['engine.threads=1'] })).toThrow(/engine/)
  })

  it('has a policy on a server by --set alone, over presets with settings of this process', () => {
    const set = ['policy.kind=tinker', 'policy.url=http://127.0.0.1:8000', 'policy.model=Qwen/Qwen3-8B']
    const usual = {
      ...{ kind: 'tinker', url: 'http://127.0.0.1:8000', model: 'Qwen/Qwen3-8B' },
      lora: { rank: 32, attention: true, mlp: true, unembed: true },
      ...{ tokenizer: null, apiKeyEnv: null, concurrency: 32, patienceMinutes: 15, prices: null },
      ...{ sampler: null, download: 'last' },
    }
    for (const [target, preset] of [
      ['rubric-as-reward', 'paper'],
      ['ruscarl', 'paper'],
      ['rlcer', 'paper'],
      ['rit', 'quick'],
      ['rubricem', 'research'],
      ['sft', 'paper'],
    ])
      expect(resolveSettings({ target, preset, set }).config.policy, target).toEqual(usual)
    const written = file(`recipe: ruscarl\npolicy: ${JSON.stringify(usual)}\n`)
    const { config } = resolveSettings({ target: written, set: ['policy.lora.rank=8'] })
    expect(config.policy).toEqual({ ...usual, lora: { ...usual.lora, rank: 8 } })
  })

  it.each<[string, string[], RegExp]>([
    ['no model', ['policy.kind=tinker', 'policy.url=http://a:1'], /policy\.model: expected a string/],
    ['no address', ['policy.kind=tinker', 'policy.model=m'], /policy\.url: expected a string/],
    [
      'an address with a password',
      ['policy.kind=tinker', 'policy.model=m', 'policy.url=http://me:secret@a:1'],
      /policy\.url: expected an address such as http:\/\/127\.0\.0\.1:8000, without a key/,
    ],
    [
      'settings of this process',
      ['policy.kind=tinker', 'policy.model=m', 'policy.url=http://a:1', 'policy.threads=2'],
      /policy\.threads: .*it belongs to policy\.kind: local/,
    ],
    ['settings of a server', ['policy.url=http://a:1'], /policy\.url: .*it belongs to policy\.kind: tinker/],
  ])('refuses a policy on a server with %s', (_, set, message) => {
    expect(() => resolveSettings({ target: 'ruscarl', set })).toThrow(message)
  })

  it('trains fresh weights and value heads in this process alone, and says so', () => {
    const set = ['policy.kind=tinker', 'policy.url=http://a:1', 'policy.model=m']
    for (const target of Object.keys(RECIPES).filter(name => /start|verifier/.test(name)))
      expect(() => resolveSettings({ target, set }), target).toThrow(
        /policy\.kind: expected local: what begins with fresh weights.*is trained in this process/,
      )
  })

  it('changes a value of one of several kinds key by key where a file names the kind that is there, and replaces it where it names another', () => {
    const taskOf = (text: string) =>
      resolveSettings({ target: file(`recipe: rubricem\ntask: ${text}\n`), preset: 'research' }).config.task
    const own = { kind: 'research', file: 'mine.jsonl', maxPromptTokens: 6144, maxTokens: 10_240 }
    expect(taskOf('{ file: mine.jsonl }')).toMatchObject(own)
    expect(taskOf('{ kind: research, file: mine.jsonl }')).toMatchObject(own)
    expect(taskOf('{ kind: records, calls: 3 }')).toEqual({
      ...{ kind: 'records', calls: 3, pool: null },
      hops: { min: 2, max: 4 },
    })
  })

  it('takes the name of a start for the preset of sft that it is, also in a file', () => {
    const start = { preset: 'arithmetic-cold-start', config: { recipe: 'sft', batch: 64, steps: 7000 } }
    for (const preset of [undefined, 'start'])
      expect(resolveSettings({ target: 'arithmetic-cold-start', preset })).toMatchObject({
        ...start,
        name: 'arithmetic-cold-start-start',
      })
    const mine = file('recipe: arithmetic-cold-start\ntask: { hinted: 0.25 }\n')
    expect(resolveSettings({ target: mine })).toMatchObject({ ...start, name: 'mine' })
    expect(resolveSettings({ target: mine }).config.task).toMatchObject({ kind: 'arithmetic', hinted: 0.25 })
    // Else rows of a file would be learnt in place of arithmetic.
    for (const target of ['arithmetic-cold-start', mine])
      expect(() => resolveSettings({ target, preset: 'paper' })).toThrow(
        /expected start with arithmetic-cold-start, got "paper"; .* gradus train sft --preset paper/,
      )
    expect(() => resolveSettings({ target: 'arithmetic-cold-start', preset: 'full' })).toThrow(
      /--preset: expected start with arithmetic-cold-start, got "full"; leave it out$/,
    )
  })

  it('takes the first preset for a bare recipe and none for a file', () => {
    expect(resolveSettings({ target: 'rubric-as-reward' })).toMatchObject({
      preset: 'longer',
      name: 'rubric-as-reward-longer',
    })
    expect(resolveSettings({ target: file('recipe: rubric-as-reward') }).preset).toBeUndefined()
  })

  it('changes a loss key by key, whether it is spelled out or named', () => {
    const lossOf = (text: string, set: string[]) =>
      resolveSettings({ target: file(`recipe: rubric-as-reward\n${text}`), set }).config.loss
    const clipped = { policy: { clipHigh: 0.28, clipLow: 0.2 } }
    expect(lossOf('', ['loss.policy.clipHigh=0.28'])).toMatchObject({
      ...clipped,
      kl: { kind: 'k3', coef: 0.04 },
    })
    expect(lossOf('loss: trl:dapo', ['loss.policy.clipHigh=0.28'])).toMatchObject({
      ...clipped,
      aggregation: { mode: 'token-mean' },
    })
    expect(lossOf('loss: { preset: trl:dapo, policy: { clipHigh: 0.28 } }', [])).toMatchObject(clipped)
  })

  it('replaces maps and lists instead of merging them', () => {
    const text = 'recipe: rubric-as-reward\ntask: { hops: { 1: 0.5, 2: 0.5 } }\n'
    const { config } = resolveSettings({ target: file(text), set: ['task.hops={5: 1}'] })
    expect(config.task).toMatchObject({ hops: { 5: 1 }, style: 'real' })
  })

  it('changes one key after another of a value that is one of several kinds', () => {
    const verifierOf = (set: string[], text = 'recipe: rlcer\n') =>
      resolveSettings({ target: file(text), set }).config.verifier
    const endpoint = '[{url: "http://127.0.0.1:8000/v1", model: m}]'
    const one = ['verifier.kind=judge', `verifier.judge.fleet.endpoints=${endpoint}`]
    const judge = { kind: 'judge', judge: { fleet: { endpoints: [{ model: 'm' }] } } }
    expect(verifierOf(one)).toMatchObject(judge)
    expect(verifierOf(one.toReversed())).toMatchObject(judge)
    expect(
      verifierOf(['verifier.folder=b'], 'recipe: rlcer\nverifier: { kind: learned, folder: a }\n'),
    ).toMatchObject({
      kind: 'learned',
      folder: 'b',
    })
    expect(
      verifierOf(['verifier.kind=exact'], 'recipe: rlcer\nverifier: { kind: learned, folder: a }\n'),
    ).toEqual({ kind: 'exact' })
  })

  it('changes it so as well where neither names its kind', () => {
    const set = ['policy={"threads":1}', 'policy={"microBatchTokens":512}']
    expect(resolveSettings({ target: 'ruscarl', set }).config.policy).toMatchObject({
      ...{ kind: 'local', threads: 1, microBatchTokens: 512 },
    })
  })

  it('says where a preset is named to who writes one into a file', () => {
    expect(() => resolveSettings({ target: file('recipe: rubricem\npreset: research\n') })).toThrow(
      /: preset: expected a setting of rubricem, got the name of a preset.*give --preset research beside the file/,
    )
    expect(() => resolveSettings({ target: 'rubricem', set: ['preset=paper'] })).toThrow(
      /give --preset paper/,
    )
  })

  it('says where rows lie that are looked for from another folder', () => {
    const target = file('recipe: ruscarl\ntask: { kind: conversations, file: rows.jsonl, holdOut: 5 }\n')
    expect(resolveSettings({ target }).config.task).toMatchObject({ file: 'rows.jsonl' })
    writeFileSync(join(dir, 'rows.jsonl'), '')
    expect(() => resolveSettings({ target })).toThrow(
      `${target}: task.file: expected a file as seen from the working directory, got rows.jsonl, which is not there but lies in ${dir}`,
    )
    const elsewhere = [`task.file=${JSON.stringify(join(dir, 'rows.jsonl'))}`, 'task.testFile=rows.jsonl']
    expect(() => resolveSettings({ target, set: elsewhere })).toThrow(
      /task\.testFile: expected a file as seen/,
    )
    expect(resolveSettings({ target, set: elsewhere.slice(0, 1) }).config.steps).toBeGreaterThan(0)
    expect(resolveSettings({ target, set: ['task.kind=packing'] }).config.task).toEqual({
      kind: 'packing',
      world: 'packing',
    })
  })

  it('reads values of --set as YAML', () => {
    expect(parseSetting('a.b=2')).toEqual({ a: { b: 2 } })
    expect(parseSetting('a=null')).toEqual({ a: null })
    expect(parseSetting('a=[1, x]')).toEqual({ a: [1, 'x'] })
    expect(parseSetting('a=b=c')).toEqual({ a: 'b=c' })
  })

  it('has presets that are valid by their own schema and can be planned', () => {
    for (const { name, presets } of Object.values(RECIPES)) {
      for (const preset of Object.keys(presets)) {
        const { entry, config } = resolveSettings({ target: name, preset })
        expect(entry.plan(config).lines.length).toBeGreaterThan(2)
      }
    }
  })
})
