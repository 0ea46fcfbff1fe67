/** @file A chat model small enough for tests: random weights, a token a byte, a template. */

import { saveCheckpoint } from './checkpoint.ts'
import type { ModelConfig } from './config.ts'
import { initWeights } from './weights.ts'

// GPT-2 writes each byte as one printable character: itself where printable, else the next free one from U+0100 on.
const printable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
let nextFree = 256
const BYTES = Array.from({ length: 256 }, (_, byte) =>
  String.fromCharCode(printable(byte) ? byte : nextFree++),
)

const START = 256
const END = 257

const special = (content: string, id: number) => ({
  id,
  content,
  special: true,
  normalized: false,
  single_word: false,
  lstrip: false,
  rstrip: false,
})

const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }

const TOKENIZER = {
  added_tokens: [special('<|im_start|>', START), special('<|im_end|>', END)],
  pre_tokenizer: byteLevel,
  decoder: byteLevel,
  model: { type: 'BPE', vocab: Object.fromEntries(BYTES.map((char, byte) => [char, byte])), merges: [] },
}

const TEMPLATE =
  "{% for message in messages %}{{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"

const config = (maxPositions: number, eosTokenIds: number[]): ModelConfig => ({
  family: 'llama',
  vocabSize: 264,
  hiddenSize: 16,
  intermediateSize: 24,
  layers: 1,
  heads: 2,
  kvHeads: 1,
  headDim: 8,
  maxPositions,
  rmsNormEps: 1e-5,
  ropeTheta: 10_000,
  ropeScaling: null,
  tieEmbeddings: true,
  attentionBias: false,
  qkNorm: false,
  bosTokenId: null,
  eosTokenIds,
  initializerRange: 0.3,
})

/**
 * Writes a checkpoint folder with random weights, tokenizer and template. The tokenizer's end token is 257, `<|im_end|>`.
 * @param eosTokenIds those of the model's configuration
 */
export const writeTinyChat = (folder: string, maxPositions = 2048, eosTokenIds = [END]): string => {
  const shape = config(maxPositions, eosTokenIds)
  saveCheckpoint(folder, {
    config: shape,
    weights: initWeights(shape, 1),
    files: new Map([
      ['tokenizer.json', JSON.stringify(TOKENIZER)],
      ['tokenizer_config.json', JSON.stringify({ eos_token: '<|im_end|>', chat_template: TEMPLATE })],
    ]),
  })
  return folder
}
