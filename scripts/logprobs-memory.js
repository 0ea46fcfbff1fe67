#!/usr/bin/env node
/**
 * @file What log-probs over a large vocabulary take, with their gradient: memory above that of the inputs, and seconds of the processor,
 * on one thread; on Linux.
 *
 *   node scripts/logprobs-memory.js [--vocabulary 49152] [--width 576] [--tokens 1024] [--chunk 4096] [--trained]
 *
 * --trained: the output table learns too, as without an adapter. Prints a line of JSON.
 */

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Executable } from '../dist/tensor/executable.js'
import { gradients, input, mul, reduceSum, tokenLogProbs } from '../dist/tensor/index.js'
import { Rng } from '../dist/util/rng.js'

const { values } = parseArgs({
  options: {
    vocabulary: { type: 'string', default: '49152' },
    width: { type: 'string', default: '576' },
    tokens: { type: 'string', default: '1024' },
    chunk: { type: 'string' },
    trained: { type: 'boolean', default: false },
  },
})
const [vocabulary, width, tokens] = [values.vocabulary, values.width, values.tokens].map(Number)
const chunk = values.chunk === undefined ? undefined : Number(values.chunk)

const hidden = input('hidden', ['N', width])
const table = input('table', [vocabulary, width])
const { logprobs } = tokenLogProbs(hidden, table, input('targets', ['N'], 'int64'), {
  chunk,
  fixedTable: !values.trained,
})
const loss = reduceSum(mul(logprobs, input('weights', ['N'])))
const learnt = gradients(loss, values.trained ? [hidden, table] : [hidden])
const began = performance.now()
const graph = await Executable.compile(
  { logprobs, ...Object.fromEntries(learnt.map((gradient, i) => [`gradient${i}`, gradient])) },
  { threads: 1 },
)
const compileSeconds = (performance.now() - began) / 1000

const rng = new Rng('log-probs')
const floats = (...dims) => ({
  data: Float32Array.from({ length: dims.reduce((a, b) => a * b) }, () => rng.next() - 0.5),
  dims,
})
const feeds = {
  hidden: floats(tokens, width),
  table: floats(vocabulary, width),
  weights: floats(tokens),
  targets: {
    data: BigInt64Array.from({ length: tokens }, () => BigInt(rng.int(vocabulary))),
    dims: [tokens],
  },
}
const peakMb = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
const before = peakMb()
const seconds = []
for (let run = 0; run < 5; run++) {
  const start = process.cpuUsage()
  await graph.run(feeds)
  const { user, system } = process.cpuUsage(start)
  seconds.push((user + system) / 1e6)
}
const round = (x, digits) => Number(x.toFixed(digits))
process.stdout.write(
  `${JSON.stringify({
    ...{ vocabulary, width, tokens, chunk: chunk ?? null, trained: values.trained },
    peakMb: Math.round(peakMb() - before),
    cpuSeconds: round(seconds.toSorted((a, b) => a - b)[2], 2),
    compileSeconds: round(compileSeconds, 1),
  })}\n`,
)
