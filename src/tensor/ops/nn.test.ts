import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { Executable, type TensorValue } from '../executable.ts'
import { checkGradients } from '../gradient-check.fixture.ts'
import { gradients } from '../gradients.ts'
import { TEST_PROVIDER } from '../provider.fixture.ts'
import { constant, input, resolve, type Tensor } from '../tensor.ts'
import { add, expand, mul } from './elementwise.ts'
import { attention, type KeyBlock, type LogProbsOptions, tokenLogProbs, VOCABULARY_CHUNK } from './nn.ts'
import { reduceSum } from './reduce.ts'
import { concat, reshape } from './shape.ts'

const compile = (outputs: Record<string, Tensor>) => Executable.compile(outputs, { provider: TEST_PROVIDER })

const random = (shape: number[], seed: number): TensorValue => {
  const rng = new Rng(seed)
  const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => 2 * rng.next() - 1)
  return { data, dims: shape }
}

const expectClose = (a: TensorValue, b: TensorValue, tolerance: number) => {
  expect(a.dims).toEqual(b.dims)
  const [x, y] = [a.data as Float32Array, b.data as Float32Array]
  const largest = Math.max(1, ...x.map(Math.abs))
  expect(Math.max(...x.map((value, i) => Math.abs(value - y[i]))) / largest).toBeLessThan(tolerance)
}

/** Every tensor that a graph computes or declares. */
const tensorsOf = (outputs: Tensor[]): Tensor[] => {
  const seen = new Set<Tensor>()
  const stack = outputs.map(resolve)
  while (stack.length > 0) {
    const x = stack.pop()!
    if (seen.has(x)) continue
    seen.add(x)
    if (x.source.kind !== 'call') continue
    for (const output of x.source.call.outputs) seen.add(output)
    stack.push(...x.source.call.inputs.map(resolve))
  }
  return [...seen]
}

describe('log-probs over a vocabulary', () => {
  const [tokens, width, vocabulary] = [5, 4, 23]
  const graph = (chunk: number) => {
    const hidden = input('hidden', ['N', width])
    const table = input('table', [vocabulary, width])
    const { logprobs, entropy } = tokenLogProbs(hidden, table, input('targets', ['N'], 'int64'), { chunk })
    const loss = reduceSum(add(mul(logprobs, input('a', ['N'])), mul(entropy, input('b', ['N']))))
    const [dHidden, dTable] = gradients(loss, [hidden, table])
    return { logprobs, entropy, dHidden, dTable }
  }
  const feeds = {
    hidden: random([tokens, width], 1),
    table: random([vocabulary, width], 2),
    targets: { data: BigInt64Array.of(0n, 22n, 6n, 7n, 6n), dims: [tokens] },
    a: random([tokens], 3),
    b: random([tokens], 4),
  }
  // Large logits: a running log-sum-exp that forgets its peak overflows here.
  const large = {
    ...feeds,
    hidden: { ...feeds.hidden, data: (feeds.hidden.data as Float32Array).map(x => x * 300) },
  }

  it.each([1, 7, 8, 22])('in chunks of %i equal those of the whole, forward and backward', async chunk => {
    const whole = await compile(graph(vocabulary))
    const streamed = await compile(graph(chunk))
    for (const [values, tolerance] of [
      [feeds, 2e-6],
      [large, 2e-6],
    ] as const) {
      const [a, b] = [await whole.run(values), await streamed.run(values)]
      for (const name of Object.keys(a)) expectClose(a[name], b[name], tolerance)
      for (const { data } of Object.values(b))
        expect((data as Float32Array).every(Number.isFinite)).toBe(true)
    }
  })

  it.each([1, 7, 22])(
    'of a fixed table, in chunks of %i, have the same gradient of hidden states',
    async chunk => {
      const graph = (options: LogProbsOptions) => {
        const hidden = input('hidden', ['N', width])
        const table = input('table', [vocabulary, width])
        const { logprobs, entropy } = tokenLogProbs(hidden, table, input('targets', ['N'], 'int64'), options)
        const ofLogprobs = reduceSum(mul(logprobs, input('a', ['N'])))
        const ofBoth = add(ofLogprobs, reduceSum(mul(entropy, input('b', ['N']))))
        const [byLogprobs, byBoth] = [ofLogprobs, ofBoth].map(loss => gradients(loss, [hidden])[0])
        return { logprobs, entropy, byLogprobs, byBoth }
      }
      const whole = await compile(graph({ chunk: vocabulary }))
      for (const learnsEntropy of [false, true]) {
        const streamed = await compile(graph({ chunk, fixedTable: true, learnsEntropy }))
        for (const values of [feeds, large]) {
          const [a, b] = [await whole.run(values), await streamed.run(values)]
          for (const name of Object.keys(a)) expectClose(a[name], b[name], 2e-6)
        }
      }
    },
  )

  it('of a fixed table sum no rows where the entropy is learnt, which has a second pass', () => {
    const sums = (options: LogProbsOptions) => {
      const table = input('table', [vocabulary, width])
      const targets = input('targets', ['N'], 'int64')
      const { logprobs, entropy } = tokenLogProbs(input('hidden', ['N', width]), table, targets, options)
      return tensorsOf([logprobs, entropy]).filter(
        ({ source, shape }) =>
          source.kind === 'call' && source.call.op.name === 'matmul' && shape[1] === width,
      ).length
    }
    // That of the last chunk is read by the gradient alone.
    expect(sums({ chunk: 8, fixedTable: true })).toBe(2)
    expect(sums({ chunk: 8, fixedTable: true, learnsEntropy: true })).toBe(0)
  })

  it.each([false, true])('keep no logits of earlier chunks in memory, fixed table: %s', async fixedTable => {
    const [tokens, vocabulary, width] = [1024, 2 ** 16, 16]
    const hidden = input('hidden', ['N', width])
    const table = input('table', [vocabulary, width])
    const { logprobs } = tokenLogProbs(hidden, table, input('targets', ['N'], 'int64'), { fixedTable })
    const learnt = fixedTable ? [hidden] : [hidden, table]
    const [dHidden, dTable = dHidden] = gradients(reduceSum(logprobs), learnt)
    const scored = await compile({ logprobs, dHidden, dTable })
    const feeds = {
      hidden: random([tokens, width], 1),
      table: random([vocabulary, width], 2),
      targets: { data: new BigInt64Array(tokens), dims: [tokens] },
    }
    const before = process.memoryUsage.rss()
    await scored.run(feeds)
    expect(process.memoryUsage.rss() - before).toBeLessThan(0.5 * 4 * tokens * vocabulary)
  })

  it('never hold a [tokens, vocabulary] tensor when streamed', () => {
    const wide = (chunk: number) =>
      tensorsOf(Object.values(graph(chunk))).filter(
        ({ shape }) => shape.includes('N') && shape.includes(vocabulary),
      )
    expect(wide(8)).toEqual([])
    expect(wide(vocabulary).length).toBeGreaterThan(0)
    const widest = (chunk: number) =>
      Math.max(
        ...tensorsOf(Object.values(graph(chunk))).flatMap(({ shape }) =>
          shape.includes('N') ? shape.filter(dim => typeof dim === 'number') : [],
        ),
      )
    expect(widest(8)).toBe(8)
  })

  it('are streamed above the chunk size of real vocabularies', () => {
    const hidden = input('hidden', ['N', 8])
    const table = input('table', [151_936, 8])
    const { logprobs } = tokenLogProbs(hidden, table, input('targets', ['N'], 'int64'))
    const all = tensorsOf([logprobs, ...gradients(reduceSum(logprobs), [hidden, table])])
    const perToken = all.flatMap(({ shape }) => (shape[0] === 'N' ? [Number(shape[1] ?? 1)] : []))
    expect(Math.max(...perToken)).toBe(VOCABULARY_CHUNK)
  })
})

/** -1e9 where a key may not be looked at. */
const maskOf = (queries: number[], keys: number[], allowed: (q: number, k: number) => boolean) =>
  constant(Float32Array.from(queries.flatMap(q => keys.map(k => (allowed(q, k) ? 0 : -1e9)))), [
    queries.length,
    keys.length,
  ])

describe('attention', () => {
  const range = (n: number) => Array.from({ length: n }, (_, i) => i)
  const [kvHeads, repeat, samples, T, S, D] = [2, 2, 3, 3, 4, 4]

  /** Queries [kvHeads, repeat, samples, T, D]; prompt keys [kvHeads, 1, 1, S, D]; own keys [kvHeads, 1, samples, T, D]. */
  const shapes = {
    q: [kvHeads, repeat, samples, T, D],
    promptK: [kvHeads, 1, 1, S, D],
    promptV: [kvHeads, 1, 1, S, D],
    ownK: [kvHeads, 1, samples, T, D],
    ownV: [kvHeads, 1, samples, T, D],
  }
  const feeds = Object.fromEntries(Object.entries(shapes).map(([name, shape], i) => [name, random(shape, i)]))
  // The last two places of the prompt are padding.
  const promptMask = maskOf([0], range(S), (_, s) => s < S - 2)
  const causal = maskOf(range(T), range(T), (t, s) => s <= t)

  const inBlocks = (x: Record<string, Tensor>) => {
    const folded = [kvHeads, repeat, 1, samples * T, D]
    const blocks: KeyBlock[] = [
      { keys: x.promptK, values: x.promptV, mask: promptMask, queryShape: folded },
      { keys: x.ownK, values: x.ownV, mask: causal, queryShape: shapes.q },
    ]
    return attention(x.q, blocks, 0.5)
  }

  /** One block over prompt and own keys joined, with the prompt repeated for every sample. */
  const joined = (x: Record<string, Tensor>) => {
    const repeated = (prompt: Tensor) => expand(prompt, [kvHeads, 1, samples, S, D])
    const mask = concat([reshape(expand(promptMask, [T, S]), [T, S]), causal], 1)
    const keys = concat([repeated(x.promptK), x.ownK], -2)
    const values = concat([repeated(x.promptV), x.ownV], -2)
    return attention(x.q, [{ keys, values, mask, queryShape: shapes.q }], 0.5)
  }

  const withGradients = (mix: (x: Record<string, Tensor>) => Tensor) => {
    const inputs = Object.fromEntries(
      Object.entries(shapes).map(([name, shape]) => [name, input(name, shape)]),
    )
    const output = mix(inputs)
    const loss = reduceSum(mul(output, input('weights', shapes.q)))
    const derivatives = gradients(loss, Object.values(inputs))
    return {
      output,
      ...Object.fromEntries(Object.keys(inputs).map((name, i) => [`d.${name}`, derivatives[i]])),
    }
  }

  it('over a shared prompt and own keys equals attention over their concatenation, values and gradients', async () => {
    const values = { ...feeds, weights: random(shapes.q, 9) }
    const a = await (await compile(withGradients(inBlocks))).run(values)
    const b = await (await compile(withGradients(joined))).run(values)
    for (const name of Object.keys(a)) expectClose(a[name], b[name], 2e-6)
    // Padded places of the prompt get no gradient at all.
    const padded = Array.from(a['d.promptK'].data as Float32Array).filter(
      (_, i) => Math.floor(i / D) % S >= S - 2,
    )
    expect(padded.every(x => x === 0)).toBe(true)
  })

  it('in blocks has the gradient that differences give', async () => {
    const inputs = Object.values(feeds).map(({ data, dims }) => ({ data: data.slice(), shape: dims }))
    const names = Object.keys(shapes)
    const { worst, where } = await checkGradients(
      tensors => inBlocks(Object.fromEntries(tensors.map((x, i) => [names[i], x]))),
      inputs,
    )
    expect(worst, where).toBeLessThan(1e-3)
  })

  it('keeps packed segments apart: each gets what it would get alone', async () => {
    const segments = [0, 0, 1, 1, 1]
    const mask = maskOf(range(5), range(5), (t, s) => s <= t && segments[s] === segments[t])
    const [q, k, v] = ['q', 'k', 'v'].map(name => input(name, [5, D]))
    const packed = attention(q, [{ keys: k, values: v, mask, queryShape: [5, D] }], 0.5)
    const values = { q: random([5, D], 1), k: random([5, D], 2), v: random([5, D], 3) }
    const { out } = await (await compile({ out: packed })).run(values)
    for (const [from, to] of [
      [0, 2],
      [2, 5],
    ]) {
      const length = to - from
      const [a, b, c] = ['q', 'k', 'v'].map(name => input(name, [length, D]))
      const own = maskOf(range(length), range(length), (t, s) => s <= t)
      const alone = attention(a, [{ keys: b, values: c, mask: own, queryShape: [length, D] }], 0.5)
      const part = ({ data }: TensorValue) => ({ data: data.slice(from * D, to * D), dims: [length, D] })
      const result = await (await compile({ alone })).run({
        q: part(values.q),
        k: part(values.k),
        v: part(values.v),
      })
      expectClose(result.alone, part(out), 1e-6)
    }
  })
})
