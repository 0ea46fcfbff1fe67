#!/usr/bin/env node
/**
 * @file What it saves to compute once what prompts begin with: seconds to read prompts, and to learn from a sample of each, both ways in
 * turns.
 *
 *   node scripts/shared-beginnings.js FOLDER [--prompts 16] [--shared 500] [--own 60] [--new 32] [--rank 16] [--threads 2] [--rounds 3]
 *
 * FOLDER is a model's, or a GGUF file. Prompts have `shared` tokens in common and `own` more. Prints a line of JSON each; `first`
 * is the first learning, which compiles its graph.
 */

import { parseArgs } from 'node:util'
import { LocalPolicy } from '../dist/policy/index.js'
import { lossOf } from '../dist/rl/loss-presets.js'
import { median } from '../dist/util/descriptive.js'

const defaults = { prompts: 16, shared: 500, own: 60, new: 32, rank: 16, threads: 2, rounds: 3 }
const options = Object.fromEntries(Object.keys(defaults).map(name => [name, { type: 'string' }]))
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const settings = Object.fromEntries(
  Object.entries(defaults).map(([name, value]) => [name, Number(values[name] ?? value)]),
)
const tokens = (length, start) => Array.from({ length }, (_, i) => 300 + ((7 * start + 13 * i) % 400))
const prompts = Array.from({ length: settings.prompts }, (_, i) => [
  ...tokens(settings.shared, 0),
  ...tokens(settings.own, i + 1),
])
const seconds = async work => {
  const start = performance.now()
  const result = await work()
  return { result, seconds: (performance.now() - start) / 1000 }
}
const targetModules = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj']
const source = { folder: positionals[0], lora: { rank: settings.rank, alpha: 32, targetModules } }

const round = async policy => {
  const request = { prompts, stopTokens: [], seed: 'a' }
  const read = await seconds(() => policy.sample({ ...request, maxTokens: 2 }))
  const samples = await policy.sample({ ...request, maxTokens: settings.new })
  const datums = samples.map(({ tokens, logprobs }, i) => ({
    ...{ promptTokens: prompts[i], tokens, oldLogprobs: logprobs },
    mask: Array.from(tokens, () => 1),
    advantages: Array.from(tokens, () => (i % 2 === 0 ? 1 : -1)),
  }))
  const learn = await seconds(() => policy.accumulate(datums, { loss: lossOf('trl:grpo') }))
  return { read: read.seconds, learn: learn.seconds, loss: learn.result.loss }
}

const ways = []
for (const shareBeginnings of [false, true]) {
  const policy = await LocalPolicy.start(source, { threads: settings.threads, engines: 1, shareBeginnings })
  // Graphs are compiled by a first round.
  const { learn: first } = await round(policy)
  ways.push({ shareBeginnings, policy, first, rounds: [] })
}
for (let i = 0; i < settings.rounds; i++)
  for (const { policy, rounds } of ways) rounds.push(await round(policy))
for (const { shareBeginnings, policy, first, rounds } of ways) {
  await policy.close()
  const [read, learn] = ['read', 'learn'].map(name => median(rounds.map(each => each[name])))
  console.log(JSON.stringify({ shareBeginnings, read, first, learn, loss: rounds[0].loss }))
}
