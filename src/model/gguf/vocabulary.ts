/** @file The tokenizer of a GGUF file as the objects of Hugging Face's `tokenizer.json` and `tokenizer_config.json`. */

import { CheckpointError } from '../../util/errors.ts'
import type { GgufHeader } from './header.ts'
import { PRE_TOKENIZERS, type PreTokenizer } from './pre-tokenizers.ts'

/** Kinds of tokens (ggml-org/llama.cpp, include/llama.h, enum llama_token_type). */
export const TokenType = { NORMAL: 1, UNKNOWN: 2, CONTROL: 3, USER_DEFINED: 4, UNUSED: 5, BYTE: 6 } as const

/** Tokens that llama.cpp ends a response with, whatever the file says of them (src/llama-vocab.cpp, special_eog_ids). */
const ENDINGS = new Set([
  ...[
    '<|eot_id|>',
    '<|im_end|>',
    '<|end|>',
    '<end_of_turn>',
    '<|endoftext|>',
    '<|eom_id|>',
    '<|end_of_text|>',
  ],
  ...['<EOT>', '</s>', '<eos>'],
])

/** Whether llama.cpp ends a response with a control token of this text by itself. */
export const isEnding = (text: string): boolean => ENDINGS.has(text)

interface Vocabulary {
  tokens: readonly string[]
  types: readonly number[]
  kind: 'bytes' | 'pieces'
}

const damaged = (header: GgufHeader, message: string) =>
  new CheckpointError(`${header.path}: ${message}`, {
    hint: 'fetch the GGUF file again, or use another conversion',
  })

/** Whether a file has a tokenizer at all. */
export const hasVocabulary = (header: GgufHeader): boolean => header.has('tokenizer.ggml.tokens')

const kindOf = (header: GgufHeader): Vocabulary['kind'] => {
  const model = header.text('tokenizer.ggml.model')
  if (model === 'gpt2') return 'bytes'
  if (model === 'llama') return 'pieces'
  throw new CheckpointError(
    `${header.path}: tokenizer.ggml.model: expected gpt2 (byte pairs) or llama (SentencePiece), got ${JSON.stringify(model)}`,
    { hint: 'this kind of tokenizer is not supported' },
  )
}

/** Those read last, as long as somebody has them: a tokenizer's files are made one after another. */
const vocabularies = new WeakMap<GgufHeader, WeakRef<Vocabulary>>()

const vocabularyOf = (header: GgufHeader): Vocabulary => {
  const known = vocabularies.get(header)?.deref()
  if (known) return known
  const made = readVocabulary(header)
  vocabularies.set(header, new WeakRef(made))
  return made
}

/** Characters of all parts that pieces are cut into: all ways of cutting one in two are looked at. Ten times those of Gemma. */
const MOST_PART_CHARS = 2 ** 28

const readVocabulary = (header: GgufHeader): Vocabulary => {
  const tokens = header.texts('tokenizer.ggml.tokens')
  if (!tokens?.length) throw damaged(header, 'tokenizer.ggml.tokens: expected tokens, got none')
  const types = header.numbers('tokenizer.ggml.token_type') ?? tokens.map(() => TokenType.NORMAL)
  if (types.length !== tokens.length)
    throw damaged(
      header,
      `tokenizer.ggml.token_type: expected one for each of ${tokens.length} tokens, got ${types.length}`,
    )
  return { tokens, types, kind: kindOf(header) }
}

/** Ids of a vocabulary's special tokens; null where there is none. */
export interface SpecialIds {
  bos: number | null
  eos: number | null
  unknown: number | null
  pad: number | null
  /** A response ends with one of these. */
  stops: readonly number[]
}

/** What llama.cpp takes where a SentencePiece file names none. */
const PIECES_DEFAULTS = { bos: 1, eos: 2, unknown: 0 }

/** @throws CheckpointError for an id that no token has */
export const specialIdsOf = (header: GgufHeader): SpecialIds => {
  const { tokens, types, kind } = vocabularyOf(header)
  const id = (name: string, otherwise: number | null = null): number | null => {
    const key = `tokenizer.ggml.${name}_token_id`
    const found = header.number(key) ?? otherwise
    // 2^32 - 1 is llama.cpp's "none".
    if (found === null || found === 2 ** 32 - 1) return null
    if (Number.isInteger(found) && found >= 0 && found < tokens.length) return found
    throw damaged(header, `${key}: expected an id below ${tokens.length}, got ${found}`)
  }
  const usual = kind === 'pieces' ? PIECES_DEFAULTS : { bos: null, eos: null, unknown: null }
  const eos = id('eos', usual.eos)
  const named = [eos, id('eot'), id('eom')].filter(one => one !== null)
  const known = tokens.flatMap((token, i) => (types[i] === TokenType.CONTROL && isEnding(token) ? [i] : []))
  return {
    ...{ bos: id('bos', usual.bos), eos, unknown: id('unknown', usual.unknown), pad: id('padding') },
    stops: [...new Set([...named, ...known])],
  }
}

/**
 * @returns the content of `tokenizer.json`: tokens come out as llama.cpp makes them, so there is no normaliser that the model's original
 * files may have had
 * @throws CheckpointError for a kind of tokenizer, or a way of cutting words, that is not known
 */
export const tokenizerJsonOf = (header: GgufHeader): Record<string, unknown> => {
  const vocabulary = vocabularyOf(header)
  const ids = specialIdsOf(header)
  const parts = vocabulary.kind === 'bytes' ? bytePairs(header) : pieces(header, vocabulary, ids)
  return {
    ...{ version: '1.0', truncation: null, padding: null },
    added_tokens: addedTokens(vocabulary),
    ...parts,
    post_processor: template(header, vocabulary, ids),
    model: {
      ...{ type: 'BPE', dropout: null, continuing_subword_prefix: null, end_of_word_suffix: null },
      ...parts.model,
      vocab: spellings(vocabulary),
    },
  }
}

const spellings = ({ tokens, types }: Vocabulary): Record<string, number> => {
  const vocab: Record<string, number> = Object.create(null)
  for (const [id, token] of tokens.entries()) if (types[id] !== TokenType.UNUSED) vocab[token] = id
  return vocab
}

const addedTokens = ({ tokens, types }: Vocabulary) =>
  tokens.flatMap((content, id) =>
    types[id] === TokenType.CONTROL || types[id] === TokenType.USER_DEFINED
      ? [
          {
            ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false },
            special: types[id] === TokenType.CONTROL,
          },
        ]
      : [],
  )

/** @throws CheckpointError for a name that is not known, with those that are */
const preTokenizerOf = (header: GgufHeader): PreTokenizer => {
  const name = header.text('tokenizer.ggml.pre') ?? 'default'
  const found = PRE_TOKENIZERS.find(({ names }) => names.includes(name))
  if (found) return found
  const known = PRE_TOKENIZERS.flatMap(({ names }) => names).join(', ')
  throw new CheckpointError(
    `${header.path}: tokenizer.ggml.pre: expected one of ${known}, got ${JSON.stringify(name)}`,
    {
      hint: "use the model's Hugging Face folder, which says itself how its tokenizer cuts words",
    },
  )
}

const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false }

/** How a byte-level tokenizer cuts words, in `tokenizer.json`. */
export const bytePreTokenizer = ({ pieces: expressions }: PreTokenizer) => ({
  type: 'Sequence',
  pretokenizers: [
    ...expressions.map(Regex => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })),
    byteLevel,
  ],
})

const bytePairs = (header: GgufHeader) => {
  const merges = header.texts('tokenizer.ggml.merges')
  if (!merges) throw damaged(header, 'tokenizer.ggml.merges: expected merges, got none')
  const pre = preTokenizerOf(header)
  return {
    normalizer: null,
    pre_tokenizer: bytePreTokenizer(pre),
    decoder: { ...byteLevel, use_regex: true },
    model: {
      ...{ unk_token: null, fuse_unk: false, byte_fallback: false, ignore_merges: pre.ignoreMerges },
      merges: merges.map((merge, i) => splitMerge(header, merge, i)),
    },
  }
}

/** A merge is two tokens with a blank between; the first has at least one character, which may be a blank itself. */
const splitMerge = (header: GgufHeader, merge: string, index: number): [string, string] => {
  const at = merge.indexOf(' ', 1)
  if (at < 0)
    throw damaged(
      header,
      `tokenizer.ggml.merges: ${index}: expected two tokens, got ${JSON.stringify(merge)}`,
    )
  return [merge.slice(0, at), merge.slice(at + 1)]
}

const BLANK = '\u2581'

const pieces = (header: GgufHeader, vocabulary: Vocabulary, { unknown }: SpecialIds) => {
  const prefixed = header.flag('tokenizer.ggml.add_space_prefix') ?? true
  const blanks = { type: 'Replace', pattern: { String: ' ' }, content: BLANK }
  return {
    normalizer: prefixed
      ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: BLANK }, blanks] }
      : blanks,
    pre_tokenizer: null,
    decoder: {
      type: 'Sequence',
      decoders: [
        { type: 'Replace', pattern: { String: BLANK }, content: ' ' },
        ...[{ type: 'ByteFallback' }, { type: 'Fuse' }],
        ...(prefixed ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      ...{ unk_token: unknown === null ? null : vocabulary.tokens[unknown], fuse_unk: true },
      ...{ byte_fallback: vocabulary.types.includes(TokenType.BYTE), ignore_merges: false },
      merges: mergesOf(header, vocabulary),
    },
  }
}

/**
 * SentencePiece joins the neighbours whose token has the highest score: the same as merges in the order of scores, each token by all
 * pairs that it may be made of.
 */
const mergesOf = (header: GgufHeader, { tokens, types }: Vocabulary): [string, string][] => {
  const scores = header.numbers('tokenizer.ggml.scores')
  if (scores?.length !== tokens.length)
    throw damaged(
      header,
      `tokenizer.ggml.scores: expected one for each of ${tokens.length} tokens, got ${scores?.length ?? 'none'}`,
    )
  const isMade = (id: number) =>
    types[id] === TokenType.NORMAL || types[id] === TokenType.USER_DEFINED || types[id] === TokenType.UNUSED
  const known = new Set(tokens)
  const made = tokens.flatMap((_, id) => (isMade(id) ? [id] : [])).sort((a, b) => scores[b] - scores[a])
  const parts = made.reduce((sum, id) => sum + tokens[id].length ** 2, 0)
  if (parts > MOST_PART_CHARS)
    throw damaged(
      header,
      `tokenizer.ggml.tokens: expected words and their parts, got ${made.length} tokens that together are too long`,
    )
  const merges: [string, string][] = []
  for (const id of made) {
    const token = tokens[id]
    for (let at = 1; at < token.length; at++) {
      const left = token.slice(0, at)
      if (!known.has(left)) continue
      const right = token.slice(at)
      if (known.has(right)) merges.push([left, right])
    }
  }
  return merges
}

/** Whether a start or end token is put at a text's ends. */
const addsOf = (header: GgufHeader, { kind }: Vocabulary) => ({
  bos: header.flag('tokenizer.ggml.add_bos_token') ?? (kind === 'pieces' || preTokenizerOf(header).addsBos),
  eos: header.flag('tokenizer.ggml.add_eos_token') ?? false,
})

const template = (header: GgufHeader, vocabulary: Vocabulary, ids: SpecialIds) => {
  const { tokens } = vocabulary
  const adds = addsOf(header, vocabulary)
  const [first, last] = (['bos', 'eos'] as const).map(name => (adds[name] ? ids[name] : null))
  const special = (id: number | null) =>
    id === null ? [] : [{ SpecialToken: { id: tokens[id], type_id: 0 } }]
  const around = (...inner: unknown[]) => [...special(first), ...inner, ...special(last)]
  const used = [...new Set([first, last].filter(id => id !== null))]
  return {
    type: 'TemplateProcessing',
    single: around({ Sequence: { id: 'A', type_id: 0 } }),
    pair: around({ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 0 } }),
    special_tokens: Object.fromEntries(
      used.map(id => [tokens[id], { id: tokens[id], ids: [id], tokens: [tokens[id]] }]),
    ),
  }
}

/** @returns the content of `tokenizer_config.json`, without a template, which has a file of its own */
export const tokenizerConfigOf = (header: GgufHeader, maxPositions: number): Record<string, unknown> => {
  const vocabulary = vocabularyOf(header)
  const { bos, eos, pad, unknown } = specialIdsOf(header)
  const named = { bos_token: bos, eos_token: eos, pad_token: pad, unk_token: unknown }
  const adds = addsOf(header, vocabulary)
  return {
    tokenizer_class: 'PreTrainedTokenizerFast',
    ...Object.fromEntries(
      Object.entries(named).flatMap(([name, id]) => (id === null ? [] : [[name, vocabulary.tokens[id]]])),
    ),
    ...{ add_bos_token: adds.bos, add_eos_token: adds.eos, clean_up_tokenization_spaces: false },
    model_max_length: maxPositions,
  }
}
