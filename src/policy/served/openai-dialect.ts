/** @file `/v1/completions` with token ids in and out, as vLLM 0.10.2 and later and `gradus serve chat` have it. */

import { isFields, type JsonFields } from '../../chat/response.ts'
import { fieldsOf } from './connection.ts'
import {
  assertPaired,
  finishOf,
  type GroupRequest,
  logprobOf,
  objectsOf,
  readTokenIds,
  type ServedDialect,
  type ServedSample,
} from './dialect.ts'
import { malformed } from './errors.ts'

/** How vLLM spells tokens with `return_tokens_as_token_ids`. */
const SPELLED_ID = /^token_id:(\d+)$/

/** Greedy samples are all alike, and vLLM refuses to draw several. */
const drawn = ({ temperature, samples }: GroupRequest): number => (temperature === 0 ? 1 : samples)

/** From `token_ids`; of servers that lack it from the tokens of the log-probs, where they are spelled by their ids. */
const tokensIn = (choice: JsonFields, logprobs: JsonFields | null, where: string): Int32Array | null => {
  if (Array.isArray(choice.token_ids)) return readTokenIds(choice.token_ids, where)
  const spelled = logprobs?.tokens
  if (!Array.isArray(spelled)) return null
  const ids = spelled.map(token => (typeof token === 'string' ? SPELLED_ID.exec(token)?.[1] : undefined))
  return ids.every(id => id !== undefined) ? readTokenIds(ids.map(Number), where) : null
}

const sampleIn = (choice: JsonFields, where: string): ServedSample => {
  const logprobs = isFields(choice.logprobs) ? choice.logprobs : null
  const values = logprobs?.token_logprobs
  const sample: ServedSample = {
    text: typeof choice.text === 'string' ? choice.text : '',
    tokens: tokensIn(choice, logprobs, where),
    logprobs: Array.isArray(values)
      ? Float32Array.from(values, (value, t) => logprobOf(value, where, t))
      : null,
    finishReason: finishOf(choice.finish_reason, where),
  }
  assertPaired(where, sample)
  return sample
}

/** A server that puts a token before the prompt, or cuts it, samples something else than was asked for. */
const assertPrompt = ({ prompt }: GroupRequest, returned: unknown, where: string): void => {
  if (typeof prompt === 'string' || !Array.isArray(returned)) return
  if (returned.length !== prompt.length || returned.some((id, t) => id !== prompt[t]))
    throw malformed(
      `${where}: prompt_token_ids`,
      `the ${prompt.length} tokens of the prompt as they were sent`,
      `${returned.length} others`,
    )
}

export const OPENAI_DIALECT: ServedDialect = {
  name: 'openai',
  groupRequests(model, request) {
    const { prompt, maxTokens, temperature, topK, topP, stopTokens, stopStrings, seed } = request
    const body = {
      model,
      prompt: typeof prompt === 'string' ? prompt : Array.from(prompt),
      n: drawn(request),
      max_tokens: maxTokens,
      temperature,
      top_p: topP,
      // What a request leaves out, vLLM takes from the model's generation_config.json.
      top_k: topK > 0 ? topK : -1,
      min_p: 0,
      repetition_penalty: 1,
      ...(seed !== null && { seed }),
      ...(stopTokens?.length && { stop_token_ids: stopTokens }),
      ...(stopTokens?.length === 0 && { ignore_eos: true }),
      ...(stopStrings.length > 0 && { stop: stopStrings }),
      logprobs: 1,
      return_token_ids: true,
      return_tokens_as_token_ids: true,
    }
    return [{ path: 'completions', body }]
  },
  readSamples(answer, where, request) {
    const choices = objectsOf(fieldsOf(answer, where, 'a completion').choices, where, 'choices')
    const count = drawn(request)
    if (choices.length !== count) throw malformed(where, `${count} choices`, String(choices.length))
    const ordered = choices.map((choice, i) => ({ choice, at: (choice.index as number | undefined) ?? i }))
    ordered.sort((a, b) => a.at - b.at)
    const samples = ordered.map(({ choice }, i) => {
      assertPrompt(request, choice.prompt_token_ids, where)
      return sampleIn(choice, `${where}: choices[${i}]`)
    })
    return Array.from({ length: request.samples }, (_, i) => samples[i % count])
  },
  scoreRequest: (model, tokens) => ({
    path: 'completions',
    body: {
      model,
      prompt: Array.from(tokens),
      max_tokens: 1,
      temperature: 1,
      prompt_logprobs: 0,
      return_token_ids: true,
    },
  }),
  readScores(answer, where, tokens) {
    const [choice] = objectsOf(fieldsOf(answer, where, 'a completion').choices, where, 'choices')
    const returned = choice?.prompt_logprobs
    if (!Array.isArray(returned) || returned.length !== tokens.length)
      throw malformed(
        `${where}: prompt_logprobs`,
        `${tokens.length} entries, one a token`,
        Array.isArray(returned) ? String(returned.length) : 'nothing',
      )
    return Float32Array.from(tokens, (id, t) => (t === 0 ? 0 : promptLogprob(returned[t], id, where, t)))
  },
  adapterModel: (_base, name) => name,
  loadAdapter: (lora_name, lora_path) => ({
    path: '/v1/load_lora_adapter',
    body: { lora_name, lora_path },
  }),
  unloadAdapter: lora_name => ({ path: '/v1/unload_lora_adapter', body: { lora_name } }),
}

/** An entry holds the token itself, whatever else it holds: `{"42": {"logprob": -1.5, ...}}`. */
const promptLogprob = (entry: unknown, id: number, where: string, t: number): number => {
  const own = isFields(entry) ? entry[String(id)] : undefined
  return logprobOf(isFields(own) ? own.logprob : undefined, where, t)
}
