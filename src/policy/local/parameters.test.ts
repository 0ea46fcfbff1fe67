import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loraModules } from '../../model/lora-files.ts'
import { readSafetensors } from '../../model/safetensors.ts'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { CheckpointError } from '../../util/errors.ts'
import { updateOnce } from '../update.ts'
import type { Engine } from './engine.ts'
import { modelTensors } from './parameters.ts'
import { SAME_BITS, TINY, tinyEngine, weightsOf } from './tiny-model.fixture.ts'

const LORA = { rank: 2, alpha: 4, targetModules: loraModules }
const ITEMS = [
  { promptTokens: [1, 2, 3], tokens: [4, 5, 6, 7] },
  { promptTokens: [10], tokens: [11, 12, 13] },
]

/** A few steps of sampling and updating, whose course depends on weights, moments and step count. */
const train = async (engine: Engine, from: number, to: number): Promise<string[]> => {
  const log = []
  for (let step = from; step < to; step++) {
    const prompts = [[1, 2], [3]]
    const samples = await engine.sample({ prompts, samplesPerPrompt: 3, maxTokens: 6, seed: step })
    const datums = samples.map(({ prompt, tokens, logprobs, index }) => ({
      promptTokens: prompts[prompt],
      tokens,
      mask: new Float32Array(tokens.length).fill(1),
      oldLogprobs: logprobs,
      advantages: new Float32Array(tokens.length).fill(index - 1),
    }))
    const optimizer = { learningRate: 0.01, weightDecay: 0.1 }
    const stats = await updateOnce(engine, datums, { loss: LOSS_PRESETS['trl:dapo'], optimizer })
    log.push(JSON.stringify({ step, stats, tokens: samples.map(({ tokens }) => [...tokens]) }))
  }
  return log
}

describe('checkpoints of a policy', () => {
  let root: string
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'gradus-parameters-'))
  })
  afterAll(() => {
    rmSync(root, { recursive: true })
  })
  const at = (name: string) => join(root, name)

  it.each([
    ['all weights', {}],
    ['all weights and a value head', { valueHead: true }],
    ['an adapter', { lora: LORA }],
  ])('%s: going on after load is bit for bit what not stopping gives', async (name, source) => {
    const straight = tinyEngine(source, SAME_BITS)
    const wholeLog = await train(straight, 0, 5)
    const stopped = tinyEngine(source, SAME_BITS)
    await train(stopped, 0, 3)
    await stopped.save(at(name))
    const resumed = tinyEngine(source, SAME_BITS)
    await train(resumed, 7, 8)
    await resumed.load(at(name))
    expect(await train(resumed, 3, 5)).toEqual(wholeLog.slice(3))
    expect(await weightsOf(resumed)).toEqual(await weightsOf(straight))
  })

  it('starts the optimiser anew from a folder without its state', async () => {
    const engine = tinyEngine()
    await train(engine, 0, 2)
    await engine.save(at('bare'), { optimizer: false })
    expect(existsSync(at('bare/optimizer.safetensors'))).toBe(false)
    await train(engine, 2, 3)
    await engine.load(at('bare'))
    const fresh = tinyEngine({ folder: at('bare') })
    expect(await train(engine, 3, 5)).toEqual(await train(fresh, 3, 5))
  })

  it('keeps text files of the model and writes nothing that names the adapter when there is none', async () => {
    const files = { 'tokenizer_config.json': '{"chat_template":"x"}' }
    const engine = tinyEngine({ init: { config: TINY, seed: 1, files } })
    await engine.save(at('files'))
    expect(readFileSync(at('files/tokenizer_config.json'), 'utf8')).toBe(files['tokenizer_config.json'])
    expect(existsSync(at('files/adapter_config.json'))).toBe(false)
    expect([...readSafetensors(at('files/model.safetensors')).keys()]).toContain('model.embed_tokens.weight')
  })

  describe('adapters', () => {
    it('start as the base model, train the factors only, and leave the base as it is', async () => {
      const base = tinyEngine()
      await base.save(at('base'))
      const engine = tinyEngine({ folder: at('base'), lora: LORA, seed: 3 })
      const reference = await base.score(ITEMS)
      expect(await engine.score(ITEMS)).toEqual(reference)
      expect(engine.parameters.trained.every(({ name }) => /lora_[AB]\.weight$/.test(name))).toBe(true)
      await engine.freezeReference()
      await train(engine, 0, 3)
      expect(await engine.score(ITEMS, { weights: 'reference' })).toEqual(reference)
      expect(await engine.score(ITEMS)).not.toEqual(reference)
      expect(engine.parameters.count).toBe(modelTensors(TINY, LORA).total)
    })

    it('come back from their folder with the base that they name, also when saved again from there', async () => {
      await tinyEngine().save(at('base2'))
      const engine = tinyEngine({ folder: at('base2'), lora: LORA, valueHead: true })
      await train(engine, 0, 2)
      await engine.save(at('adapter'))
      const expected = await engine.score(ITEMS)
      const opened = tinyEngine({ folder: at('adapter'), valueHead: true })
      expect(await opened.score(ITEMS)).toEqual(expected)
      await opened.save(at('adapter-again'))
      const again = tinyEngine({ folder: at('adapter-again'), valueHead: true })
      expect(await again.score(ITEMS)).toEqual(expected)
    })

    it('are the reference as they were when it was frozen, not the base without them', async () => {
      await tinyEngine().save(at('base4'))
      const first = tinyEngine({ folder: at('base4'), lora: LORA })
      await train(first, 0, 2)
      await first.save(at('learnt'))
      const started = await first.score(ITEMS)
      const engine = tinyEngine({ folder: at('learnt') })
      await engine.freezeReference()
      await train(engine, 2, 4)
      expect(await engine.score(ITEMS, { weights: 'reference' })).toEqual(started)
      expect(started).not.toEqual(await tinyEngine({ folder: at('base4') }).score(ITEMS))
    })

    it('of another rank are refused, and nothing has changed', async () => {
      await tinyEngine().save(at('base3'))
      const small = tinyEngine({ folder: at('base3'), lora: LORA })
      await small.save(at('rank2'))
      const large = tinyEngine({ folder: at('base3'), lora: { ...LORA, rank: 4 } })
      const before = await weightsOf(large)
      await expect(large.load(at('rank2'))).rejects.toThrow(CheckpointError)
      expect(await weightsOf(large)).toEqual(before)
    })

    it('whose base is not there say where it was expected', async () => {
      const engine = tinyEngine({ lora: LORA })
      await engine.save(at('lonely'))
      expect(() => tinyEngine({ folder: at('lonely') })).toThrow(/base model.*adapter_config\.json/)
    })
  })

  it('weights that a step has spoilt are not saved', async () => {
    const engine = tinyEngine()
    await engine.accumulate(
      ITEMS.map(({ promptTokens, tokens }) => ({
        ...{ promptTokens, tokens, mask: new Float32Array(tokens.length).fill(1) },
        ...{ oldLogprobs: new Float32Array(tokens.length), advantages: new Float32Array(tokens.length) },
      })),
      { loss: LOSS_PRESETS['gradus:supervised'] },
    )
    await engine.step({ learningRate: 1e308 })
    await expect(engine.save(at('spoilt'))).rejects.toThrow(/expected finite numbers/)
    expect(existsSync(at('spoilt'))).toBe(false)
  })

  it('broken folders are refused before anything changes', async () => {
    const engine = tinyEngine()
    await train(engine, 0, 1)
    await engine.save(at('broken'))
    const file = at('broken/optimizer.safetensors')
    writeFileSync(file, readFileSync(file).subarray(0, 500))
    await train(engine, 1, 2)
    const before = await weightsOf(engine)
    await expect(engine.load(at('broken'))).rejects.toThrow(CheckpointError)
    await expect(engine.load(at('nowhere'))).rejects.toThrow(CheckpointError)
    expect(await weightsOf(engine)).toEqual(before)
    expect(() => tinyEngine({ folder: at('nowhere') })).toThrow(/no such checkpoint folder/)
  })
})
