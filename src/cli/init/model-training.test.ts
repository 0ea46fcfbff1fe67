import { existsSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { ModelConfig } from '../../model/config.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { TINY } from '../../policy/local/tiny-model.fixture.ts'
import { sftRecipeSchema } from '../../recipes/sft/config.ts'
import { shellWord } from '../../util/invocation.ts'
import { jsonlLines } from '../../util/jsonl.ts'
import { cli, Sandbox } from '../cli.fixture.ts'
import { coldStartFiles } from './cold-start.ts'
import { fittedSettings } from './model-training.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

/** As SmolLM2-135M and Qwen2.5-0.5B are. */
const SMALL: ModelConfig = {
  ...TINY,
  ...{ vocabSize: 49_152, hiddenSize: 576, intermediateSize: 1536, layers: 30, heads: 9, kvHeads: 3 },
  ...{ headDim: 64, maxPositions: 8192 },
}
const LARGER: ModelConfig = {
  ...SMALL,
  ...{ vocabSize: 151_936, hiddenSize: 896, intermediateSize: 4864, layers: 24, heads: 14, kvHeads: 2 },
}
const GB = 1e9

describe('settings that fit', () => {
  it('take smaller micro-batches, then layers computed twice, where memory is short', () => {
    const choice = (gigabytes: number) => {
      const { microBatchTokens, recompute, memoryBytes } = fittedSettings(SMALL, gigabytes * GB, 'nothing')
      return { microBatchTokens, recompute, fits: memoryBytes <= 0.7 * gigabytes * GB }
    }
    expect(choice(16)).toEqual({ microBatchTokens: 2048, recompute: false, fits: true })
    expect(choice(8)).toEqual({ microBatchTokens: 1024, recompute: false, fits: true })
    expect(choice(4.5)).toEqual({ microBatchTokens: 1024, recompute: true, fits: true })
    expect(choice(0.1)).toMatchObject({ microBatchTokens: 512, recompute: true, fits: false })
  })

  it('take smaller steps with a larger model', () => {
    expect(fittedSettings(SMALL, 16 * GB, 'nothing').learningRate).toBe(4e-4)
    expect(fittedSettings(LARGER, 32 * GB, 'nothing').learningRate).toBe(2e-4)
  })
})

describe('gradus init train --model', () => {
  it('writes rows, tests, rubric and settings that a plan accepts', async () => {
    const model = writeTinyChat(sandbox.path('model'), 4096)
    const folder = sandbox.path('mine')
    const made = await cli(['init', 'train', folder, '--model', relative('.', model), '--instructions'])
    expect(made.code, made.err).toBe(0)
    const settings = parse(readFileSync(join(folder, 'train.yaml'), 'utf8'))
    expect(settings).toMatchObject({
      recipe: 'grpo',
      model: { folder: model, lora: { rank: 16 } },
      task: { file: 'rows.jsonl', testFile: 'test.jsonl', rubric: 'rubric.yaml' },
    })
    const set = ['file', 'testFile', 'rubric'].flatMap(key => [
      '--set',
      `task.${key}=${join(folder, settings.task[key])}`,
    ])
    const more = ['--set', 'task.maxPromptTokens=2000', '--dry-run']
    const planned = await cli(['train', join(folder, 'train.yaml'), ...set, ...more])
    expect(planned.code, planned.err).toBe(0)
    expect(planned.out).toContain('700 conversations to train on, 60 to test on')
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(
      /It takes about .* of two cores and .*B of memory/,
    )
  })

  it.skipIf(process.platform === 'win32')(
    'names any folder so that settings, page and command lines hold',
    async () => {
      const named = sandbox.path('it\'s: $(touch x) # `id` "new"\nline')
      const model = writeTinyChat(named, 4096)
      const folder = sandbox.path('odd')
      const made = await cli(['init', 'train', folder, '--model', model])
      expect(made.code, made.err).toBe(0)
      expect(parse(readFileSync(join(folder, 'train.yaml'), 'utf8')).model.folder).toBe(model)
      const page = readFileSync(join(folder, 'README.md'), 'utf8')
      expect(page.split('\n')[0]).toMatch(/^# A training of .*"new" line$/)
      expect(page).toContain(`--model ${shellWord(model)} --adapter`)
      expect(page).toContain(`--against ${shellWord(model)} --html`)
    },
  )

  it('takes the rows of the example without --instructions, and wants a model with them', async () => {
    const model = writeTinyChat(sandbox.path('model'), 4096)
    const folder = sandbox.path('own')
    expect((await cli(['init', 'train', folder, '--model', model])).code).toBe(0)
    expect(readFileSync(join(folder, 'rubric.yaml'), 'utf8')).toContain('id: offer')
    const refused = await cli(['init', 'train', sandbox.path('none'), '--instructions'])
    expect(refused.code).toBe(2)
    expect(refused.err).toContain('--model HuggingFaceTB/SmolLM2-135M-Instruct')
  })

  it('edits answers of the model into demonstrations to begin with, and asks for each answer once', async () => {
    const folder = sandbox.path('cold')
    const fit = fittedSettings(SMALL, 16 * GB, 'nothing')
    const io = { out: process.stdout, err: { write: () => true }, onInterrupt: () => () => {} }
    const files = await coldStartFiles(folder, 'package:models/chat-start', fit, io, 300)
    const rows = String(files.get('demonstrations.jsonl')).trim().split('\n')
    const settings = sftRecipeSchema.parse(parse(String(files.get('cold-start.yaml'))))
    expect(settings).toMatchObject({ model: { lora: { rank: 16 } }, data: 'demonstrations.jsonl' })
    expect(settings.steps * settings.batch + settings.holdOut).toBeLessThanOrEqual(rows.length)
    const kept = () => jsonlLines(join(folder, 'answers.jsonl')).map(({ text }) => JSON.parse(text))
    const answers = kept()
    expect(answers).toHaveLength(200)
    expect(await coldStartFiles(folder, 'package:models/chat-start', fit, io, 300)).toEqual(files)
    expect(kept()).toEqual(answers)
  })

  it('refuses demonstrations of no instructions, and asks for nothing where files are there', async () => {
    const folder = sandbox.path('taken')
    const named = ['--model', relative('.', writeTinyChat(sandbox.path('model'), 4096))]
    expect((await cli(['init', 'train', folder, ...named, '--cold-start'])).err).toContain('--instructions')
    await cli(['init', 'train', folder, ...named])
    const counted = await cli(['init', 'train', folder, ...named, '--demonstrations', '5', '--force'])
    expect(counted.err).toContain('--demonstrations: expected --cold-start')
    const many = ['--instructions', '--cold-start', '--demonstrations', '1e9']
    const tooMany = await cli(['init', 'train', folder, ...named, ...many, '--force'])
    expect(tooMany.err).toContain('--demonstrations: expected at most 100000, got 1000000000')
    const refused = await cli(['init', 'train', folder, ...named, '--instructions', '--cold-start'])
    expect(refused.err).toContain('there already')
    expect(existsSync(join(folder, 'answers.jsonl.partial'))).toBe(false)
  })

  it('keeps what was answered where it is interrupted', async () => {
    const folder = sandbox.path('interrupted')
    const command = [
      'init',
      'train',
      folder,
      '--model',
      'package:models/chat-start',
      '--instructions',
      '--cold-start',
    ]
    let asked = false
    const { code, err } = await cli(command, {
      onProgress: (found, interrupt) => {
        if (!asked && /answers +[1-9]/.test(found)) {
          asked = true
          interrupt()
        }
      },
    })
    expect(code, err).toBe(130)
    expect(err).toContain('the same command goes on')
    expect(readFileSync(join(folder, 'answers.jsonl.partial'), 'utf8')).toContain('request-1')
    expect(existsSync(join(folder, 'train.yaml'))).toBe(false)
  })
})
