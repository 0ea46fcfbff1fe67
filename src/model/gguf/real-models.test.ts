/** @file Files that people use, in the folder that GRADUS_MODELS names: tokens as llama.cpp makes them, weights as transformers reads them. */

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../policy/local/engine.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { realModel, sharedData } from '../../util/shared-data.fixture.ts'
import { chatFormatOf } from '../chat-format.ts'
import { loadTokenizer } from '../tokenizer.ts'
import { openTensors } from './config.ts'
import { ggufHeader } from './folder.ts'

/** File, name in the reference tokens, and SHA-256 of all weights that transformers 5.8 reads from it, by name. */
const MODELS = [
  {
    file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    name: 'smollm2-135m',
    weights: '785e20b3e653276b0579b744214a1186d730ba80af04f397f642d6432e5e0154',
  },
  {
    file: 'gemma-3-270m-q4_k_m.gguf',
    name: 'gemma3-270m',
    weights: '2a1b02142882b7f30c4e6d3175b442a05ba1d9c42fde8fa5a0ece107ca301f2e',
  },
  {
    file: 'qwen2.5-coder-0.5b-instruct-q4_k_m.gguf',
    name: 'qwen-coder-0.5b',
    weights: '328d0932834e6be35c1a2a1a1e8303740f34b532fc4df10a192506a7abe99398',
  },
  {
    file: 'qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
    name: 'qwen-coder-1.5b',
    weights: '67740c01e48adf0a7c5151cb2f54e15392fa64c8195133f8394de322370ecf53',
  },
]

/**
 * Of SmolLM2-135M-Instruct: what transformers 5.8 says greedily by scripts/peers/hf_decode.py, opened from the folder that it makes of
 * the file itself (`from_pretrained(..., gguf_file=...)`, float32).
 */
const GREEDY = [
  {
    prompt: 'Write two sentences about the sea.',
    tokens: [
      504, 3426, 314, 253, 4749, 284, 11965, 7815, 28, 30055, 351, 1029, 284, 2073, 282, 13278, 30, 657, 506,
      253,
    ],
    text: "The sea is a vast and mysterious realm, teeming with life and full of wonders. It's a",
  },
  {
    prompt: 'List three uses of a paper clip.',
    tokens: [
      33, 30, 330, 1941, 16092, 416, 325, 804, 347, 253, 1763, 327, 4833, 3359, 30, 657, 416, 325, 804, 288,
    ],
    text: '1. A paper clip can be used as a tool for creative projects. It can be used to',
  },
]

describe.each(MODELS)('$file', ({ file, name, weights }) => {
  const path = realModel(file)
  const reference = sharedData('tokenizer/gguf_llamacpp.jsonl')
  const rows = reference
    ? (readJsonl(reference) as { model: string; text: string; tokens: number[] }[]).filter(
        row => row.model === name,
      )
    : []

  it.skipIf(path === null || rows.length === 0)('makes the tokens of llama.cpp', () => {
    const tokenizer = loadTokenizer(path!)
    for (const { text, tokens } of rows) expect(tokenizer.encode(text), text).toEqual(tokens)
    expect(rows).toHaveLength(124)
  })

  it.skipIf(path === null)(
    'has the weights that transformers reads',
    () => {
      const tensors = openTensors(ggufHeader(path!))
      const hash = createHash('sha256')
      for (const tensor of tensors.names().sort()) {
        const data = tensors.read(tensor)
        hash.update(tensor).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
      }
      tensors.close()
      expect(hash.digest('hex')).toBe(weights)
    },
    600_000,
  )
})

const chatty = realModel(MODELS[0].file)

it.skipIf(chatty === null)(
  'SmolLM2 says the greedy words of transformers',
  async () => {
    const format = chatFormatOf(chatty!, 'this test')
    const engine = createEngine({ folder: chatty! }, { threads: 2, spinning: false })
    const samples = await engine.sample({
      prompts: GREEDY.map(({ prompt }) => format.encode([{ role: 'user', content: prompt }])),
      maxTokens: 20,
      temperature: 0,
    })
    expect(samples.map(({ tokens }) => ({ tokens: [...tokens], text: format.show(tokens) }))).toEqual(
      GREEDY.map(({ tokens, text }) => ({ tokens, text })),
    )
  },
  120_000,
)
