// What Ollama makes of a file and a Modelfile that `gradus export --gguf` wrote, beside this project's own engine: the same greedy
// answers to ten prompts, asked by its chat API, so that the template and the tokens that end an answer count as well.
//
//   node scripts/peers/ollama.mjs MODEL NAME [http://127.0.0.1:11434]
//
// MODEL: what was exported (a folder, an adapter, a GGUF file); NAME: what `ollama create NAME -f Modelfile` called it. Needs dist/.
import { chatFormatOf } from '../../dist/model/chat-format.js'
import { greedy, open } from './greedy.mjs'

const [model, name, url = 'http://127.0.0.1:11434'] = process.argv.slice(2)
if (name === undefined) {
  console.error('usage: node scripts/peers/ollama.mjs MODEL NAME [URL]')
  process.exit(2)
}
const format = chatFormatOf(model, 'this script')
const policy = await open(model)
const rows = await greedy(policy, model)
await policy.close()

let same = 0
for (const { prompt, promptTokens, tokens } of rows) {
  const options = { temperature: 0, top_k: 1, repeat_penalty: 1, num_predict: tokens.length }
  const body = { model: name, messages: [{ role: 'user', content: prompt }], stream: false, options }
  const response = await fetch(`${url}/api/chat`, { method: 'POST', body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  const { message, prompt_eval_count: theirTokens } = await response.json()
  const [ours, theirs] = [format.answer(tokens).trim(), message.content.trim()]
  if (ours === theirs) same++
  const counts = `prompt of ${promptTokens.length} tokens, theirs ${theirTokens}`
  console.log(
    ours === theirs ? `same  ${prompt} (${counts})` : `other ${prompt} (${counts})\n  ${ours}\n  ${theirs}`,
  )
}
console.log(`${same} of ${rows.length} answers are the same`)
