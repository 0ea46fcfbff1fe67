// Gradus's speed of decoding, of the work of hf_decode.py and llama_decode.mjs: a prompt of 16 tokens a row, 128 new ones at temperature 1.
//
//   node scripts/peers/decode.mjs FOLDER [ROWS...]      1, 8 and 32 rows by default, on THREADS (2), weights of BITS (32); lines of JSON
//
// `gradus bench engine --model FOLDER` has it among much else, which takes a quarter of an hour at 135 million weights.
import { LocalPolicy } from '../../dist/policy/index.js'

const [folder, ...given] = process.argv.slice(2)
const { THREADS = 2, BITS = 32 } = process.env
const policy = await LocalPolicy.start({ folder }, { threads: Number(THREADS), sampleBits: Number(BITS) })

const decode = async (rows, seed) => {
  const prompts = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: 16 }, (_, place) => 300 + ((row * 7 + place * 13) % 400)),
  )
  const request = { prompts, samplesPerPrompt: 1, maxTokens: 128, temperature: 1, seed, stopTokens: [] }
  const startMs = performance.now()
  const tokens = (await policy.sample(request)).flat().reduce((sum, { tokens }) => sum + tokens.length, 0)
  return { rows, tokens, tokensPerSecond: (1000 * tokens) / (performance.now() - startMs) }
}

for (const rows of given.length > 0 ? given.map(Number) : [1, 8, 32]) {
  // The graph is made and memory is taken by a first run.
  await decode(rows, 'warm')
  console.log(JSON.stringify(await decode(rows, 'timed')))
}
await policy.close()
