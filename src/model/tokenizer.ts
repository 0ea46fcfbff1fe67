/** @file Text to token ids and back, from a checkpoint's `tokenizer.json` and `tokenizer_config.json`. */

import { join } from 'node:path'
import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers'
import { z } from 'zod'
import { largestOf } from '../util/descriptive.ts'
import { CheckpointError, DataError } from '../util/errors.ts'
import { type LibraryTokenizer, mend } from './mended-tokenizer.ts'
import { hasModelFile, readModelJson } from './model-files.ts'

/** What the rest of Gradus needs of a tokenizer; anything with this shape will do. */
export interface Tokenizer {
  /** Highest token id plus one. A model's vocabulary may be larger (padding), never smaller. */
  readonly vocabSize: number
  readonly eosId: number | null
  readonly bosId: number | null
  readonly padId: number | null
  /**
   * Token ids of a text; special tokens written in it (`<|im_end|>`) become their ids. `addSpecialTokens` also adds what
   * the tokenizer's template adds (a leading BOS in Llama); off by default, because chat templates write it themselves.
   */
  encode(text: string, options?: { addSpecialTokens?: boolean }): number[]
  /** The text of token ids, without special tokens unless asked; ids that have no token give no text. */
  decode(ids: readonly number[], options?: { keepSpecialTokens?: boolean }): string
  /** Id of a token as the vocabulary spells it, or undefined. */
  idOf(token: string): number | undefined
  /** Spelling of a token in the vocabulary, or undefined. */
  tokenOf(id: number): string | undefined
}

/** The part of the library's class that is used here; its own declarations do not resolve under Node's module rules. */
interface FastTokenizer extends LibraryTokenizer {
  encode(
    text: string,
    options: { add_special_tokens: boolean },
  ): { ids: (number | undefined)[]; tokens: string[] }
  decode(ids: number[], options: { clean_up_tokenization_spaces: boolean }): string
  token_to_id(token: string): number | undefined
  id_to_token(id: number): string | undefined
  get_vocab(): Map<string, number>
}

const addedTokenSchema = z.looseObject({
  id: z.int().nonnegative(),
  content: z.string(),
  special: z.boolean().default(false),
})
const tokenizerSchema = z.looseObject({
  added_tokens: z.array(addedTokenSchema).nullish(),
  model: z.looseObject({
    type: z.unknown().optional(),
    byte_fallback: z.unknown().optional(),
    unk_token: z.string().nullish(),
    vocab: z.unknown().optional(),
  }),
})
const namedToken = z.union([z.string(), z.looseObject({ content: z.string() })]).nullish()
const configSchema = z.looseObject({
  bos_token: namedToken,
  eos_token: namedToken,
  pad_token: namedToken,
  unk_token: namedToken,
})

const spelling = (token: z.output<typeof namedToken>): string | undefined =>
  typeof token === 'string' ? token : token?.content

/**
 * Builds a tokenizer from the parsed content of `tokenizer.json` and `tokenizer_config.json`. `place` names the former
 * in errors.
 * @throws CheckpointError when they are not what a tokenizer needs.
 */
export const createTokenizer = (
  tokenizerJson: unknown,
  tokenizerConfig: unknown = {},
  place = 'tokenizer.json',
): Tokenizer => new JsonTokenizer(tokenizerJson, tokenizerConfig, place)

class JsonTokenizer implements Tokenizer {
  readonly vocabSize: number
  readonly eosId: number | null
  readonly bosId: number | null
  readonly padId: number | null
  readonly #fast: FastTokenizer
  readonly #specialIds: ReadonlySet<number>

  constructor(tokenizerJson: unknown, tokenizerConfig: unknown, place: string) {
    const json = check(tokenizerSchema, tokenizerJson, place)
    const config = check(configSchema, tokenizerConfig, `${place} (tokenizer_config.json)`)
    const addedTokens = json.added_tokens ?? []
    // Where there is none, the library says what kind of tokenizer it is and that it does not know it.
    if (json.model.vocab !== undefined) checkVocabulary(json, place)
    this.#fast = build(json, config, place)
    for (const name of ['bos_token', 'eos_token'] as const) {
      const token = spelling(config[name])
      if (token !== undefined && this.idOf(token) === undefined)
        throw misfit(place, token, `tokenizer_config.json names it as its ${name}, but it has no id`)
    }
    this.#specialIds = new Set(addedTokens.filter(token => token.special).map(token => token.id))
    this.vocabSize = 1 + largestOf(this.#fast.get_vocab().values(), -1)
    const idOfNamed = (token: z.output<typeof namedToken>) => this.idOf(spelling(token) ?? '') ?? null
    this.eosId = idOfNamed(config.eos_token)
    this.bosId = idOfNamed(config.bos_token)
    this.padId = idOfNamed(config.pad_token)
  }

  encode(text: string, options: { addSpecialTokens?: boolean } = {}): number[] {
    if (text === '' && !options.addSpecialTokens) return []
    const { ids, tokens } = this.#fast.encode(text, {
      add_special_tokens: options.addSpecialTokens ?? false,
    })
    const unknown = ids.indexOf(undefined)
    if (unknown >= 0)
      throw new DataError(
        `the tokenizer has no token for ${JSON.stringify(tokens[unknown])} and no unknown token`,
        {
          hint: 'use words of its vocabulary or give it an unk_token',
        },
      )
    return ids as number[]
  }

  decode(ids: readonly number[], options: { keepSpecialTokens?: boolean } = {}): string {
    const shown = ids.filter(
      id =>
        this.#fast.id_to_token(id) !== undefined && (options.keepSpecialTokens || !this.#specialIds.has(id)),
    )
    return shown.length === 0 ? '' : this.#fast.decode(shown, { clean_up_tokenization_spaces: false })
  }

  idOf(token: string): number | undefined {
    return this.#fast.token_to_id(token)
  }

  tokenOf(id: number): string | undefined {
    return this.#fast.id_to_token(id)
  }
}

const check = <S extends z.ZodType>(schema: S, value: unknown, place: string): z.output<S> => {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  throw new CheckpointError(`${place}: ${issue.path.join('.') || 'content'}: ${issue.message}`, {
    hint: 'fetch the tokenizer files again',
  })
}

/** A token that the vocabulary cannot have as it stands there. */
const misfit = (place: string, token: string, why: string) =>
  new CheckpointError(`${place}: token ${JSON.stringify(token).slice(0, 80)}: ${why}`, {
    hint: 'correct the vocabulary, or fetch the tokenizer files again',
  })

/** Ids may have gaps, but every id up to the last takes memory and time: a file of a few tokens may not ask for a billion. */
const largestId = (tokens: number): number => 2 ** 16 + 16 * tokens

/** Spellings with their ids: a vocabulary by name, or a list of spellings with scores. */
const vocabularyOf = (vocab: unknown, place: string): [string, unknown][] => {
  if (Array.isArray(vocab))
    return vocab.map((entry: unknown, id): [string, number] => {
      const [token, score] = Array.isArray(entry) ? entry : []
      if (typeof token === 'string' && Number.isFinite(score)) return [token, id]
      throw new CheckpointError(`${place}: model.vocab.${id}: expected a token with a finite score`, {
        hint: 'fetch the tokenizer files again',
      })
    })
  if (vocab !== null && typeof vocab === 'object') return Object.entries(vocab)
  throw new CheckpointError(`${place}: model.vocab: expected tokens with their ids`, {
    hint: 'fetch the tokenizer files again',
  })
}

/** Every id has one token, and every token one id unless a list repeats it. @throws CheckpointError naming the token */
const checkVocabulary = (json: z.output<typeof tokenizerSchema>, place: string): void => {
  const vocabulary = vocabularyOf(json.model.vocab, place)
  const largest = largestId(vocabulary.length + (json.added_tokens?.length ?? 0))
  const tokenOf = new Map<number, string>()
  const idOf = new Map<string, number>()
  // A list may spell a token twice (SentencePiece's byte of a tab beside the tab itself): the later one is meant.
  const isList = Array.isArray(json.model.vocab)
  const add = (token: string, id: unknown, mayRepeat = false) => {
    if (!(Number.isInteger(id) && (id as number) >= 0 && (id as number) <= largest))
      throw misfit(
        place,
        token,
        `expected a whole number from 0 to ${largest} as its id, got ${JSON.stringify(id)}`,
      )
    const [other, before] = [tokenOf.get(id as number), idOf.get(token)]
    if (other !== undefined && other !== token)
      throw misfit(place, token, `has the id ${id}, which is that of ${JSON.stringify(other).slice(0, 80)}`)
    if (before !== undefined && before !== id && !mayRepeat)
      throw misfit(place, token, `has two ids, ${before} and ${id}`)
    tokenOf.set(id as number, token)
    idOf.set(token, id as number)
  }
  if (vocabulary.length === 0) throw new CheckpointError(`${place}: model.vocab: expected tokens, got none`)
  for (const [token, id] of vocabulary) add(token, id, isList)
  for (const { content, id } of json.added_tokens ?? []) add(content, id)
  const { unk_token: unknown } = json.model
  if (unknown != null && !idOf.has(unknown))
    throw misfit(place, unknown, 'model.unk_token names it, but it has no id')
}

/** A pattern of another form matches nothing in the library, and its text is lost. @throws Error */
const checkPatterns = (part: unknown): void => {
  if (part === null || typeof part !== 'object') return
  for (const [key, value] of Object.entries(part)) {
    if (key !== 'pattern') checkPatterns(value)
    else if (typeof (value?.Regex ?? value?.String) !== 'string')
      throw new Error('pattern: expected {"Regex": ...} or {"String": ...} with a text')
  }
}

const build = (
  json: z.output<typeof tokenizerSchema>,
  config: z.output<typeof configSchema>,
  place: string,
): FastTokenizer => {
  const absent = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null }
  try {
    for (const part of [json.normalizer, json.pre_tokenizer, json.decoder]) checkPatterns(part)
    const tokenizer = new HuggingFaceTokenizer(
      { ...absent, ...json, added_tokens: json.added_tokens ?? [] },
      {
        ...config,
        bos_token: spelling(config.bos_token),
        eos_token: spelling(config.eos_token),
        pad_token: spelling(config.pad_token),
        // A word-level model names its unknown token in tokenizer.json; the library looks for it in the config alone.
        unk_token: spelling(config.unk_token) ?? json.model.unk_token ?? undefined,
        clean_up_tokenization_spaces: false,
      },
    ) as unknown as FastTokenizer
    mend(tokenizer, json.model)
    return tokenizer
  } catch (error) {
    throw new CheckpointError(`${place}: ${(error as Error).message}`, {
      hint: 'this kind of tokenizer is not supported, or the file is damaged',
      cause: error,
    })
  }
}

/** Whether a model has a tokenizer. */
export const hasTokenizer = (dir: string): boolean => hasModelFile(dir, 'tokenizer.json')

/**
 * Loads the tokenizer of a checkpoint folder; `tokenizer_config.json` may be absent, then no BOS, EOS or PAD is known.
 * @throws CheckpointError when `tokenizer.json` is missing or damaged.
 */
export const loadTokenizer = (dir: string): Tokenizer => {
  const configName = 'tokenizer_config.json'
  const config = hasModelFile(dir, configName) ? readModelJson(dir, configName) : {}
  return createTokenizer(readModelJson(dir, 'tokenizer.json'), config, join(dir, 'tokenizer.json'))
}

/**
 * Refuses a tokenizer that can produce ids which the model has no embedding for.
 * @param folder of both, for the message
 * @throws CheckpointError
 */
export const assertTokenizerFits = (
  tokenizer: Tokenizer,
  config: { vocabSize: number },
  folder?: string,
): void => {
  if (tokenizer.vocabSize <= config.vocabSize) return
  const last = tokenizer.vocabSize - 1
  const place = folder === undefined ? '' : `${join(folder, 'tokenizer.json')}: `
  const token = JSON.stringify(tokenizer.tokenOf(last) ?? '').slice(0, 80)
  throw new CheckpointError(
    `${place}the tokenizer's ids go up to ${last}, but the model's vocab_size is ${config.vocabSize}: token ${token} has no embedding`,
    { hint: 'tokenizer.json and config.json must come from the same checkpoint' },
  )
}

/**
 * Decodes a growing sequence: `push` returns the text that is certain by now. A character whose bytes are spread over
 * several tokens appears with the token that completes it, so the pieces always join to valid text.
 * (Two windows are decoded, with and without the new tokens, because decoders treat the start of a text differently;
 * the idea is that of text-generation-inference.)
 */
export class TextStream {
  readonly #tokenizer: Tokenizer
  /** Tokens whose text was handed out last: the context for what follows. */
  #settled: number[] = []
  #pending: number[] = []

  constructor(tokenizer: Tokenizer) {
    this.#tokenizer = tokenizer
  }

  push(id: number): string {
    this.#pending.push(id)
    const text = this.#pendingText()
    if (text === '' || text.endsWith('\ufffd')) return ''
    this.#settled = this.#pending
    this.#pending = []
    return text
  }

  /** What is left when the sequence ends: at most the bytes of an unfinished character, as replacement characters. */
  flush(): string {
    const text = this.#pendingText()
    this.#settled = []
    this.#pending = []
    return text
  }

  #pendingText(): string {
    const before = this.#tokenizer.decode(this.#settled)
    return this.#tokenizer.decode([...this.#settled, ...this.#pending]).slice(before.length)
  }
}

/**
 * The text of token ids and where each token's text ends in it: token i covers [ends[i - 1] or 0, ends[i]), in UTF-16
 * units. Special tokens and the first bytes of a split character cover nothing.
 */
export const decodeWithOffsets = (
  tokenizer: Tokenizer,
  ids: readonly number[],
): { text: string; ends: number[] } => {
  const stream = new TextStream(tokenizer)
  let text = ''
  const ends = ids.map(id => {
    text += stream.push(id)
    return text.length
  })
  text += stream.flush()
  if (ends.length > 0) ends[ends.length - 1] = text.length
  return { text, ends }
}
