import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../model/checkpoint.ts'
import { writeTinyModel } from '../../model/gguf/tiny-model.fixture.ts'
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
    const told = await cli(['export', model(), '--gguf', 'f32', '--out', file])
    expect(told).toMatchObject({ code: 0, err: '' })
    expect(told.out).toMatch(/model\.gguf: [\d,]+ bytes, f32, with .*Modelfile for Ollama/)
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
