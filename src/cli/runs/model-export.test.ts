import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../model/checkpoint.ts'
import { writeTinyModel } from '../../model/gguf/tiny-model.fixture.ts'
import { readSafetensors, writeSafetensors } from '../../model/safetensors.ts'
import { loadWeights } from '../../model/weights.ts'
import { cli, Sandbox, SLOW_MS } from '../cli.fixture.ts'

const sandbox = new Sandbox()
const model = () => sandbox.path('model')
beforeAll(() => {
  writeTinyModel(model(), 'qwen2')
})
afterAll(() => sandbox.remove())

describe('gradus export of a model', () => {
  it('writes a GGUF file with its Modelfile, and of that a folder with the same weights', async () => {
    const file = sandbox.path('out', 'model.gguf')
    const found = await cli(['export', model(), '--gguf', 'f32', '--out', file])
    expect(found).toMatchObject({ code: 0, err: '' })
    expect(found.out).toMatch(/model\.gguf: [\d,]+ bytes, f32, with .*Modelfile for Ollama/)
    expect(readdirSync(sandbox.path('out')).sort()).toEqual(['Modelfile', 'model.gguf'])
    expect(readFileSync(sandbox.path('out', 'Modelfile'), 'utf8')).toMatch(
      /FROM \.\/model\.gguf\n.*SYSTEM """Be kind\."""\nPARAMETER stop "<\|im_end\|>"/s,
    )
    const folder = sandbox.path('whole')
    expect((await cli(['export', file, '--folder', folder])).code).toBe(0)
    expect(loadWeights(folder, loadConfig(folder))).toEqual(loadWeights(model(), loadConfig(model())))
    expect(existsSync(sandbox.path('whole', 'tokenizer.json'))).toBe(true)
  })

  it(
    'takes a GGUF file as the start of a training, and the run that comes of it',
    async () => {
      const file = sandbox.path('out', 'model.gguf')
      sandbox.write('rows.jsonl', '{"prompt": "the sea"}\n{"prompt": "the"}\n')
      sandbox.write(
        'rubric.yaml',
        'criteria:\n  - {id: a, text: Says the., points: 1, verifier: {kind: rule, fn: contains, params: {any: [the]}}}\n',
      )
      sandbox.write(
        'rl.yaml',
        JSON.stringify({
          recipe: 'ruscarl',
          model: { folder: file, lora: { rank: 2 } },
          task: {
            kind: 'conversations',
            file: sandbox.path('rows.jsonl'),
            rubric: sandbox.path('rubric.yaml'),
            holdOut: 1,
          },
          steps: 1,
          rollout: { prompts: 2, samples: 2, maxTokens: 4 },
          evaluation: { every: 10, problems: 1, samples: 1 },
          checkpoint: { every: 1 },
        }),
      )
      const run = sandbox.path('run')
      const trained = await cli(['train', sandbox.path('rl.yaml'), '--out', run])
      expect(trained.err + trained.out).toContain('checkpoint')
      expect(trained.code).toBe(0)
      const merged = sandbox.path('merged')
      expect((await cli(['export', run, '--folder', merged])).code).toBe(0)
      expect(loadConfig(merged)).toMatchObject({ family: 'qwen2', vocabSize: 320 })
      const again = await cli([
        'export',
        `${run}/1`,
        '--gguf',
        'q8_0',
        '--out',
        sandbox.path('run.gguf'),
        '--json',
      ])
      expect(JSON.parse(again.out)).toMatchObject({ gguf: sandbox.path('run.gguf') })
    },
    SLOW_MS,
  )

  it('replaces nothing but an earlier export', async () => {
    const before = (folder: string) => readdirSync(sandbox.path(folder), { recursive: true }).sort()
    sandbox.write('project/config.json', '{"port": 8080}')
    sandbox.write('project/src/index.js', 'mine')
    sandbox.write('settings/config.json', '{"port": 8080}')
    sandbox.write('files/mine.gguf', 'mine')
    writeTinyModel(sandbox.path('base'), 'qwen2')
    const folders = ['project', 'settings', 'files', 'run', 'run/checkpoints/step-000001', 'base', 'out']
    const there = folders.map(before)
    const refused: [string, string[], RegExp][] = [
      [model(), ['--folder', sandbox.path('project')], /earlier export, got one with src/],
      [model(), ['--folder', sandbox.path('settings')], /earlier export, got one with config\.json/],
      [sandbox.path('base'), ['--folder', sandbox.path('base')], /is the model that is exported/],
      [sandbox.path('run'), ['--folder', sandbox.path('run')], /earlier export, got one with checkpoints/],
      [
        sandbox.path('run'),
        ['--folder', sandbox.path('run/checkpoints/step-000001')],
        /is the model that is exported/,
      ],
      [model(), ['--gguf', 'f16', '--out', sandbox.path('files/mine.gguf')], /is there, and no Modelfile/],
      [
        sandbox.path('out/model.gguf'),
        ['--gguf', 'q8_0', '--out', sandbox.path('out/model.gguf')],
        /is the model that is exported/,
      ],
      [model(), ['--gguf', 'f16', '--out', sandbox.path('x\ny.gguf')], /--out: expected a name without line/],
    ]
    for (const [source, options, message] of refused) {
      const { code, err } = await cli(['export', source, ...options])
      expect([code, err], options.join(' ')).toEqual([2, expect.stringMatching(message)])
    }
    expect(folders.map(before)).toEqual(there)
    expect(readFileSync(sandbox.path('files/mine.gguf'), 'utf8')).toBe('mine')
    for (const options of [
      ['--folder', sandbox.path('again')],
      ['--gguf', 'f16', '--out', sandbox.path('again2/a.gguf')],
    ])
      for (let i = 0; i < 2; i++) {
        const again = await cli(['export', model(), ...options])
        expect(again.code, again.err).toBe(0)
      }
  })

  it('says of an adapter what is damaged, and where its base should be', async () => {
    const adapter = sandbox.path('adapter')
    cpSync(sandbox.path('run/checkpoints/step-000001'), adapter, { recursive: true })
    const weights = join(adapter, 'adapter_model.safetensors')
    const bytes = readFileSync(weights)
    bytes[bytes.length - 3] ^= 1
    writeFileSync(weights, bytes)
    const target = ['--folder', sandbox.path('nowhere')]
    expect((await cli(['export', adapter, ...target])).err).toMatch(/adapter_model\.safetensors/)
    rmSync(adapter, { recursive: true })
    cpSync(sandbox.path('run/checkpoints/step-000001'), adapter, { recursive: true })
    renameSync(sandbox.path('out/model.gguf'), sandbox.path('out/moved.gguf'))
    const { err } = await cli(['export', adapter, ...target])
    renameSync(sandbox.path('out/moved.gguf'), sandbox.path('out/model.gguf'))
    expect(err).toContain(`${adapter}: its base model ${sandbox.path('out/model.gguf')} is not here`)
    expect(existsSync(sandbox.path('nowhere'))).toBe(false)
  })

  it('leaves nothing of weights that the file cannot hold', async () => {
    const folder = sandbox.path('huge')
    writeTinyModel(folder, 'qwen2')
    const weights = join(folder, 'model.safetensors')
    const tensors = readSafetensors(weights)
    tensors.values().next().value!.data[0] = 1e9
    writeSafetensors(weights, tensors)
    mkdirSync(sandbox.path('huge-out'))
    const { code, err } = await cli([
      ...['export', folder, '--gguf', 'f16', '--out', sandbox.path('huge-out/a.gguf')],
    ])
    expect([code, err]).toEqual([1, expect.stringContaining('expected numbers that float16 holds')])
    expect(readdirSync(sandbox.path('huge-out'))).toEqual([])
  })

  it('refuses what does not go together, and leaves the Modelfile of another model', async () => {
    const file = sandbox.path('out', 'other.gguf')
    const wrong: [string[], RegExp][] = [
      [['--gguf', 'q4'], /--gguf: expected f32, f16, q8_0, got q4/],
      [['--gguf', 'f16'], /--gguf: expected --out FILE\.gguf, got nothing/],
      [['--gguf', 'f16', '--folder', 'x'], /either --gguf or --folder/],
      [['--folder', 'x', '--out', 'y'], /--folder names where to write/],
      [['--gguf', 'f16', '--out', file], /Modelfile: is that of another model \(FROM \.\/model\.gguf\)/],
    ]
    for (const [options, message] of wrong) {
      const { code, err } = await cli(['export', model(), ...options])
      expect(code, options.join(' ')).toBe(2)
      expect(err).toMatch(message)
    }
    expect((await cli(['export', sandbox.path('nothing'), '--gguf', 'f16', '--out', file])).err).toMatch(
      /expected a run folder/,
    )
    expect(existsSync(file)).toBe(false)
  })
})
