// llama.cpp's speed of decoding, of the work of `gradus bench engine --model FOLDER`: a prompt of 16 tokens, 128 new ones at temperature 1.
//
//   NODE_LLAMA_CPP=FOLDER node scripts/peers/llama_decode.mjs FILE.gguf...      1, 8 and 32 sequences of each, on THREADS (2); lines of JSON
//
// llama_cpp.mjs says how to install it. Leave the machine alone meanwhile: beside another busy process llama.cpp is twenty times slower.
// Of sequences that are decoded together node-llama-cpp mixes up the words: this counts them and reads none.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const { getLlama } = await import(
  pathToFileURL(join(process.env.NODE_LLAMA_CPP, 'node_modules/node-llama-cpp/dist/index.js')).href
)
const threads = Number(process.env.THREADS ?? 2)
const prompt = Array.from({ length: 16 }, (_, i) => 300 + i)
const llama = await getLlama({ gpu: false, maxThreads: threads, logLevel: 'error', build: 'never' })

const decode = async (context, seed, most) => {
  const sequence = context.getSequence()
  let tokens = 0
  for await (const _ of sequence.evaluate(prompt, { temperature: 1, seed, yieldEogToken: true }))
    if (++tokens === most) break
  await sequence.dispose()
  return tokens
}

for (const file of process.argv.slice(2)) {
  const model = await llama.loadModel({ modelPath: file })
  for (const rows of [1, 8, 32]) {
    const context = await model.createContext({ contextSize: 160, sequences: rows, threads, batchSize: 512 })
    const all = most => Promise.all(Array.from({ length: rows }, (_, seed) => decode(context, seed, most)))
    await all(8)
    const start = performance.now()
    const tokens = (await all(128)).reduce((sum, count) => sum + count, 0)
    const tokensPerSecond = Math.round((tokens / (performance.now() - start)) * 10_000) / 10
    console.log(JSON.stringify({ file, rows, tokens, tokensPerSecond }))
    await context.dispose()
  }
}
process.exit(0)
