import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointError } from '../util/errors.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { loadCheckpoint, loadConfig, readCompanionFiles, saveCheckpoint } from './checkpoint.ts'
import { parseModelConfig } from './config.ts'
import { SafetensorsFile } from './safetensors.ts'
import { initValueHead, initWeights } from './weights.ts'

const config = parseModelConfig({
  model_type: 'qwen3',
  vocab_size: 10,
  hidden_size: 8,
  intermediate_size: 12,
  num_hidden_layers: 2,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  head_dim: 4,
  tie_word_embeddings: true,
  eos_token_id: 1,
})
const tokenizerJson = JSON.stringify({
  pre_tokenizer: { type: 'WhitespaceSplit' },
  model: { type: 'WordLevel', vocab: { a: 0, b: 1, c: 2 }, unk_token: 'a' },
})
const files = new Map([
  ['tokenizer.json', tokenizerJson],
  ['tokenizer_config.json', '{"eos_token": "b"}'],
])

let parent: string
let dir: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'gradus-checkpoint-'))
  dir = join(parent, 'model')
})
afterEach(() => rmSync(parent, { recursive: true }))

describe('saveCheckpoint and loadCheckpoint', () => {
  it('give back model, value head and tokenizer', () => {
    const content = { config, weights: initWeights(config, 1), valueHead: initValueHead(config, 2), files }
    saveCheckpoint(dir, content)
    const loaded = loadCheckpoint(dir)
    expect(loaded.config).toEqual(config)
    expect(loaded.weights).toEqual(content.weights)
    expect(loaded.valueHead).toEqual(content.valueHead)
    expect(loaded.tokenizer!.encode('c b')).toEqual([2, 1])
    expect(loaded.tokenizer!.eosId).toBe(1)
    expect(JSON.parse(readFileSync(join(dir, 'generation_config.json'), 'utf8'))).toEqual({ eos_token_id: 1 })
    expect([...readCompanionFiles(dir).keys()]).toEqual([...files.keys(), 'generation_config.json'])
  })

  it('work without tokenizer and value head', () => {
    saveCheckpoint(dir, { config, weights: initWeights(config, 1) })
    const loaded = loadCheckpoint(dir)
    expect(loaded.tokenizer).toBeNull()
    expect(loaded.valueHead).toBeNull()
  })

  it('store half precision when asked, and say so in config.json', () => {
    const weights = initWeights(config, 1)
    saveCheckpoint(dir, { config, weights }, { dtype: 'bfloat16' })
    expect(JSON.parse(readFileSync(join(dir, 'config.json'), 'utf8')).torch_dtype).toBe('bfloat16')
    const file = SafetensorsFile.open(join(dir, 'model.safetensors'))
    expect(file.info('model.norm.weight').dtype).toBe('BF16')
    file.close()
    for (const [name, { data }] of loadCheckpoint(dir).weights)
      for (const [i, value] of data.entries()) {
        const original = weights.get(name)!.data[i]
        expect(Math.abs(value - original)).toBeLessThanOrEqual(Math.abs(original) / 256)
      }
  })

  it('carry a published model over unchanged', context => {
    const path = sharedData('models/stories260K')
    if (!path) return context.skip('shared data not here')
    const original = loadCheckpoint(path)
    saveCheckpoint(dir, original)
    expect(loadCheckpoint(dir)).toEqual(original)
  })
})

describe('a checkpoint that cannot be saved', () => {
  it('leaves the old one whole when saving fails at any point', () => {
    const weights = initWeights(config, 1)
    saveCheckpoint(dir, { config, weights, files })
    const failing = () =>
      saveCheckpoint(
        dir,
        { config, weights: initWeights(config, 2) },
        {
          writeMore: () => {
            throw Object.assign(new Error('full'), { code: 'ENOSPC', syscall: 'write' })
          },
        },
      )
    expect(failing).toThrow(CheckpointError)
    expect(failing).toThrow(/ENOSPC/)
    expect(loadCheckpoint(dir).weights).toEqual(weights)
    expect(readdirSync(parent)).toEqual(['model'])
  })

  it('names a tensor that is missing, misshapen or unknown', () => {
    const weights = initWeights(config, 1)
    const norm = weights.get('model.norm.weight')!
    weights.set('model.norm.weight', { shape: [4], data: new Float32Array(4) })
    expect(() => saveCheckpoint(dir, { config, weights })).toThrow(
      /model\.norm\.weight: expected shape \[8\]/,
    )
    weights.delete('model.norm.weight')
    expect(() => saveCheckpoint(dir, { config, weights })).toThrow(/model\.norm\.weight.*got nothing/)
    weights.set('model.norm.weight', norm).set('more', norm)
    expect(() => saveCheckpoint(dir, { config, weights })).toThrow(/more: the model has no such tensor/)
    expect(readdirSync(parent)).toEqual([])
  })
})

describe('a checkpoint that cannot be loaded', () => {
  it('is named with the reason', () => {
    expect(() => loadCheckpoint(join(parent, 'none'))).toThrow(/none: no such checkpoint folder/)
    saveCheckpoint(dir, { config, weights: initWeights(config, 1), files })
    truncateSync(join(dir, 'model.safetensors'), 3000)
    expect(() => loadCheckpoint(dir)).toThrow(CheckpointError)
    rmSync(join(dir, 'model.safetensors'))
    expect(() => loadCheckpoint(dir)).toThrow(/expected model\.safetensors/)
    writeFileSync(join(dir, 'config.json'), '{"model_type":')
    expect(() => loadConfig(dir)).toThrow(/config\.json: not JSON/)
    rmSync(join(dir, 'config.json'))
    expect(() => loadConfig(dir)).toThrow(/config\.json: cannot be read \(ENOENT\)/)
  })

  it('is refused when its tokenizer does not fit', () => {
    saveCheckpoint(dir, { config, weights: initWeights(config, 1), files })
    writeFileSync(join(dir, 'tokenizer.json'), tokenizerJson.replace('"c":2', '"c":10'))
    expect(() => loadCheckpoint(dir)).toThrow(/ids go up to 10, but the model's vocab_size is 10/)
  })
})
