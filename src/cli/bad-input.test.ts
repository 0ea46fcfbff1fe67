import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadCheckpoint } from '../model/checkpoint.ts'
import { readMetrics } from '../runs/index.ts'
import { generateLogicProblems } from '../tasks/logic/generator.ts'
import { toLogicLmRow } from '../tasks/logic/loaders.ts'
import { cli, Sandbox, SLOW_MS, tinyColdStart, tinyModel, tinyReinforcement } from './cli.fixture.ts'

const sandbox = new Sandbox()
let model: string
let data: string
beforeAll(async () => {
  model = await tinyModel(sandbox)
  const rows = generateLogicProblems(3, { hops: 1 }, 'bad input').map(toLogicLmRow)
  data = sandbox.write('data.jsonl', rows.map(row => `${JSON.stringify(row)}\n`).join(''))
}, SLOW_MS)
afterAll(() => sandbox.remove())

/** A copy of the model with one file changed. */
const spoilt = (name: string, change: (folder: string) => void): string => {
  const folder = sandbox.path(name)
  cpSync(model, folder, { recursive: true })
  change(folder)
  return folder
}

const editJson = (path: string, change: (value: Record<string, unknown>) => void) => {
  const value = JSON.parse(readFileSync(path, 'utf8'))
  change(value)
  writeFileSync(path, JSON.stringify(value))
}

/** Expects one clean message, the right exit code, nothing on stdout, and no run folder left behind. */
const refuses = async (args: string[], code: number, ...messages: (string | RegExp)[]) => {
  const run = sandbox.path('refused')
  const training = args[0] === 'train' && !args.includes('--out')
  const result = await cli(training ? [...args, '--out', run, '--quiet'] : args)
  expect(result.err).toMatch(/^gradus: /)
  expect(result.err).not.toMatch(/\n +at /)
  for (const message of messages) expect(result.err).toMatch(message)
  expect(result.code).toBe(code)
  expect(result.out).toBe('')
  expect(existsSync(run)).toBe(false)
}

describe('settings', { timeout: SLOW_MS }, () => {
  it('refuses an unknown key in a file, naming file, path and the likely word', async () => {
    const file = sandbox.write('typo.yaml', tinyColdStart(2, { optimizer: { learningRat: 1 } }))
    await refuses(['train', file], 1, file, 'optimizer.learningRat', 'did you mean learningRate?')
  })

  it('refuses an unknown key on the command line as a usage error', async () => {
    const file = sandbox.write('fine.yaml', tinyColdStart(2))
    await refuses(['train', file, '--set', 'stepz=3'], 2, '--set: stepz', 'did you mean steps?')
    await refuses(['train', file, '--set', 'steps'], 2, '--set steps: expected key=value')
    await refuses(['train', file, '--set', '__proto__.x=1'], 2, 'expected key=value')
    const serve = ['serve', 'chat', '--model', model, '--limit', 'bodyBites=1', '--limit', 'requests=0']
    await refuses(serve, 2, '--limit: requests: expected', /^--limit: bodyBites: expected .* bodyBytes\?$/m)
  })

  it('refuses wrong types and impossible values', async () => {
    const file = sandbox.write('types.yaml', tinyColdStart(2, { steps: 'many', batch: 0 }))
    await refuses(['train', file], 1, /types.yaml: steps: expected a number, got "many"/, /batch: expected/)
    await refuses(['train', 'logic-cold-start', '--set', 'seed=held-out:test'], 1, 'names held-out problems')
    await refuses(['train', 'logic-cold-start', '--set', 'model.shape.heads=5'], 1, 'model.shape')
  })

  it('refuses a file that is not YAML, names no recipe, or is not there', async () => {
    await refuses(['train', sandbox.write('broken.yaml', 'recipe: x\nsteps: [1,\n')], 1, /broken\.yaml:\d/)
    await refuses(
      ['train', sandbox.write('nameless.yaml', 'steps: 3\n')],
      1,
      'nameless.yaml: recipe',
      'expected one of',
    )
    await refuses(['train', sandbox.path('absent.yaml')], 1, 'no such file')
    await refuses(['train', 'rubric-as-rewards'], 2, 'did you mean rubric-as-reward?')
    await refuses(['train', 'rubric-as-reward', '--preset', 'quik'], 2, 'did you mean quick?')
  })

  it("answers commander's own errors with exit code 2", async () => {
    for (const args of [['trane'], ['train'], ['sample', '--model', 'x', '--max-tokens', 'many'], []]) {
      expect((await cli(args)).code).toBe(2)
    }
    expect((await cli(['sample', '--model', model])).code).toBe(2)
  })
})

describe('checkpoints', { timeout: SLOW_MS }, () => {
  const commands = (folder: string) => [
    ['train', sandbox.write('rl.yaml', tinyReinforcement(folder, 2))],
    ['eval', '--task', 'logic', '--model', folder, '--data', data],
    ['sample', '--model', folder, '--prompt-tokens', '1,2'],
  ]

  it('refuses one that is missing', async () => {
    for (const args of commands(sandbox.path('nowhere'))) await refuses(args, 1, 'nowhere holds no model')
    const { recipe, steps } = { recipe: 'rubric-as-reward', steps: 1 }
    await refuses(
      ['train', sandbox.write('none.yaml', { recipe, steps })],
      1,
      'model.folder: expected a checkpoint',
    )
  })

  it('refuses a run in place of one of its checkpoints, and names the latest', async () => {
    const run = sandbox.path('a-run')
    mkdirSync(join(run, 'checkpoints', 'step-000007'), { recursive: true })
    writeFileSync(join(run, 'config.json'), '{}')
    writeFileSync(join(run, 'checkpoints', 'latest'), 'step-000007')
    for (const args of commands(run)) await refuses(args, 1, join(run, 'checkpoints', 'step-000007'))
  })

  it('refuses a model of other words than those of packing', async () => {
    const args = [
      'train',
      'ruscarl',
      '--set',
      `model.folder=${model}`,
      '--out',
      sandbox.path('packing'),
      '--quiet',
    ]
    await refuses(args, 1, "expected a model of the packing task's")
    expect(existsSync(sandbox.path('packing'))).toBe(false)
  })

  it('refuses one that is cut short', async () => {
    const folder = spoilt('truncated', at => truncateSync(join(at, 'model.safetensors'), 5000))
    for (const args of commands(folder)) await refuses(args, 1, 'model.safetensors')
  })

  it('refuses a tokenizer that does not fit the model', async () => {
    const folder = spoilt('misfit', at =>
      editJson(join(at, 'tokenizer.json'), json => {
        const { vocab } = json.model as { vocab: Record<string, number> }
        vocab.surplus = 5000
      }),
    )
    for (const args of commands(folder)) await refuses(args, 1, 'ids go up to 5000')
    const foreign = spoilt('foreign', at =>
      editJson(join(at, 'tokenizer.json'), json => {
        const { vocab } = json.model as { vocab: Record<string, number> }
        delete vocab['\nquestion:']
      }),
    )
    await refuses(commands(foreign)[0], 1, "not the logic task's word list")
  })
})

describe('problems and sequences', { timeout: SLOW_MS }, () => {
  it('refuses sequences longer than the context', async () => {
    await refuses(
      ['sample', '--model', model, '--prompt-tokens', '1', '--max-tokens', '500'],
      1,
      'exceed the context of 256',
    )
    const settings = tinyReinforcement(model, 2, { rollout: { prompts: 2, samples: 2, maxTokens: 300 } })
    await refuses(['train', sandbox.write('long.yaml', settings)], 1, 'exceed the context of 256')
  })

  it('names file and line of a data row that it cannot read', async () => {
    const file = sandbox.write('rows.jsonl', `${readFileSync(data, 'utf8')}{"id": 1}\n`)
    await refuses(['eval', '--task', 'logic', '--model', model, '--data', file], 1, 'rows.jsonl:4')
    await refuses(
      ['eval', '--task', 'logic', '--model', model, '--data', sandbox.path('no.jsonl')],
      1,
      'cannot be read',
    )
    const empty = sandbox.write('empty.jsonl', '')
    await refuses(['eval', '--task', 'logic', '--model', model, '--data', empty], 1, 'holds no problems')
  })

  it('takes rollouts without an answer and steps that cannot be read as data', async () => {
    const file = sandbox.write('unread.yaml', tinyReinforcement(model, 1))
    expect((await cli(['train', file, '--out', sandbox.path('unread'), '--quiet'])).code).toBe(0)
    const [row] = readMetrics(sandbox.path('unread'))
    expect(row.answered).toBeLessThan(1)
    expect(row.accuracy).toBeTypeOf('number')
    const evaluated = await cli(['eval', '--task', 'logic', '--model', model, '--data', data, '--json'])
    expect(evaluated.code).toBe(0)
    expect(JSON.parse(evaluated.out)).toMatchObject({
      n: 3,
      scores: { validProofs: { value: 0 } },
      criteria: { C2: { value: 0 } },
    })
  })
})

describe('failures on the way', { timeout: SLOW_MS }, () => {
  it('stops at a loss that is not finite and keeps the checkpoint before it', async () => {
    const settings = tinyColdStart(6, {
      optimizer: { learningRate: { peak: 1e30 }, maxGradNorm: 0 },
      checkpoint: { every: 1 },
    })
    const run = sandbox.path('nan')
    const { code, err } = await cli(['train', sandbox.write('nan.yaml', settings), '--out', run, '--quiet'])
    expect(code).toBe(1)
    expect(err).toMatch(/^gradus: .*no weight was changed/s)
    const rows = readMetrics(run)
    expect(rows.length).toBeLessThan(6)
    expect(loadCheckpoint(join(run, 'checkpoints', `step-00000${rows.length}`)).weights.size).toBeGreaterThan(
      0,
    )
    expect(readFileSync(join(run, 'events.jsonl'), 'utf8')).toContain('no weight was changed')
  })

  it.skipIf(process.platform === 'win32')(
    'keeps the good checkpoint when the next cannot be written',
    async () => {
      const file = sandbox.write('full.yaml', tinyColdStart(3, { checkpoint: { every: 1 } }))
      const run = sandbox.path('full')
      const stopped = await cli(['train', file, '--out', run], {
        onProgress: (err, interrupt) => {
          if (err.includes('supervised 1/3') && !err.includes('stopping')) interrupt()
        },
      })
      expect(stopped.code).toBe(130)
      // A limit on file size stands in for a full disk: the write of the weights fails half-way.
      const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
      const command = `trap '' XFSZ; ulimit -f 16; exec "${process.execPath}" "${main}" train "${file}" --out "${run}" --resume --quiet`
      const failed = spawnSync('bash', ['-c', command], { encoding: 'utf8' })
      expect(failed.stderr).toMatch(/^gradus: .*EFBIG.*intact|^gradus: .*EFBIG.*unchanged/s)
      expect(failed.status).toBe(1)
      expect(readdirSync(join(run, 'checkpoints')).sort()).toEqual(['latest', 'step-000001'])
      expect(loadCheckpoint(join(run, 'checkpoints', 'step-000001')).weights.size).toBeGreaterThan(0)
      expect((await cli(['train', file, '--out', run, '--resume', '--quiet'])).code).toBe(0)
      expect(readMetrics(run).map(row => row.step)).toEqual([1, 2, 3])
    },
  )

  it('says so when there is nothing to resume', async () => {
    const file = sandbox.write('resume.yaml', tinyColdStart(2))
    await refuses(['train', file, '--resume'], 1, 'no run here')
    const empty = await cli(['train', file, '--out', sandbox.path('start'), '--quiet'])
    expect(empty.err).toContain('there is a run here already')
    expect(empty.code).toBe(1)
    const bare = sandbox.path('bare')
    sandbox.write(
      'bare/config.json',
      JSON.stringify({ id: 'bare', createdAt: '', config: {}, environment: {} }),
    )
    const { code, err } = await cli(['train', file, '--out', bare, '--resume', '--quiet'])
    expect(err).toContain('nothing to resume: no checkpoint')
    expect(code).toBe(1)
  })

  it('says in a plan what a run would say of its folder', async () => {
    const file = sandbox.write('planned.yaml', tinyColdStart(2))
    const asRun = async (code: number, ...args: string[]) => {
      const [run, plan] = [
        await cli(['train', file, ...args]),
        await cli(['train', file, ...args, '--dry-run']),
      ]
      expect([run.code, plan.code]).toEqual([code, code])
      expect(plan.err).toMatch(/^gradus: /)
      expect(run.err).toContain(plan.err)
      expect(plan.out).toBe('')
      return plan.err
    }
    expect(await asRun(1, '--out', sandbox.path('start'))).toContain('there is a run here already')
    expect(await asRun(1, '--out', file)).toContain('expected a folder for the run, got a file')
    expect(await asRun(1, '--out', model)).toContain('there is a run here already')
    sandbox.write('full of notes/notes.txt', 'mine')
    expect(await asRun(1, '--out', sandbox.path('full of notes'))).toContain('holds no run')
    expect(await asRun(1, '--out', sandbox.path('no-run'), '--resume')).toContain('there is no run here')
    const named = ['--resume', '--set', 'seed=987654321']
    expect(await asRun(1, ...named)).toContain('there is nothing to resume: no such run')
    const going = await cli(['train', file, '--out', sandbox.path('start'), '--resume', '--dry-run'])
    expect(going.code).toBe(0)
    expect(existsSync(sandbox.path('no-run'))).toBe(false)
  })

  it('refuses to go on with other settings', async () => {
    const file = sandbox.write('changed.yaml', { ...tinyColdStart(2), batch: 5 })
    const { code, err } = await cli(['train', file, '--out', sandbox.path('start'), '--resume', '--quiet'])
    expect(err).toContain('the configuration changed since this checkpoint (batch 4 then, 5 now);')
    expect(err).toContain('on a resume steps, maxMinutes and evaluation.every may change')
    expect(code).toBe(1)
  })
})
