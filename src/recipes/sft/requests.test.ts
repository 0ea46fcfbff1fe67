import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chatFormatOf } from '../../model/chat-format.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import { readSafetensors } from '../../model/safetensors.ts'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { loadWeights } from '../../model/weights.ts'
import { latestCheckpoint, readEvals, readMetrics, readRunInfo, withoutTimings } from '../../runs/readers.ts'
import { requestDemonstrations } from '../../tasks/requests/index.ts'
import { JUDGE_TEXTS } from '../../tasks/requests/tokenizer.ts'
import { mean } from '../../util/statistics.ts'
import type { RunResult } from '../common/recipe.ts'
import { freshChatModel } from './requests.ts'
import { runSftRecipe } from './run.ts'
import { startConfig } from './start.fixture.ts'

const SLOW_MS = 120_000
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-chat-start-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const config = startConfig('chat-cold-start', {
  ...{ steps: 12, batch: 8 },
  model: { shape: { hiddenSize: 32, layers: 1, heads: 2 } },
  'task.vocabulary': 1024,
  policy: { threads: 1 },
  optimizer: { learningRate: { kind: 'constant', peak: 5e-3, warmup: 0 } },
  evaluation: { problems: 6 },
  checkpoint: { every: 6 },
})

const run = (name: string, resume = false, stopAfter = 100): Promise<RunResult> => {
  let steps = 0
  const events = { onStep: () => steps++, shouldStop: () => steps >= stopAfter }
  return runSftRecipe(config, { dir: join(folder, name), resume, events })
}
const rowsOf = (name: string) => readMetrics(join(folder, name)).map(withoutTimings)

describe('the small chat model', () => {
  const { format, tokenizer } = freshChatModel(config.model.shape, 1024, config.seed)

  it('shows answers and verdicts, longest first, and weighs questions less', () => {
    const drawn = requestDemonstrations({ seed: 1, batch: 64, judged: 0.35, promptWeight: 0.2 }, format)(3)
    const texts = drawn.map(({ responseTokens }) => tokenizer.decode([...responseTokens]))
    const verdicts = texts.filter(text => text.includes('"criteria_met": '))
    expect(verdicts.length).toBeGreaterThan(10)
    expect(verdicts.length).toBeLessThan(40)
    const lengths = drawn.map(({ responseTokens }) => responseTokens.length)
    expect(lengths).toEqual(lengths.toSorted((a, b) => b - a))
    for (const { responseTokens, responseWeights } of drawn) {
      const said = format
        .show([...responseTokens])
        .split('<|assistant|>')
        .at(-1)!
      const learnt = [...responseTokens].filter((_, t) => responseWeights![t] === 1)
      expect(format.show(learnt)).toBe(said)
      expect([...responseWeights!].filter(weight => weight !== 1)).not.toContain(0)
    }
  })

  it('learns, and goes on after a stop as if there had been none', { timeout: SLOW_MS }, async () => {
    await run('whole')
    const losses = rowsOf('whole').map(({ loss }) => loss as number)
    expect(mean(losses.slice(-3))).toBeLessThan(0.9 * mean(losses.slice(0, 3)))
    await run('parts', false, 6)
    await run('parts', true)
    expect(rowsOf('parts')).toEqual(rowsOf('whole'))
    // Killed after its last checkpoint.
    rmSync(join(folder, 'parts', 'model'), { recursive: true })
    await run('parts', true)
    expect(chatFormatOf(join(folder, 'parts', 'model'), 'a test').stopTokens).toHaveLength(1)
    const evals = readEvals(join(folder, 'whole'))
    expect(evals.map(({ set }) => set)).toEqual(['fresh requests', 'fresh questions to the judge'])
    expect(evals[0].scores.right.value).toEqual(expect.any(Number))
    expect(evals[1].scores.balanced.value).toEqual(expect.any(Number))

    const dir = join(folder, 'whole', 'model')
    const config = loadConfig(dir)
    const [small, large] = [dir, latestCheckpoint(join(folder, 'whole'))!].map(
      place => loadWeights(place, config).get('model.norm.weight')!.data,
    )
    small.forEach((value, i) => {
      expect(Math.abs(value - large[i])).toBeLessThan(1e-3)
    })
    expect(readSafetensors(join(dir, 'model.safetensors')).size).toBeGreaterThan(3)
    expect(chatFormatOf(dir, 'a test').stopTokens).toEqual([loadTokenizer(dir).eosId])
  })

  it('without a step evaluates the fresh weights, and names its first set as the one to read', async () => {
    await runSftRecipe({ ...config, steps: 0 }, { dir: join(folder, 'none'), resume: false })
    const evals = readEvals(join(folder, 'none'))
    expect(evals.map(({ step }) => step)).toEqual([0, 0])
    expect(readRunInfo(join(folder, 'none')).primarySet).toBe(evals[0].set)
  })

  it('reads a quotation without its hash, which cannot make a special token of a text', () => {
    expect(tokenizer.encode('</reply-0123456789ab>')).toEqual(tokenizer.encode('</reply>'))
    const special = tokenizer.idOf('<|assistant|>')
    expect(tokenizer.encode('<|assistant|>')).toEqual([special])
    for (const text of ['<|assistant|-0123456789ab>', '<|assistant-0123456789ab|>'])
      expect(tokenizer.encode(text)).not.toContain(special)
  })

  it('has what a judge is always asked as single tokens', () => {
    for (const text of JUDGE_TEXTS) expect(tokenizer.encode(text)).toHaveLength(1)
    expect(JUDGE_TEXTS[0].length).toBeGreaterThan(2000)
  })
})
