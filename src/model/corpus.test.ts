import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { GradusError } from '../util/errors.ts'
import { loadChatTemplate } from './chat-template.ts'
import { loadConfig, readCompanionFiles } from './checkpoint.ts'
import { parseModelConfig } from './config.ts'
import { adapterBase, initLora, loadAdapter, saveAdapter } from './lora-files.ts'
import { readSafetensors, writeSafetensors } from './safetensors.ts'
import { loadTokenizer } from './tokenizer.ts'
import { initValueHead, initWeights, loadValueHead, loadWeights } from './weights.ts'

const corpus = fileURLToPath(new URL('../../test/corpus/model', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'gradus-corpus-'))
afterAll(() => rmSync(scratch, { recursive: true }))

const HF_CONFIG = {
  model_type: 'llama',
  vocab_size: 16,
  hidden_size: 8,
  intermediate_size: 8,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 16,
}
const CONFIG = parseModelConfig(HF_CONFIG)
const MESSAGES = [
  { role: 'user', content: 'Is Stella a cat?' },
  { role: 'assistant', content: 'Yes.' },
]

/** What reads each file, from the folder that holds it; the first that is there counts. */
const READERS: readonly (readonly [file: string, read: (dir: string) => unknown])[] = [
  ['tokenizer.json', dir => loadTokenizer(dir).encode('a b c')],
  ['config.json', loadConfig],
  ['chat_template.jinja', dir => loadChatTemplate(dir)!.render(MESSAGES)],
  ['model.safetensors', dir => readSafetensors(join(dir, 'model.safetensors'))],
  ['model.safetensors.index.json', dir => loadWeights(dir, CONFIG)],
  ['value_head.safetensors', dir => loadValueHead(dir, CONFIG)],
  ['adapter_config.json', dir => [adapterBase(dir), loadAdapter(dir, CONFIG)]],
  ['generation_config.json', readCompanionFiles],
]
const readerOf = (dir: string) => READERS.find(([file]) => existsSync(join(dir, file)))!

/** An error for a person: the file's or folder's name, and nothing of the machine underneath. */
const expectReadable = (error: unknown, dir: string) => {
  expect(error).toBeInstanceOf(GradusError)
  const { message } = error as Error
  expect(message).toContain(dir)
  expect(message).not.toMatch(
    /\n +at |TypeError|RangeError|undefined is|is not a function|call stack|Cannot read/,
  )
}

describe('hostile files of a model', () => {
  it.each(readdirSync(corpus))(
    'are refused, and said why: %s',
    name => {
      const dir = join(corpus, name)
      for (const file of readdirSync(dir)) expect(statSync(join(dir, file)).size).toBeLessThan(4096)
      const expected = readFileSync(join(dir, 'expected.txt'), 'utf8').trim()
      const [, read] = readerOf(dir)
      let error: unknown = null
      try {
        read(dir)
      } catch (thrown) {
        error = thrown
      }
      expectReadable(error, dir)
      expect((error as Error).message).toContain(expected)
    },
    60_000,
  )
})

const write = (dir: string, file: string, bytes: Uint8Array | string) => writeFileSync(join(dir, file), bytes)

/** Makes a folder of whole files, to be damaged. */
const valid: Readonly<Record<string, (dir: string) => void>> = {
  'tokenizer.json': dir =>
    write(dir, 'tokenizer.json', readFileSync(join(corpus, 'tokenizer-without-its-end', 'tokenizer.json'))),
  'config.json': dir => write(dir, 'config.json', JSON.stringify({ ...HF_CONFIG, eos_token_id: [1, 2] })),
  'chat_template.jinja': dir =>
    write(
      dir,
      'chat_template.jinja',
      '{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim | indent(4) }}{% if not loop.last %}\n{% endif %}{% endfor %}{% set n = range(3) | list %}{{ n[0:2] | join(", ") }}',
    ),
  'model.safetensors': dir => writeSafetensors(join(dir, 'model.safetensors'), initWeights(CONFIG, 1)),
  'value_head.safetensors': dir =>
    writeSafetensors(join(dir, 'value_head.safetensors'), initValueHead(CONFIG, 1)),
  'adapter_config.json': dir => {
    const lora = { rank: 2, alpha: 4, targetModules: ['q_proj'] } as const
    saveAdapter(dir, { lora, tensors: initLora(CONFIG, lora, 1), baseModel: 'base' })
  },
}

/** Damage to bytes: a place and what becomes of it. */
const damage = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    kind: fc.constantFrom('flip', 'cut', 'insert', 'drop', 'number', 'repeat'),
    byte: fc.integer({ min: 0, max: 255 }),
  }),
  { minLength: 1, maxLength: 3 },
)
const NUMBERS = ['-1', '0', '1e999', '0.5', 'null', '"x"', '9007199254740993', '1e9', '[]', '{}', 'true']

const spoil = (
  original: Uint8Array,
  { at, kind, byte }: { at: number; kind: string; byte: number },
): Uint8Array => {
  const place = Math.floor(at * original.length)
  const [before, after] = [original.subarray(0, place), original.subarray(place)]
  if (kind === 'cut') return before
  if (kind === 'drop') return Buffer.concat([before, after.subarray(1 + (byte % 16))])
  if (kind === 'insert') return Buffer.concat([before, Uint8Array.of(byte), after])
  if (kind === 'repeat') return Buffer.concat([before, after.subarray(0, byte), after])
  if (kind === 'flip') return Uint8Array.from(original, (x, i) => (i === place ? x ^ (1 << (byte % 8)) : x))
  // The next number in a text becomes another value.
  const text = Buffer.from(after).toString('latin1')
  return Buffer.concat([
    before,
    Buffer.from(text.replace(/-?\d+(\.\d+)?/, NUMBERS[byte % NUMBERS.length]), 'latin1'),
  ])
}

const allFinite = (value: unknown): boolean => {
  if (value instanceof Float32Array) return value.every(Number.isFinite)
  if (value instanceof Map) return [...value.values()].every(allFinite)
  if (typeof value === 'number') return Number.isFinite(value)
  return value === null || typeof value !== 'object' || Object.values(value).every(allFinite)
}

/** Weights as a model gets them: a whole file of other tensors is no error of the file. */
const strictReaders: Readonly<Record<string, (dir: string) => unknown>> = {
  'model.safetensors': dir => loadWeights(dir, CONFIG),
}

describe('damaged files of a model', () => {
  it.each(Object.keys(valid))(
    'give finite numbers or an error that names them: %s',
    file => {
      const dir = mkdtempSync(join(scratch, 'x'))
      valid[file](dir)
      const whole = readFileSync(join(dir, file))
      const read = strictReaders[file] ?? READERS.find(([name]) => name === file)![1]
      expect(allFinite(read(dir))).toBe(true)
      fc.assert(
        fc.property(damage, steps => {
          write(dir, file, steps.reduce(spoil, whole))
          try {
            expect(allFinite(read(dir))).toBe(true)
          } catch (error) {
            expectReadable(error, dir)
          }
        }),
        { numRuns: Number(process.env.GRADUS_FUZZ_RUNS ?? 150), seed: 11 },
      )
    },
    300_000,
  )
})
