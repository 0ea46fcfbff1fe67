/** @file `gradus sample` from a model on a server. */

import { loadTokenizer } from '../../model/tokenizer.ts'
import { type Io, printJson } from '../io.ts'
import { fetchedTokenizer } from '../model-option.ts'
import { identityOf, openServed, type ServedModelOptions } from './served.ts'

export interface SampleServedOptions extends ServedModelOptions {
  prompt?: string
  promptTokens?: number[]
  maxTokens: number
  temperature?: number
  topK?: number
  topP?: number
  seed: string
  json?: boolean
}

/**
 * Samples one continuation. A text becomes tokens here where a tokenizer is named, else at the server.
 * @throws ConfigError, ServedError; as `fetchModel`; CheckpointError for a folder without a tokenizer
 */
export const sampleServed = async (options: SampleServedOptions, io: Io): Promise<void> => {
  const { prompt, promptTokens, tokenizer: folder, json, ...rest } = options
  const tokenizer = folder === undefined ? null : loadTokenizer(await fetchedTokenizer(folder, io))
  const given = promptTokens ?? tokenizer?.encode(prompt!, { addSpecialTokens: true }) ?? prompt!
  const model = await openServed(rest)
  try {
    const { maxTokens, temperature = 1, topK = 0, topP = 1, seed } = rest
    const sample = await model.continuation(given, { maxTokens, temperature, topK, topP, seed })
    const { tokens, logprobs, finishReason } = sample
    const text = tokenizer && tokens ? tokenizer.decode([...tokens]) : sample.text
    if (json)
      printJson(io, {
        tokens: tokens && [...tokens],
        logprobs: logprobs && [...logprobs],
        text,
        finishReason,
        model: identityOf(model, typeof given === 'string' ? 'text' : 'tokens'),
      })
    else io.out.write(`${text}\n`)
  } finally {
    await model.close()
  }
}
