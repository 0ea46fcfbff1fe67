// What this project's engine says greedily to ten prompts, for its peers to compare with: a line of JSON for each,
// {prompt, promptTokens, tokens, logprobs}.
//
//   node scripts/peers/greedy.mjs MODEL > greedy.jsonl      MODEL: a folder, an adapter, a GGUF file. Needs dist/ (npm run build).
import { chatFormatOf, hasChatTemplate } from '../../dist/model/chat-format.js'
import { wholeFolder } from '../../dist/model/lora-files.js'
import { loadTokenizer } from '../../dist/model/tokenizer.js'
import { openPolicy, policySchema } from '../../dist/policy/open.js'

const PROMPTS = [
  'What is the capital of France?',
  'Write two sentences about the sea.',
  'List three uses of a paper clip.',
  'Explain in one sentence why the sky is blue.',
  'How many days are in a leap year?',
  'Give me a title for a story about a lighthouse.',
  'Translate "good morning" into Spanish.',
  'What do plants need to grow?',
  'Write a haiku about winter.',
  'Is 17 a prime number? Answer yes or no, then say why.',
]
const NEW_TOKENS = 32

export const open = folder => openPolicy(policySchema.parse({ threads: 2, spinning: false }), { folder })

/** Ten answers of a policy on that model: a chat model is asked by its template. */
export const greedy = async (policy, model) => {
  const format = hasChatTemplate(model) ? chatFormatOf(model, 'this script') : null
  const tokenizer = loadTokenizer(wholeFolder(model))
  const prompts = PROMPTS.map(content =>
    format
      ? format.encode([{ role: 'user', content }])
      : tokenizer.encode(content, { addSpecialTokens: true }),
  )
  const { stopTokens } = format ?? {}
  const samples = await policy.sample({ prompts, maxTokens: NEW_TOKENS, temperature: 0, stopTokens })
  return samples.map(({ tokens, logprobs }, i) => ({
    prompt: PROMPTS[i],
    promptTokens: prompts[i],
    tokens: [...tokens],
    logprobs: [...logprobs],
  }))
}

if (import.meta.filename === process.argv[1]) {
  const [model] = process.argv.slice(2)
  const policy = await open(model)
  for (const row of await greedy(policy, model)) console.log(JSON.stringify(row))
  await policy.close()
}
