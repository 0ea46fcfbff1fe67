// What llama.cpp makes of files that `gradus export --gguf` wrote, beside this project's own engine: the same greedy tokens on ten
// prompts, their log-probs, and the perplexity of a text. One sequence at a time.
//
//   node scripts/peers/llama_cpp.mjs MODEL FILE.gguf...      MODEL: what was exported (a folder, an adapter, a GGUF file)
//
// llama.cpp comes prebuilt in the package node-llama-cpp, which is no dependency of this project: install it in a folder of its own,
// `npm i --ignore-scripts -E node-llama-cpp@3.21.1`, and name that folder in NODE_LLAMA_CPP. Needs dist/ (npm run build).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { wholeFolder } from '../../dist/model/lora-files.js'
import { loadTokenizer } from '../../dist/model/tokenizer.js'
import { greedy, open } from './greedy.mjs'

const [model, ...files] = process.argv.slice(2)
const place = process.env.NODE_LLAMA_CPP
if (files.length === 0 || place === undefined) {
  console.error('usage: NODE_LLAMA_CPP=FOLDER node scripts/peers/llama_cpp.mjs MODEL FILE.gguf...')
  process.exit(2)
}
const { getLlama } = await import(
  pathToFileURL(join(place, 'node_modules/node-llama-cpp/dist/index.js')).href
)

const WINDOWS = 16
const WINDOW = 256

const tokenizer = loadTokenizer(wholeFolder(model))
const text = readFileSync(
  fileURLToPath(new URL('../../docs/howto/write-a-good-rubric.md', import.meta.url)),
  'utf8',
)
const tokens = tokenizer.encode(text)
const start = tokenizer.bosId === null ? [] : [tokenizer.bosId]
const windows = Array.from({ length: WINDOWS }, (_, i) => [
  ...start,
  ...tokens.slice(i * WINDOW, (i + 1) * WINDOW),
])

const perplexity = logprobs => Math.exp(-logprobs.reduce((sum, x) => sum + x, 0) / logprobs.length)

/** This project's engine on a model: what it samples, and the text's perplexity. */
const byOurs = async folder => {
  const policy = await open(folder)
  const samples = await greedy(policy, folder)
  const items = windows.map(window => ({ promptTokens: window.slice(0, 1), tokens: window.slice(1) }))
  const scored = await policy.score(items)
  await policy.close()
  return { samples, perplexity: perplexity(scored.flatMap(({ logprobs }) => [...logprobs])) }
}
const { samples, perplexity: ours } = await byOurs(model)
const against = value => `${value.toFixed(4)} (${((value / ours - 1) * 100).toFixed(3)}%)`
console.log(
  `${model}: perplexity ${ours.toFixed(4)} of ${WINDOWS} x ${WINDOW} tokens, by this project's engine`,
)

const llama = await getLlama({ gpu: false, maxThreads: 2, logLevel: 'error', build: 'never' })

/** Of every token from `from` on: its log-prob, and whether llama.cpp's likeliest is the same. */
const follow = async (sequence, all, from) => {
  await sequence.clearHistory()
  const input = all
    .slice(0, -1)
    .map((token, i) =>
      i >= from - 1
        ? [
            token,
            { generateNext: { probabilities: true, options: { temperature: 1, topK: 0, topP: 1, minP: 0 } } },
          ]
        : token,
    )
  const outputs = await sequence.controlledEvaluate(input)
  return all.slice(from).map((token, i) => {
    const { probabilities } = outputs[from - 1 + i].next
    const [likeliest] = probabilities.keys()
    return { same: likeliest === token, logprob: Math.log(probabilities.get(token) ?? 0), token }
  })
}

for (const file of files) {
  const loaded = await llama.loadModel({ modelPath: file })
  const context = await loaded.createContext({ contextSize: 1024, sequences: 1, threads: 2 })
  const sequence = context.getSequence()
  let [same, compared, worst] = [0, 0, 0]
  for (const sample of samples) {
    const steps = await follow(
      sequence,
      [...sample.promptTokens, ...sample.tokens],
      sample.promptTokens.length,
    )
    if (steps.every(step => step.same)) same++
    else
      console.log(
        `  ${JSON.stringify(sample.prompt)}: another token at ${steps.findIndex(step => !step.same)} of ${steps.length}`,
      )
    for (const [j, { logprob }] of steps.entries())
      worst = Math.max(worst, Math.abs(logprob - sample.logprobs[j]))
    compared += steps.length
  }
  const logprobs = []
  for (const window of windows)
    logprobs.push(...(await follow(sequence, window, 1)).map(({ logprob }) => logprob))
  console.log(
    `${file}: ${same} of ${samples.length} prompts with the same ${compared} greedy tokens, log-probs within ${worst.toExponential(2)}, perplexity ${against(perplexity(logprobs))}; by this project's engine ${against((await byOurs(file)).perplexity)}`,
  )
  await context.dispose()
  await loaded.dispose()
}
process.exit(0)
