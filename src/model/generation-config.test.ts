import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CheckpointError } from '../util/errors.ts'
import { chatFormatOf } from './chat-format.ts'
import { loadConfig } from './checkpoint.ts'
import { describeSampling, loadGenerationConfig } from './generation-config.ts'
import { writeTinyChat } from './tiny-chat.fixture.ts'

let folder: string
beforeAll(() => {
  folder = writeTinyChat(join(mkdtempSync(join(tmpdir(), 'gradus-generation-')), 'model'), 64, [256])
})
afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

const write = (json: unknown) =>
  writeFileSync(
    join(folder, 'generation_config.json'),
    typeof json === 'string' ? json : JSON.stringify(json),
  )

describe('generation_config.json', () => {
  it('names tokens that end a response, beside those of config.json and the tokenizer', () => {
    write({ eos_token_id: [4, 256, 5] })
    expect(loadConfig(folder).eosTokenIds).toEqual([256, 4, 5])
    expect(chatFormatOf(folder, 'a test').stopTokens).toEqual([256, 4, 5, 257])
    rmSync(join(folder, 'generation_config.json'))
    expect(loadConfig(folder).eosTokenIds).toEqual([256])
  })

  it('says how a model is sampled, and what of that no sampler here has', () => {
    // As Qwen2.5-0.5B-Instruct has it.
    write({ do_sample: true, temperature: 0.7, top_p: 0.8, top_k: 20, repetition_penalty: 1.1 })
    const generation = loadGenerationConfig(folder)
    expect(generation).toEqual({
      eosTokenIds: [],
      sampling: { temperature: 0.7, topP: 0.8, topK: 20 },
      ignored: { repetition_penalty: 1.1 },
    })
    expect(describeSampling(generation, { topK: 0 })).toBe(
      'generation_config.json: temperature 0.7, top_p 0.8; ignored, as the sampler has none: repetition_penalty 1.1',
    )
  })

  it.each([
    ['nothing', {}, {}],
    ['greedy', { do_sample: false, temperature: 0.6 }, { temperature: 0 }],
    ['all tokens', { top_k: -1 }, { topK: 0 }],
    ['what changes nothing', { repetition_penalty: 1, min_p: 0, temperature: null }, {}],
  ])('reads %s', (_, json, sampling) => {
    write(json)
    const generation = loadGenerationConfig(folder)
    expect(generation).toMatchObject({ sampling, ignored: {} })
    expect(describeSampling(generation, sampling)).toBeNull()
  })

  it.each([
    ['no JSON', '{', /generation_config\.json: not JSON/],
    ['a text for a number', { temperature: 'hot' }, /generation_config\.json: temperature: expected/],
    ['a token beyond the vocabulary', { eos_token_id: 9999 }, /eos_token_id: expected ids below .* got 9999/],
  ])('is refused with %s', (_, json, message) => {
    write(json)
    expect(() => loadConfig(folder)).toThrow(CheckpointError)
    expect(() => loadConfig(folder)).toThrow(message)
  })
})
