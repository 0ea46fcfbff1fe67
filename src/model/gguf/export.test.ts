import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gguf } from '@huggingface/gguf'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CheckpointError } from '../../util/errors.ts'
import { loadChatTemplate } from '../chat-template.ts'
import { loadCheckpoint, loadConfig, readCompanionFiles } from '../checkpoint.ts'
import { initLora, loadAdapter, mergeInto, saveAdapter } from '../lora-files.ts'
import { openMerged } from '../merged.ts'
import { loadTokenizer } from '../tokenizer.ts'
import { loadWeights } from '../weights.ts'
import { type GgufType, writeGguf } from './export.ts'
import { readGgufHeader } from './header.ts'
import { byteTokenizer, FAMILIES, KNOWN_FAMILIES, writeTinyModel } from './tiny-model.fixture.ts'

let dir: string
let folder: string
let file: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'gradus-gguf-'))
  folder = join(dir, 'model')
  file = join(dir, 'out', 'model.gguf')
})
afterEach(() => rmSync(dir, { recursive: true }))

const write = (model: string, type: GgufType = 'f32') => {
  const merged = openMerged(model)
  try {
    writeGguf(file, merged, type, 'tiny')
  } finally {
    merged.close()
  }
}

/** Largest difference. */
const worst = (a: Float32Array, b: Float32Array) => Math.max(...a.map((value, i) => Math.abs(value - b[i])))

const TEXTS = ['the sea', '  the  12345', "I'LL\n\n\tthe <|im_end|> naïve 日本", '<bos>the', '']

describe.each(KNOWN_FAMILIES)('a model of the family %s', family => {
  beforeEach(() => {
    writeTinyModel(folder, family)
  })

  it('comes back from a GGUF file as it was', () => {
    write(folder)
    const [before, after] = [loadCheckpoint(folder), loadCheckpoint(file)]
    const { initializerRange: _before, ...config } = before.config
    const { initializerRange: _after, ...read } = after.config
    expect(read).toEqual(config)
    // Gemma's norms lose the last bits to the one that is added.
    const lost = family === 'gemma3_text' ? 2 ** -24 : 0
    for (const [name, { shape, data }] of before.weights) {
      expect(after.weights.get(name)!.shape).toEqual(shape)
      expect(worst(data, after.weights.get(name)!.data), name).toBeLessThanOrEqual(lost)
    }
    for (const text of TEXTS) {
      const options = { addSpecialTokens: true }
      const tokens = before.tokenizer!.encode(text, options)
      expect(after.tokenizer!.encode(text, options)).toEqual(tokens)
      expect(after.tokenizer!.decode(tokens)).toBe(before.tokenizer!.decode(tokens))
    }
    const { eosId, bosId, padId } = before.tokenizer!
    expect(after.tokenizer).toMatchObject({ eosId, padId })
    if (bosId !== null) expect(after.tokenizer!.bosId).toBe(bosId)
    expect(loadChatTemplate(file)?.source).toBe(loadChatTemplate(folder)?.source)
  })

  it('is read by another library with the same header', async () => {
    write(folder)
    const header = readGgufHeader(file)
    const { metadata, tensorInfos, tensorDataOffset } = await gguf(file, { allowLocalFile: true })
    for (const [key, value] of Object.entries(metadata)) {
      if (['version', 'tensor_count', 'kv_count'].includes(key)) continue
      const texts = Array.isArray(value) && typeof value[0] === 'string'
      if (Array.isArray(value)) expect(texts ? header.texts(key) : header.numbers(key)).toEqual(value)
      else if (typeof value === 'string') expect(header.text(key)).toBe(value)
      else if (typeof value === 'boolean') expect(header.flag(key)).toBe(value)
      else expect(header.number(key)).toBe(Number(value))
    }
    expect([...header.tensors.keys()]).toEqual(tensorInfos.map(({ name }) => name))
    for (const { name, shape, offset } of tensorInfos) {
      expect(header.tensors.get(name)!.shape).toEqual(shape.map(Number).reverse())
      expect(header.tensors.get(name)!.offset).toBe(Number(tensorDataOffset + offset))
    }
  })

  it.each([
    ['f16', 2 ** -11],
    ['q8_0', 1 / 127],
  ] as const)('loses no more than %s must', (type, share) => {
    write(folder, type)
    const before = loadWeights(folder, loadConfig(folder))
    const after = loadWeights(file, loadConfig(file))
    for (const [name, { data }] of before) {
      const largest = Math.max(...data.map(Math.abs))
      expect(worst(data, after.get(name)!.data), name).toBeLessThanOrEqual(largest * share + 1e-6)
    }
  })
})

describe('an export', () => {
  it('adds an adapter to its base', () => {
    writeTinyModel(folder, 'qwen3')
    const config = loadConfig(folder)
    const lora = { rank: 2, alpha: 4, targetModules: ['q_proj', 'down_proj'] as const }
    const tensors = initLora(config, lora, 1)
    for (const { data } of tensors.values()) for (let i = 0; i < data.length; i++) data[i] += 0.01 * (i % 7)
    const adapter = join(dir, 'adapter')
    saveAdapter(adapter, { lora, tensors, baseModel: folder })
    write(adapter)
    const merged = loadWeights(folder, config)
    const untouched = loadWeights(folder, config).get('model.layers.0.self_attn.q_proj.weight')!.data
    const loaded = loadAdapter(adapter, config)
    for (const [name, { data }] of merged) mergeInto(name, data, loaded)
    const read = loadWeights(file, config)
    expect(read).toEqual(merged)
    expect(read.get('model.layers.0.self_attn.q_proj.weight')!.data).not.toEqual(untouched)
  })

  it('gives a checkpoint that starts from it all files of a Hugging Face folder', () => {
    writeTinyModel(folder, 'qwen2')
    write(folder)
    expect([...readCompanionFiles(file).keys()].sort()).toEqual([
      'chat_template.jinja',
      'generation_config.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ])
    // A folder with this one file is as good as the file.
    expect(loadConfig(join(dir, 'out'))).toEqual(loadConfig(file))
    expect(loadTokenizer(join(dir, 'out')).encode(' the')).toEqual([258])
  })

  const refused: [string, object, RegExp][] = [
    [
      'words cut in a way that has no name',
      { ...byteTokenizer, pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: false } },
      /none of gpt-2, smollm/,
    ],
    ['whole words', { model: { type: 'WordLevel', vocab: { a: 0 }, unk_token: 'a' } }, /of type "WordLevel"/],
    [
      'pieces without bytes',
      { model: { type: 'BPE', vocab: { a: 0, '<|im_end|>': 301 }, merges: [], byte_fallback: true } },
      /without a token for every byte/,
    ],
  ]
  it.each(refused)('refuses a tokenizer of %s, and writes nothing', (_, tokenizer, message) => {
    const whole = { added_tokens: byteTokenizer.added_tokens, ...tokenizer }
    writeTinyModel(folder, 'qwen2', whole)
    expect(() => write(folder)).toThrow(CheckpointError)
    expect(() => write(folder)).toThrow(message)
    expect(readdirSync(dir)).toEqual(['model'])
  })

  it("refuses Llama 3's frequencies in another family, for which llama.cpp does not read them", () => {
    writeTinyModel(folder, 'qwen3')
    const path = join(folder, 'config.json')
    const { rope_scaling } = FAMILIES.llama as { rope_scaling: object }
    writeFileSync(path, JSON.stringify({ ...FAMILIES.qwen3, rope_scaling }))
    expect(() => write(folder)).toThrow(/rope_scaling: expected type linear or none for qwen3, got llama3/)
    expect(readdirSync(dir)).toEqual(['model'])
  })

  it('that fails half-way leaves what was there, and nothing else', () => {
    writeTinyModel(folder, 'qwen2')
    mkdirSync(join(dir, 'out'))
    writeFileSync(file, 'before')
    const merged = openMerged(folder)
    const read = (name: string) => {
      if (name.includes('layers.1'))
        throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
      return merged.read(name)
    }
    expect(() => writeGguf(file, { ...merged, read }, 'f32', 'tiny')).toThrow('ENOSPC')
    merged.close()
    expect(readdirSync(join(dir, 'out'))).toEqual(['model.gguf'])
    expect(() => readGgufHeader(file)).toThrow(/expected a GGUF file/)
  })
})
