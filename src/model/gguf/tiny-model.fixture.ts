/** @file Models of every family small enough for tests, with tokenizers of both kinds that GGUF knows. */

import { saveCheckpoint } from '../checkpoint.ts'
import { parseModelConfig } from '../config.ts'
import { initWeights } from '../weights.ts'

// GPT-2 writes each byte as one printable character: itself where printable, else the next free one from U+0100 on.
const printable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
let nextFree = 256
const BYTES = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(printable(byte) ? byte : nextFree++),
)

const added = (content: string, id: number, special = true) => ({
  ...{ id, content, special, normalized: false, single_word: false, lstrip: false, rstrip: false },
})

const MERGES = [
  ['t', 'h'],
  ['th', 'e'],
  ['\u0120', 'the'],
  ['1', '2'],
]

/** Byte pairs, as Qwen's tokenizer.json spells them. */
const byteTokenizer = {
  added_tokens: [added('<|im_start|>', 300), added('<|im_end|>', 301), added('<tool_call>', 302, false)],
  normalizer: { type: 'NFC' },
  pre_tokenizer: {
    type: 'Sequence',
    pretokenizers: [
      {
        type: 'Split',
        pattern: {
          Regex:
            "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
        },
        ...{ behavior: 'Isolated', invert: false },
      },
      { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
    ],
  },
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  model: {
    type: 'BPE',
    vocab: Object.fromEntries(
      [...BYTES, ...MERGES.map(pair => pair.join(''))].map((token, id) => [token, id]),
    ),
    merges: MERGES,
  },
}

const PIECES = ['\u2581', 't', 'h', 'e', 's', 'a', 'th', 'the', '\u2581the', 'sea', 'ea']

/** SentencePiece's pieces, as Gemma's tokenizer.json spells them. */
const pieceTokenizer = {
  added_tokens: [added('<pad>', 0), added('<eos>', 1), added('<bos>', 2), added('\u2581\u2581', 300, false)],
  normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '<bos>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [],
    special_tokens: { '<bos>': { id: '<bos>', ids: [2], tokens: ['<bos>'] } },
  },
  decoder: {
    type: 'Sequence',
    decoders: [
      { type: 'Replace', pattern: { String: '\u2581' }, content: ' ' },
      ...[{ type: 'ByteFallback' }, { type: 'Fuse' }],
    ],
  },
  model: {
    ...{ type: 'BPE', unk_token: '<unk>', fuse_unk: true, byte_fallback: true },
    vocab: Object.fromEntries([
      ...['<pad>', '<eos>', '<bos>', '<unk>'].map((token, id) => [token, id]),
      ...BYTES.map((_, byte) => [`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 4 + byte]),
      ...PIECES.map((token, i) => [token, 260 + i]),
    ]),
    merges: [
      ['t', 'h'],
      ['th', 'e'],
      ['e', 'a'],
      ['\u2581', 'the'],
      ['s', 'ea'],
    ],
  },
}

const TEMPLATE =
  "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}" +
  "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"

const shape = {
  ...{ vocab_size: 320, hidden_size: 64, intermediate_size: 96, num_hidden_layers: 2 },
  ...{
    num_attention_heads: 4,
    num_key_value_heads: 2,
    max_position_embeddings: 1024,
    initializer_range: 0.1,
  },
}

/** By family the content of config.json; `qwen2` has an output of its own, `llama` stretched frequencies. */
export const FAMILIES: Readonly<Record<string, object>> = {
  llama: {
    ...{ model_type: 'llama', ...shape, rms_norm_eps: 1e-5, rope_theta: 500_000, tie_word_embeddings: true },
    rope_scaling: {
      ...{ rope_type: 'llama3', factor: 32, low_freq_factor: 1, high_freq_factor: 4 },
      original_max_position_embeddings: 8192,
    },
    ...{ bos_token_id: 300, eos_token_id: 301 },
  },
  qwen2: { model_type: 'qwen2', ...shape, rope_theta: 1_000_000, bos_token_id: 300, eos_token_id: 301 },
  qwen3: {
    ...{ model_type: 'qwen3', ...shape, head_dim: 32, rope_theta: 1_000_000, tie_word_embeddings: true },
    ...{ rope_scaling: { rope_type: 'linear', factor: 4 }, bos_token_id: 300, eos_token_id: 301 },
  },
  gemma3_text: {
    ...{ model_type: 'gemma3_text', ...shape, num_hidden_layers: 7, head_dim: 32, query_pre_attn_scalar: 32 },
    ...{ sliding_window: 16, rope_theta: 1_000_000, bos_token_id: 2, eos_token_id: [1, 300] },
  },
}

const isKnown = (name: string): boolean => {
  try {
    parseModelConfig(FAMILIES[name])
    return true
  } catch {
    return false
  }
}

/** Families that the engine computes. */
export const KNOWN_FAMILIES = Object.keys(FAMILIES).filter(isKnown)

/** Writes a checkpoint folder of a family with random weights. */
export const writeTinyModel = (folder: string, family: string, tokenizer?: object): string => {
  const isGemma = family === 'gemma3_text'
  const config = parseModelConfig(FAMILIES[family])
  const named = isGemma
    ? { bos_token: '<bos>', eos_token: '<eos>', pad_token: '<pad>' }
    : { eos_token: '<|im_end|>', chat_template: TEMPLATE }
  saveCheckpoint(folder, {
    config,
    weights: initWeights(config, family),
    files: new Map([
      ['tokenizer.json', JSON.stringify(tokenizer ?? (isGemma ? pieceTokenizer : byteTokenizer))],
      ['tokenizer_config.json', JSON.stringify(named)],
    ]),
  })
  return folder
}

export { byteTokenizer }
