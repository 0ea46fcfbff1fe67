import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readSafetensors } from '../../model/safetensors.ts'
import { AGGREGATION_MODES, type AggregationMode } from '../../rl/aggregate.ts'
import type { Datum } from '../../rl/datum.ts'
import { lossSchema } from '../../rl/loss.ts'
import { LOSS_PRESETS } from '../../rl/loss-presets.ts'
import { CheckpointError, ConfigError, DataError, NumericError, UsageError } from '../../util/errors.ts'
import { enginesOf, openPolicy, pipelinedPolicySchema } from '../open.ts'
import type { NextTurn, Policy, Sample } from '../policy.ts'
import { updateOnce } from '../update.ts'
import { DataParallelPolicy, deal } from './data-parallel-policy.ts'
import { LocalPolicy } from './local-policy.ts'
import type { ModelSource } from './model-source.ts'
import { PairedPolicy } from './paired-policy.ts'
import { rolloutDatums } from './rollout-datums.ts'
import { TINY } from './tiny-model.fixture.ts'
import { defaultEngines } from './weight-sizes.ts'

const SOURCE: ModelSource = { init: { config: TINY, seed: 1 } }
/** Prompts of different lengths, one of them twice. */
const PROMPTS = [[1, 2, 3], [4], [5, 6, 7, 8, 9, 10, 11], [4], [12, 13], [3, 2, 1, 0, 16]]
const REQUEST = { prompts: PROMPTS, samplesPerPrompt: 3, maxTokens: 12, seed: 5, stopTokens: [3, 9] }
const GRPO = LOSS_PRESETS['trl:grpo']
const SUPERVISED = LOSS_PRESETS['gradus:supervised']
/** What some aggregations need besides. */
const SETTINGS: Partial<Record<AggregationMode, object>> = {
  dr_grpo: { scale: 40 },
  'seq-mean-token-sum-norm': { scale: 40 },
  'token-mean-per-microbatch': { microBatch: 4 },
}
const REINFORCE = lossSchema.parse({ policy: { kind: 'reinforce' }, aggregation: { mode: 'token-mean' } })
const OPTIMIZER = { learningRate: 0.01, maxGradNorm: 0.5 }

const parallel = (engines: number, source = SOURCE, options = {}) =>
  DataParallelPolicy.start(source, { engines, threads: 1, maxRows: 8, microBatchTokens: 64, ...options })

const withPolicies = async <T>(
  starting: readonly Promise<Policy>[],
  run: (...policies: Policy[]) => Promise<T>,
): Promise<T> => {
  const policies = await Promise.all(starting)
  try {
    return await run(...policies)
  } finally {
    await Promise.all(policies.map(policy => policy.close()))
  }
}

const plain = (samples: readonly Sample[]) =>
  samples.map(({ prompt, index, tokens, finishReason }) => ({
    ...{ prompt, index, finishReason },
    tokens: [...tokens],
  }))

const datumsOf = (samples: readonly Sample[]): Datum[] => rolloutDatums(PROMPTS, samples, 'advantages')

const expectClose = (actual: ArrayLike<number>, expected: ArrayLike<number>, digits = 5) => {
  expect(actual.length).toBe(expected.length)
  for (let i = 0; i < expected.length; i++) expect(actual[i]).toBeCloseTo(expected[i], digits)
}

/** Rollouts and updates; everything that came of them. */
const train = async (policy: Policy, steps = 3) => {
  const rows = []
  for (let step = 0; step < steps; step++) {
    const samples = await policy.sample({ ...REQUEST, seed: step })
    const stats = await updateOnce(policy, datumsOf(samples), {
      loss: GRPO,
      optimizer: OPTIMIZER,
      logprobs: true,
    })
    rows.push({ samples, stats })
  }
  const scores = await policy.score(PROMPTS.map(promptTokens => ({ promptTokens, tokens: [1, 2] })))
  return { rows, scores }
}

describe('work is dealt', () => {
  it('the largest first, to whoever has least', () => {
    expect(deal([1, 5, 3, 3], 2)).toEqual([
      [1, 0],
      [2, 3],
    ])
    expect(deal([2], 3)).toEqual([[0], [], []])
    expect(deal([], 2)).toEqual([[], []])
  })
})

describe('a policy of several engines', { timeout: 120_000 }, () => {
  it.each<[string, number, ModelSource]>([
    ['two engines', 2, SOURCE],
    ['more engines than prompts', 7, SOURCE],
    ['more words than are scored at a time', 2, { init: { config: { ...TINY, vocabSize: 9001 }, seed: 1 } }],
    ['an adapter', 2, { ...SOURCE, lora: { rank: 2, alpha: 4, targetModules: ['q_proj', 'up_proj'] } }],
  ])('samples, scores and learns as one engine does, but for rounding: %s', async (_, engines, source) => {
    await withPolicies(
      [LocalPolicy.start(source, { threads: 1 }), parallel(engines, source)],
      async (one, many) => {
        const [expected, got] = [await train(one), await train(many)]
        expected.rows.forEach(({ samples, stats }, step) => {
          const row = got.rows[step]
          expect(plain(row.samples)).toEqual(plain(samples))
          samples.forEach(({ logprobs }, i) => {
            expectClose(row.samples[i].logprobs, logprobs, 4)
          })
          expect(row.stats.loss).toBeCloseTo(stats.loss, 5)
          expect(row.stats.gradNorm).toBeCloseTo(stats.gradNorm!, 4)
          expect(row.stats.tokens).toBe(stats.tokens)
          expect(row.stats.entropy).toBeCloseTo(stats.entropy!, 4)
          stats.logprobs!.forEach((logprobs, i) => {
            expectClose(row.stats.logprobs![i], logprobs, 4)
          })
        })
        expected.scores.forEach(({ logprobs, entropies }, i) => {
          expectClose(got.scores[i].logprobs, logprobs, 4)
          expectClose(got.scores[i].entropies!, entropies!, 4)
        })
      },
    )
  })

  it('learns values as one engine does', async () => {
    const source = { ...SOURCE, valueHead: true }
    const learn = async (policy: Policy) => {
      const samples = await policy.sample(REQUEST)
      const items = samples.map(({ prompt, tokens }) => ({ promptTokens: PROMPTS[prompt], tokens }))
      const before = await policy.score(items)
      const datums = datumsOf(samples).map((datum, i) => ({
        ...datum,
        oldValues: before[i].values!,
        refLogprobs: before[i].logprobs,
        returns: new Float32Array(datum.tokens.length).fill(i % 3),
      }))
      const optimizer = { ...OPTIMIZER, valueLearningRate: 0.1 }
      await updateOnce(policy, datums, { loss: LOSS_PRESETS['gradus:rlcer'], optimizer })
      return (await policy.score(items)).map(({ values }) => values!)
    }
    await withPolicies(
      [LocalPolicy.start(source, { threads: 1 }), parallel(2, source)],
      async (one, many) => {
        const [expected, got] = [await learn(one), await learn(many)]
        expected.forEach((values, i) => {
          expectClose(got[i], values, 4)
        })
      },
    )
  })

  it('gives the same bits every time', async () => {
    const runs = await withPolicies([parallel(2), parallel(2)], (a, b) => Promise.all([train(a), train(b)]))
    expect(runs[0]).toEqual(runs[1])
  })

  it('weighs tokens by the whole batch, however it is dealt', async () => {
    // Two long sequences and many short ones: means over sequences and over tokens differ.
    const datum = (length: number, at: number): Datum => ({
      promptTokens: [at % 17],
      tokens: Array.from({ length }, (_, t) => (t * 3 + at) % 17),
      mask: new Float32Array(length).fill(1),
      oldLogprobs: new Float32Array(length),
      advantages: new Float32Array(length).fill(1),
    })
    const datums = [40, 1, 2, 30, 1, 1, 3, 2, 1].map(datum)
    await withPolicies([LocalPolicy.start(SOURCE, { threads: 1 }), parallel(3)], async (one, many) => {
      for (const mode of AGGREGATION_MODES) {
        const options = {
          loss: lossSchema.parse({ policy: { kind: 'reinforce' }, aggregation: { mode, ...SETTINGS[mode] } }),
          prompts: datums.map((_, i) => i % 2),
          optimizer: OPTIMIZER,
        }
        const expected = await updateOnce(one, datums, options)
        const got = await updateOnce(many, datums, options)
        expect(got.loss / expected.loss).toBeCloseTo(1, 5)
        expect(got.gradNorm! / expected.gradNorm!).toBeCloseTo(1, 4)
      }
    })
  })

  it('sums the gradients of several batches before a step, also where an engine got nothing of one', async () => {
    const long = datumsOf([
      {
        prompt: 0,
        index: 0,
        tokens: Int32Array.from({ length: 40 }, (_, t) => t % 17),
        logprobs: new Float32Array(40),
        finishReason: 'stop',
      },
    ])
    const learn = async (policy: Policy) => {
      await policy.accumulate(long, { loss: SUPERVISED })
      await policy.accumulate(datumsOf(await policy.sample(REQUEST)), { loss: GRPO })
      await policy.accumulate(long, { loss: SUPERVISED })
      return (await policy.step(OPTIMIZER)).gradNorm!
    }
    await withPolicies([LocalPolicy.start(SOURCE, { threads: 1 }), parallel(2)], async (one, many) => {
      const expected = await learn(one)
      expect((await learn(many)) / expected).toBeCloseTo(1, 4)
      const [kept, compared] = [
        { keepAs: 'a', against: [] },
        { keepAs: 'b', against: ['a'] },
      ]
      for (const policy of [one, many]) {
        await policy.accumulate(long, { loss: SUPERVISED })
        await policy.step({ learningRate: 1e-9, gradient: kept })
        await policy.accumulate(long, { loss: SUPERVISED })
        const { gradientCosines } = await policy.step({ learningRate: 1e-9, gradient: compared })
        expect(gradientCosines!.a).toBeCloseTo(1, 4)
      }
      const angles = await Promise.all(
        [one, many].map(async policy => {
          await policy.accumulate(datumsOf(await policy.sample(REQUEST)), { loss: GRPO })
          return (
            await policy.step({ learningRate: 1e-9, gradient: { keepAs: 'c', against: ['a', 'none'] } })
          ).gradientCosines!
        }),
      )
      expect(Math.abs(angles[0].a!)).toBeLessThan(0.99)
      expect(angles[1].a).toBeCloseTo(angles[0].a!, 4)
      expect(Object.keys(angles[1])).toEqual(['a'])
    })
  })

  it('divides the samples of a single prompt, and hands all of them out', async () => {
    const request = { ...REQUEST, prompts: [[1, 2]], samplesPerPrompt: 21 }
    await withPolicies([LocalPolicy.start(SOURCE, { threads: 1 }), parallel(2)], async (one, many) => {
      const handed: Sample[] = []
      const tokens = new Map<string, number[]>()
      const drawn = await many.sample(
        request,
        sample => handed.push(sample),
        ({ prompt, index, token }) => {
          const name = `${prompt}/${index}`
          tokens.set(name, [...(tokens.get(name) ?? []), token])
        },
      )
      expect(plain(drawn)).toEqual(plain(await one.sample(request)))
      expect(handed.toSorted((a, b) => a.index - b.index)).toEqual(drawn)
      for (const sample of drawn) expect(tokens.get(`0/${sample.index}`)).toEqual([...sample.tokens])
    })
  })

  it('converses with rows of several turns under their own numbers', async () => {
    const own = [...PROMPTS, ...PROMPTS]
    const alike = PROMPTS.map(() => [5, 6])
    const said = async (policy: Policy, prompts: readonly number[][], instant: boolean) => {
      const rows = prompts.map((prompt, i) => ({ prompt, maxTokens: 6, stream: `row ${i}` }))
      const heard = rows.map((): number[][] => [])
      await policy.converse!(
        { rows, instant, stopTokens: [3] },
        async (row, turn): Promise<NextTurn | null> => {
          expect(turn.prompt).toBe(row)
          heard[row].push([...turn.tokens])
          if (heard[row].length === 3) return null
          return { tokens: [row], maxTokens: 5, stream: `row ${row}, turn ${heard[row].length}` }
        },
      )
      return heard
    }
    await withPolicies([LocalPolicy.start(SOURCE, { threads: 1 }), parallel(2)], async (one, many) => {
      for (const [prompts, instant] of [
        [own, true],
        [own, false],
        [alike, true],
      ] as const)
        expect(await said(many, prompts, instant)).toEqual(await said(one, prompts, instant))
      expect(await many.converse!({ rows: [], instant: true }, async () => null)).toBeUndefined()
    })
  })

  it('carries calls out in the order in which they were made', async () => {
    await withPolicies([parallel(2), parallel(2)], async (waiting, racing) => {
      const before = await waiting.sample(REQUEST)
      const datums = datumsOf(before)
      await updateOnce(waiting, datums, { loss: GRPO, optimizer: OPTIMIZER })
      const after = await waiting.sample(REQUEST)
      const calls = [
        racing.sample(REQUEST),
        updateOnce(racing, datums, { loss: GRPO, optimizer: OPTIMIZER }),
        racing.sample(REQUEST),
      ] as const
      const [first, , last] = await Promise.all(calls)
      expect(first).toEqual(before)
      expect(last).toEqual(after)
      expect(last).not.toEqual(before)
    })
  })

  it('names prompts, rows and datums of a refused request by their numbers in the whole', async () => {
    await withPolicies([parallel(2)], async policy => {
      const empty = { ...REQUEST, prompts: [...PROMPTS, []] }
      await expect(policy.sample(empty)).rejects.toThrow('prompt 6 is empty')
      const rows = [...PROMPTS, [99]].map(prompt => ({ prompt, maxTokens: 3, stream: 's' }))
      await expect(policy.converse!({ rows, instant: true }, async () => null)).rejects.toThrow(
        /^row 6: token 99/,
      )
      await expect(
        policy.score([
          { promptTokens: [1], tokens: [2] },
          { promptTokens: [], tokens: [2] },
        ]),
      ).rejects.toThrow('sequence 1: the prompt is empty')
      const datums = datumsOf(await policy.sample(REQUEST))
      const all = datums.map((datum, i) => (i === 13 ? datum : { ...datum, refLogprobs: datum.oldLogprobs }))
      await expect(policy.accumulate(all, { loss: LOSS_PRESETS['verl:grpo'] })).rejects.toThrow(
        'datum 13: the loss needs refLogprobs',
      )
      await expect(policy.accumulate(datums, { loss: LOSS_PRESETS['gradus:rlcer'] })).rejects.toThrow(
        ConfigError,
      )
    })
  })

  it('drops everything accumulated, on every engine, when a batch or a step fails', async () => {
    await withPolicies([parallel(2)], async policy => {
      const datums = datumsOf(await policy.sample(REQUEST))
      const before = await policy.score([{ promptTokens: [1], tokens: [2, 3] }])
      const far = (datum: Datum): Datum => ({
        ...datum,
        advantages: new Float32Array(datum.tokens.length).fill(3e38),
      })
      const spoilt = datums.map((datum, i) => (i === 4 ? far(datum) : datum))
      await policy.accumulate(datums, { loss: GRPO })
      await expect(policy.accumulate(spoilt, { loss: REINFORCE })).rejects.toThrow(NumericError)
      await expect(policy.step(OPTIMIZER)).rejects.toThrow(UsageError)
      await policy.accumulate(datums, { loss: GRPO })
      await expect(policy.accumulate([], { loss: GRPO })).rejects.toThrow(DataError)
      await expect(policy.step(OPTIMIZER)).rejects.toThrow(UsageError)
      expect(await policy.score([{ promptTokens: [1], tokens: [2, 3] }])).toEqual(before)
      expect(
        (await updateOnce(policy, datums, { loss: GRPO, optimizer: OPTIMIZER })).gradNorm,
      ).toBeGreaterThan(0)
    })
  })

  it('rejects a call whose listener throws, asks nothing more, and goes on', async () => {
    await withPolicies([parallel(2)], async policy => {
      let calls = 0
      const failing = policy.sample(REQUEST, () => {
        calls++
        throw new Error('the disk is full')
      })
      await expect(failing).rejects.toThrow('the disk is full')
      expect(calls).toBe(1)
      const rows = PROMPTS.map(prompt => ({ prompt, maxTokens: 3, stream: 's' }))
      let replies = 0
      let fail = () => {}
      const failed = new Promise<void>(resolve => {
        fail = resolve
      })
      const speaking = policy.converse!({ rows, instant: true }, async (row): Promise<NextTurn> => {
        if (row === 0) {
          fail()
          throw new Error('no tool')
        }
        replies++
        await failed
        return { tokens: [row], maxTokens: 3, stream: 't' }
      })
      await expect(speaking).rejects.toThrow('no tool')
      // Each row was heard once at most, and none after the failure.
      expect(replies).toBeLessThan(rows.length)
      expect(await policy.sample(REQUEST)).toHaveLength(18)
    })
  })

  it('goes on from a checkpoint as it would have, and keeps its reference', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gradus-data-parallel-'))
    const item = [
      { promptTokens: [1], tokens: [2, 3] },
      { promptTokens: [2], tokens: [5] },
    ]
    await withPolicies([parallel(2)], async policy => {
      const datums = datumsOf(await policy.sample(REQUEST))
      const update = () => updateOnce(policy, datums, { loss: GRPO, optimizer: OPTIMIZER })
      await expect(policy.score(item, { weights: 'reference' })).rejects.toThrow(CheckpointError)
      const start = await policy.score(item)
      await policy.freezeReference()
      await update()
      await policy.save(join(folder, 'saved'))
      const expected = [await update(), await policy.score(item), await policy.sample(REQUEST)]
      await policy.load(join(folder, 'saved'))
      expect([await update(), await policy.score(item), await policy.sample(REQUEST)]).toEqual(expected)
      expect(await policy.score(item, { weights: 'reference' })).toEqual(start)
      expect(await policy.score(item)).not.toEqual(start)
      await policy.accumulate(datums, { loss: GRPO })
      await expect(policy.save(join(folder, 'half'))).rejects.toThrow(UsageError)
      expect(existsSync(join(folder, 'half'))).toBe(false)
      await expect(policy.load('/nowhere')).rejects.toThrow(CheckpointError)
    })
    rmSync(folder, { recursive: true })
  })

  it('writes the checkpoints of one engine, and each goes on from the other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gradus-data-parallel-'))
    await withPolicies([LocalPolicy.start(SOURCE, { threads: 1 }), parallel(3)], async (one, many) => {
      const datums = datumsOf(await one.sample(REQUEST))
      const update = (policy: Policy) => updateOnce(policy, datums, { loss: GRPO, optimizer: OPTIMIZER })
      for (const [name, policy] of Object.entries({ one, many })) {
        await update(policy)
        await update(policy)
        await policy.save(join(folder, name))
      }
      for (const file of ['model.safetensors', 'optimizer.safetensors']) {
        const [expected, got] = ['one', 'many'].map(name => readSafetensors(join(folder, name, file)))
        expect([...got.keys()]).toEqual([...expected.keys()])
        for (const [name, { data }] of expected) expectClose(got.get(name)!.data, data, 4)
      }
      await one.load(join(folder, 'many'))
      await many.load(join(folder, 'one'))
      const [there, here] = [await update(many), await update(one)]
      expect(there.gradNorm).toBeCloseTo(here.gradNorm!, 4)
      for (const [name, policy] of Object.entries({ further: one, manyFurther: many }))
        await policy.save(join(folder, name))
      const [expected, got] = ['further', 'manyFurther'].map(name =>
        readSafetensors(join(folder, name, 'optimizer.safetensors')),
      )
      expect(got.get('steps')!.data).toEqual(Float32Array.of(3))
      for (const [name, { data }] of expected) expectClose(got.get(name)!.data, data, 4)
    })
    rmSync(folder, { recursive: true })
  })

  it('hands the optimiser’s state on without copying it on the way', async () => {
    const engine = await LocalPolicy.start(SOURCE, { threads: 1, part: { index: 1, of: 2 } })
    const { m, v } = await engine.moments()
    for (const { buffer } of [...m, ...v]) expect(buffer).toBeInstanceOf(SharedArrayBuffer)
    await engine.close()
  })

  it('ends as a whole: closed, or with any engine, and starts as a whole', async () => {
    const policy = await parallel(3)
    const calls = [policy.sample(REQUEST), policy.score([{ promptTokens: [1], tokens: [2] }])]
    const closing = policy.close()
    for (const call of calls) await expect(call).rejects.toThrow('the policy is closed')
    await closing
    for (const failing of [0, 1]) {
      const engines = await Promise.all(
        [0, 1].map(index => LocalPolicy.start(SOURCE, { threads: 1, part: { index, of: 2 } })),
      )
      const share = { maxRows: 64, microBatchTokens: 64 }
      const pair = new DataParallelPolicy(engines, share)
      const call = pair.sample(REQUEST)
      void engines[failing].close(new Error('out of memory'))
      await expect(call).rejects.toThrow('out of memory')
      await expect(pair.score([{ promptTokens: [1], tokens: [2] }])).rejects.toThrow('out of memory')
    }
    await expect(parallel(2, { folder: '/nowhere' })).rejects.toThrow(CheckpointError)
  })

  it.each(['stepPart', 'takeParts', 'takeWeights', 'takeMoments', 'freezeReference'] as const)(
    'is closed when a change was made by some engines only: %s',
    async failing => {
      const folder = mkdtempSync(join(tmpdir(), 'gradus-data-parallel-'))
      const engines = await Promise.all(
        [0, 1].map(index => LocalPolicy.start(SOURCE, { threads: 1, part: { index, of: 2 } })),
      )
      const pair = new DataParallelPolicy(engines, { maxRows: 64, microBatchTokens: 64 })
      await withPolicies([Promise.resolve(pair)], async policy => {
        await policy.save(join(folder, 'start'))
        const datums = datumsOf(await policy.sample(REQUEST))
        Object.assign(engines[1], { [failing]: () => Promise.reject(new Error('out of memory')) })
        const changing = async () => {
          await policy.freezeReference()
          await updateOnce(policy, datums, { loss: GRPO, optimizer: OPTIMIZER })
          await policy.load(join(folder, 'start'))
        }
        await expect(changing()).rejects.toThrow(/^out of memory$/)
        await expect(policy.sample(REQUEST)).rejects.toThrow(
          /^the engines no longer have the same weights: out of memory; go on from the last checkpoint/,
        )
        await expect(policy.save(join(folder, 'torn'))).rejects.toThrow('no longer have the same weights')
        expect(existsSync(join(folder, 'torn'))).toBe(false)
      })
      rmSync(folder, { recursive: true })
    },
  )
})

describe('the setting policy.engines', () => {
  it('is bounded, and of the processor, also where no settings are read', async () => {
    await expect(parallel(1e9)).rejects.toThrow(UsageError)
    await expect(parallel(2, SOURCE, { provider: 'webgpu' })).rejects.toThrow(
      'expected 1 with provider webgpu',
    )
  })

  it.each([
    [{}, DataParallelPolicy],
    [{ engines: 2, threads: 1 }, DataParallelPolicy],
    [{ engines: 1 }, LocalPolicy],
    [{ threads: 1 }, LocalPolicy],
    [{ sampler: {} }, PairedPolicy],
  ])('opens what %j asks for', async (settings, kind) => {
    await withPolicies([openPolicy(pipelinedPolicySchema.parse(settings), SOURCE)], async policy => {
      expect(policy).toBeInstanceOf(kind)
    })
  })

  it('is two where nothing else is said, for a small model on threads of the processor', () => {
    expect(defaultEngines({}, () => 1e6)).toBe(2)
    expect(defaultEngines({ threads: 16 }, () => 1e6)).toBe(2)
    expect(defaultEngines({ threads: 1 }, () => 1e6)).toBe(1)
    expect(defaultEngines({}, () => 33e6)).toBe(1)
    expect(defaultEngines({ provider: 'webgpu' }, () => expect.fail('nobody needs to know'))).toBe(1)
    expect(enginesOf({ sampler: {} }, () => TINY)).toBe(1)
    expect(enginesOf({ engines: 3, threads: 1 }, () => TINY)).toBe(3)
  })

  it.each([
    { provider: 'webgpu', engines: 2 },
    { sampler: {}, engines: 2 },
    { engines: 0 },
    { engines: 1.5 },
    { engines: 65 },
  ])('refuses %j', settings => {
    expect(pipelinedPolicySchema.safeParse(settings).success).toBe(false)
  })
})
