/** @file Files that people use, in the folder that GRADUS_MODELS names: tokens as llama.cpp makes them, weights as transformers reads them. */

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { realModel, sharedData } from '../../util/shared-data.ts'
import { loadTokenizer } from '../tokenizer.ts'
import { openTensors } from './config.ts'
import { ggufHeader } from './folder.ts'

/** Folder and file, name in the reference tokens, and SHA-256 of all weights that transformers 5.8 reads from it, by name. */
const MODELS = [
  {
    file: 'smollm2/SmolLM2-135M-Instruct.Q4_1.gguf',
    name: 'smollm2-135m',
    weights: '785e20b3e653276b0579b744214a1186d730ba80af04f397f642d6432e5e0154',
  },
  {
    file: 'gemma3/gemma-3-270m-q4_k_m.gguf',
    name: 'gemma3-270m',
    weights: '2a1b02142882b7f30c4e6d3175b442a05ba1d9c42fde8fa5a0ece107ca301f2e',
  },
  {
    file: 'qwen05/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf',
    name: 'qwen-coder-0.5b',
    weights: '328d0932834e6be35c1a2a1a1e8303740f34b532fc4df10a192506a7abe99398',
  },
  {
    file: 'qwen15/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
    name: 'qwen-coder-1.5b',
    weights: '67740c01e48adf0a7c5151cb2f54e15392fa64c8195133f8394de322370ecf53',
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
