/** @file SGLang's own `/generate`: token ids in, log-probs with their token ids out. */

import { isFields, type JsonFields } from '../../chat/response.ts'
import { fieldsOf } from './connection.ts'
import {
  finishOf,
  type GroupRequest,
  logprobOf,
  objectsOf,
  readTokenIds,
  type ServedDialect,
  type ServedSample,
} from './dialect.ts'
import { malformed } from './errors.ts'

/** With a seed all samples of a request would be the same; the server shares the prompt of several requests anyway. */
const isSplit = ({ seed, temperature }: GroupRequest): boolean => seed !== null && temperature > 0
const drawn = (request: GroupRequest): number =>
  request.temperature === 0 || isSplit(request) ? 1 : request.samples

const samplingParams = (request: GroupRequest, index: number) => {
  const { maxTokens, temperature, topK, topP, stopTokens, stopStrings, seed } = request
  return {
    n: drawn(request),
    max_new_tokens: maxTokens,
    temperature,
    top_p: topP,
    top_k: topK > 0 ? topK : -1,
    min_p: 0,
    repetition_penalty: 1,
    ...(stopTokens?.length && { stop_token_ids: stopTokens }),
    ...(stopTokens?.length === 0 && { ignore_eos: true }),
    ...(stopStrings.length > 0 && { stop: stopStrings }),
    ...(seed !== null && { sampling_seed: seed + index }),
    skip_special_tokens: false,
  }
}

/** `[[log-prob, token id, text], ...]`: the one place where a stop token and its log-prob certainly are. */
const pairs = (value: unknown, where: string): unknown[][] | null => {
  if (!Array.isArray(value)) return null
  const bad = value.findIndex(pair => !Array.isArray(pair) || pair.length < 2)
  if (bad >= 0)
    throw malformed(
      `${where}: token ${bad}`,
      '[log-prob, token id, ...]',
      JSON.stringify(value[bad])?.slice(0, 40),
    )
  return value
}

const sampleIn = (answer: JsonFields, where: string): ServedSample => {
  const meta = fieldsOf(answer.meta_info, `${where}: meta_info`, 'an object')
  const { type, message } = isFields(meta.finish_reason)
    ? meta.finish_reason
    : { type: meta.finish_reason, message: undefined }
  const finishReason = finishOf(type, where, message)
  const returned = pairs(meta.output_token_logprobs, where)
  const ids = returned?.map(pair => pair[1]) ?? (Array.isArray(answer.output_ids) ? answer.output_ids : null)
  return {
    text: typeof answer.text === 'string' ? answer.text : '',
    tokens: ids && readTokenIds(ids, where),
    logprobs: returned && Float32Array.from(returned, ([logprob], t) => logprobOf(logprob, where, t)),
    finishReason,
  }
}

export const SGLANG_DIALECT: ServedDialect = {
  name: 'sglang',
  groupRequests(model, request) {
    const { prompt, samples } = request
    const requests = isSplit(request) ? samples : 1
    return Array.from({ length: requests }, (_, index) => ({
      path: '/generate',
      body: {
        ...(typeof prompt === 'string' ? { text: prompt } : { input_ids: Array.from(prompt) }),
        sampling_params: samplingParams(request, index),
        return_logprob: true,
        ...adapterOf(model),
      },
    }))
  },
  readSamples(answer, where, request) {
    const answers = Array.isArray(answer)
      ? objectsOf(answer, where, 'samples')
      : [fieldsOf(answer, where, 'a sample')]
    const count = drawn(request)
    if (answers.length !== count) throw malformed(where, `${count} samples`, String(answers.length))
    const samples = answers.map((each, i) => sampleIn(each, `${where}: sample ${i}`))
    return isSplit(request) ? samples : Array.from({ length: request.samples }, (_, i) => samples[i % count])
  },
  scoreRequest: (model, tokens) => ({
    path: '/generate',
    body: {
      input_ids: Array.from(tokens),
      sampling_params: { max_new_tokens: 0, temperature: 1 },
      return_logprob: true,
      logprob_start_len: 0,
      ...adapterOf(model),
    },
  }),
  readScores(answer, where, tokens) {
    const own = fieldsOf(Array.isArray(answer) ? answer[0] : answer, where, 'a sample')
    const meta = fieldsOf(own.meta_info, `${where}: meta_info`, 'an object')
    const returned = pairs(meta.input_token_logprobs, where)
    if (returned?.length !== tokens.length)
      throw malformed(
        `${where}: input_token_logprobs`,
        `${tokens.length} entries, one a token`,
        String(returned?.length ?? 'nothing'),
      )
    return Float32Array.from(tokens, (id, t) => {
      if (returned[t][1] !== id)
        throw malformed(`${where}: token ${t} of the prompt`, String(id), String(returned[t][1]))
      return t === 0 ? 0 : logprobOf(returned[t][0], where, t)
    })
  },
  adapterModel: (base, name) => `${base}:${name}`,
  loadAdapter: (lora_name, lora_path) => ({ path: '/load_lora_adapter', body: { lora_name, lora_path } }),
  unloadAdapter: lora_name => ({ path: '/unload_lora_adapter', body: { lora_name } }),
}

/** A server of this kind has one model; what is named besides is an adapter, written `BASE:NAME` as its own OpenAI endpoint has it. */
const adapterOf = (model: string): { lora_path?: string } => {
  const at = model.indexOf(':')
  return at < 0 ? {} : { lora_path: model.slice(at + 1) }
}
