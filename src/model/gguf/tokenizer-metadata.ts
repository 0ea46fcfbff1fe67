/** @file A Hugging Face tokenizer as the header of a GGUF file has it. */

import { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers'
import { CheckpointError } from '../../util/errors.ts'
import { PRE_TOKENIZERS, type PreTokenizer } from './pre-tokenizers.ts'
import { bytePreTokenizer, isEnding, TokenType } from './vocabulary.ts'
import type { GgufValue } from './write.ts'

/** The parts of `tokenizer.json` that are read; `createTokenizer` has checked the file. */
interface TokenizerJson {
  added_tokens?: { id: number; content: string; special?: boolean }[] | null
  normalizer?: unknown
  pre_tokenizer?: unknown
  post_processor?: unknown
  model: {
    type?: string
    vocab?: unknown
    merges?: (string | [string, string])[]
    unk_token?: string | null
    byte_fallback?: boolean
    ignore_merges?: boolean
  }
}

/** What else is known of a model's tokens. */
export interface TokenUse {
  vocabSize: number
  bosId: number | null
  eosId: number | null
  padId: number | null
  /** A response ends with one of these. */
  stops: readonly number[]
  /** Whether a start token is put before texts. */
  addsBos: boolean
  chatTemplate: string | null
}

type Entry = [string, GgufValue]

/**
 * The entries `tokenizer.*`, named and filled as llama.cpp's own converter does (conversion/base.py of ggml-org/llama.cpp).
 * @param place names the file in errors
 * @throws CheckpointError for a tokenizer that llama.cpp has no name for
 */
export const tokenizerMetadata = (json: unknown, use: TokenUse, place: string): Entry[] => {
  const tokenizer = json as TokenizerJson
  const { type, vocab } = tokenizer.model
  if ((type ?? 'BPE') !== 'BPE' || vocab === null || typeof vocab !== 'object' || Array.isArray(vocab))
    throw unknownKind(place, `of type ${JSON.stringify(type ?? null)}`)
  const isPieces = arePieces(tokenizer)
  if (isPieces && !Object.hasOwn(vocab, '<0x0A>'))
    throw unknownKind(place, 'of pieces without a token for every byte')
  const tokens = tokenList(tokenizer, use.vocabSize, isPieces)
  return [
    ...(isPieces ? piecesEntries(tokenizer, tokens) : bytesEntries(tokenizer, place)),
    ['tokenizer.ggml.tokens', { texts: tokens.map(({ text }) => text) }],
    ['tokenizer.ggml.token_type', { i32s: tokens.map(({ type }) => type) }],
    ...idEntries(use, tokens),
    ['tokenizer.ggml.add_bos_token', { flag: use.addsBos && use.bosId !== null }],
    ...(use.chatTemplate === null
      ? []
      : [['tokenizer.chat_template', { text: use.chatTemplate }] satisfies Entry]),
  ]
}

/** SentencePiece's pieces spell text as it is, byte-level tokens a character for every byte. */
const arePieces = ({ model, pre_tokenizer }: TokenizerJson): boolean =>
  model.byte_fallback === true && !JSON.stringify(pre_tokenizer ?? null).includes('"ByteLevel"')

const unknownKind = (place: string, what: string) =>
  new CheckpointError(`${place}: expected a tokenizer that llama.cpp knows, got one ${what}`, {
    hint: 'export a merged folder instead (--folder): it keeps the tokenizer as it is',
  })

interface Token {
  text: string
  type: number
}

/** Tokens that are meant as control tokens although their file does not say so (does_token_look_special there). */
const looksSpecial = (text: string) => /^(?:<pad>|<mask>|<\|.*\|>|<unused.*>)$/s.test(text)

const BLANK = '\u2581'

/** Every id of the model: those that no token has are padding. */
const tokenList = ({ added_tokens, model }: TokenizerJson, vocabSize: number, isPieces: boolean): Token[] => {
  const tokens: Token[] = Array.from({ length: vocabSize }, (_, id) => ({
    text: `[PAD${id}]`,
    type: TokenType.UNUSED,
  }))
  for (const [text, id] of Object.entries(model.vocab as Record<string, number>))
    tokens[id] = { text, type: isPieces ? pieceType(text, model.unk_token) : TokenType.NORMAL }
  for (const { id, content, special } of added_tokens ?? [])
    if (special || looksSpecial(content)) tokens[id] = { text: content, type: TokenType.CONTROL }
    else
      tokens[id] = { text: isPieces ? content.replaceAll(BLANK, ' ') : content, type: TokenType.USER_DEFINED }
  return tokens
}

const pieceType = (text: string, unknown: string | null | undefined): number => {
  if (/^<0x[0-9A-F]{2}>$/.test(text)) return TokenType.BYTE
  return text === unknown ? TokenType.UNKNOWN : TokenType.NORMAL
}

const pairOf = (merge: string | [string, string]): [string, string] => {
  if (typeof merge !== 'string') return merge
  const at = merge.indexOf(' ', 1)
  return [merge.slice(0, at), merge.slice(at + 1)]
}

const bytesEntries = (tokenizer: TokenizerJson, place: string): Entry[] => [
  ['tokenizer.ggml.model', { text: 'gpt2' }],
  ['tokenizer.ggml.pre', { text: preTokenizerNamed(tokenizer, place).names[0] }],
  ['tokenizer.ggml.merges', { texts: (tokenizer.model.merges ?? []).map(merge => pairOf(merge).join(' ')) }],
]

/**
 * Digits, contractions, blanks, line breaks, marks and scripts: known ways of cutting words differ in some of them. (The same idea as the
 * text that llama.cpp's converter tells tokenizers apart by; the text is our own.)
 */
const PROBE = [
  "It's 7, 42, 365 and 12345678 o'clock; I'LL say we'Ve DON'T  know   it.\n\n\n  Tab\there,\r\n end. \n",
  'naïve Straße ΑΒΓ абв שלום हिन्दी ไทย 日本語テキスト ½ ² ٣٤ Ⅻ e\u0301 — “quoted” … ???!!! ((x)) a_b $5.00 <tag> =>',
  '🚀👩‍👩‍👧 \u3000wide\u00a0space 3.14159e-10 /path/to\\file.txt #hash @at camelCase UPPER x=y+z^2~|`q`',
].join(' ')

interface Cutter {
  normalizer: ((text: string) => string) | null
  pre_tokenizer:
    | { pre_tokenize_text(text: string, options?: object): string[] }
    | ((text: string) => string[])
    | null
}

/** How a pre-tokenizer cuts the probe. @throws Error of the library for one that it does not know */
const wordsOf = (preTokenizer: unknown): string => {
  const model = { type: 'BPE', vocab: {}, merges: [], unk_token: null }
  const absent = { normalizer: null, post_processor: null, decoder: null }
  const json = { ...absent, pre_tokenizer: preTokenizer, added_tokens: [], model }
  const { pre_tokenizer: cut } = new HuggingFaceTokenizer(json as never, {} as never) as unknown as Cutter
  return JSON.stringify(typeof cut === 'function' ? cut(PROBE) : null)
}

/** The name for how a tokenizer cuts words: the one that cuts the probe into the same. @throws CheckpointError where there is none */
const preTokenizerNamed = ({ pre_tokenizer, model }: TokenizerJson, place: string): PreTokenizer => {
  const ignoresMerges = model.ignore_merges ?? false
  const words = cutOrRefuse(pre_tokenizer, place)
  const found = PRE_TOKENIZERS.find(
    known => known.ignoreMerges === ignoresMerges && wordsOf(bytePreTokenizer(known)) === words,
  )
  if (found) return found
  const names = PRE_TOKENIZERS.map(known => known.names[0]).join(', ')
  throw unknownKind(place, `whose way of cutting words is none of ${names}`)
}

const cutOrRefuse = (preTokenizer: unknown, place: string): string => {
  try {
    return wordsOf(preTokenizer)
  } catch (error) {
    throw unknownKind(place, `whose way of cutting words cannot be read (${(error as Error).message})`)
  }
}

/** Scores that give the order of the merges again: each token's is where it is first made. */
const piecesEntries = ({ model, normalizer }: TokenizerJson, tokens: readonly Token[]): Entry[] => {
  const made = new Map<string, number>()
  for (const merge of model.merges ?? []) {
    const token = pairOf(merge).join('')
    if (!made.has(token)) made.set(token, -made.size)
  }
  const scoreOf = ({ text, type }: Token) => {
    if (type === TokenType.BYTE || type === TokenType.UNKNOWN) return 0
    return type === TokenType.NORMAL ? (made.get(text) ?? -made.size) : -1000
  }
  return [
    ['tokenizer.ggml.model', { text: 'llama' }],
    ['tokenizer.ggml.pre', { text: 'default' }],
    ['tokenizer.ggml.scores', { f32s: tokens.map(scoreOf) }],
    ['tokenizer.ggml.add_space_prefix', { flag: JSON.stringify(normalizer ?? null).includes('"Prepend"') }],
  ]
}

/** End-of-turn tokens that llama.cpp does not know by their text get a key of their own. */
const idEntries = ({ bosId, eosId, padId, stops }: TokenUse, tokens: readonly Token[]): Entry[] => {
  const eos = eosId ?? stops[0] ?? null
  const others = stops.filter(id => id !== eos && !isEnding(tokens[id].text))
  const unknown = tokens.findIndex(({ type }) => type === TokenType.UNKNOWN)
  const named = [
    ['bos', bosId],
    ['eos', eos],
    ['eot', others[0] ?? null],
    ['eom', others[1] ?? null],
    ['unknown', unknown < 0 ? null : unknown],
    ['padding', padId],
  ] as const
  return named.flatMap(([name, id]) =>
    id === null ? [] : [[`tokenizer.ggml.${name}_token_id`, { u32: id }]],
  )
}
