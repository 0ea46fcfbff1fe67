/** @file A chat model small enough for tests: random weights, a token a byte, a template, and a judge by rule. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { saveCheckpoint } from '../../model/checkpoint.ts'
import type { ModelConfig } from '../../model/config.ts'
import { initWeights } from '../../model/weights.ts'

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

const config = (maxPositions: number): ModelConfig => ({
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
  eosTokenIds: [END],
  initializerRange: 0.3,
})

/** Writes a checkpoint folder with random weights, tokenizer and template. */
export const writeTinyChat = (folder: string, maxPositions = 2048): string => {
  const shape = config(maxPositions)
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

/** Made-up rows in HealthBench's format. */
export const ROWS = Array.from({ length: 6 }, (_, i) => ({
  prompt_id: `question-${i}`,
  prompt: [{ role: 'user', content: `What helps against hiccups number ${i}?` }],
  rubrics: [
    { criterion: `Names remedy ${i}`, points: 5, tags: ['axis:accuracy'] },
    { criterion: 'Is an even number of characters', points: 3, tags: ['axis:completeness'] },
    { criterion: 'Promises a cure', points: -4, tags: ['axis:accuracy'] },
    {
      criterion: 'Mentions water',
      points: 2,
      tags: ['verifier:rule', 'function:contains', 'parameters:{"any": ["water"]}'],
    },
  ],
}))

/** Writes rows as JSON Lines and returns the file. */
export const writeRows = (folder: string, rows: readonly unknown[] = ROWS): string => {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'rows.jsonl')
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}

/** A judge whose verdicts depend on the text that it is shown. An unsteady one cannot be read every tenth call. */
export const tinyJudge = (steady = false) =>
  scriptedModel(({ messages }, call) => {
    if (!steady && call % 10 === 9) return 'no idea'
    const text = messages.map(({ content }) => content).join('')
    return JSON.stringify({ explanation: 'by rule', criteria_met: text.length % 2 === 0 })
  })

/** Settings of a run on them, as a configuration file has them. */
export const tinyConversations = (folder: string, file: string, more: Record<string, unknown> = {}) => ({
  model: { folder },
  task: { kind: 'conversations', file, holdOut: 2 },
  judge: {
    fleet: { endpoints: [{ url: 'http://127.0.0.1:9', model: 'nobody', sendTopK: true }] },
    ask: { retries: 0 },
  },
  steps: 3,
  engine: { threads: 1 },
  rollout: { prompts: 2, samples: 3, maxTokens: 12 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
  evaluation: { problems: 2 },
  scaffold: { decay: { kind: 'linear' } },
  ...more,
})
