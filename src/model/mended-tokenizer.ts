/**
 * @file What @huggingface/tokenizers 0.2.0 does otherwise than the Rust tokenizers that models were trained with, put right on what it
 * builds: bytes of a Unigram model (huggingface/tokenizers.js#26), bytes that are no text, and words that only count alone.
 */

/** The parts of the library's objects that are changed here. */
interface Model {
  type?: string
  tokens_to_ids: Map<string, number>
  _call(pieces: string[]): string[]
}
interface Decoder {
  decoders?: Decoder[]
  text_decoder?: { decode(bytes: Uint8Array): string }
}
interface Splitter {
  split(text: string): string[]
}
interface AddedToken {
  single_word: boolean
}
export interface LibraryTokenizer {
  model: Model
  decoder: Decoder | null
  /** By what stands for them in a text. */
  added_tokens_map: ReadonlyMap<string, AddedToken>
  splitter_unnormalized: Splitter
  splitter_normalized: Splitter
}

/** Puts a tokenizer right that the library has built of such a model. */
export const mend = (
  tokenizer: LibraryTokenizer,
  { type, byte_fallback }: { type?: unknown; byte_fallback?: unknown },
): void => {
  if (type === 'Unigram' && byte_fallback === true) giveBytes(tokenizer.model)
  if (tokenizer.decoder) readBytes(tokenizer.decoder)
  const added = tokenizer.added_tokens_map
  if (![...added.values()].some(({ single_word }) => single_word)) return
  for (const splitter of [tokenizer.splitter_unnormalized, tokenizer.splitter_normalized])
    joinWithinWords(splitter, added)
}

const byteToken = (byte: number) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`

/** A Unigram model's pieces that the vocabulary lacks become their bytes, where it has all of those (Rust: models/unigram/model.rs). */
const giveBytes = (model: Model): void => {
  const pieces = model._call.bind(model)
  const bytesOf = (piece: string): string[] => {
    const tokens = [...Buffer.from(piece, 'utf8')].map(byteToken)
    return tokens.every(token => model.tokens_to_ids.has(token)) ? tokens : [piece]
  }
  model._call = texts =>
    pieces(texts).flatMap(piece => (model.tokens_to_ids.has(piece) ? [piece] : bytesOf(piece)))
}

/**
 * Bytes as text: a run of byte tokens that is no UTF-8 is a replacement character for each of them (Rust: decoders/byte_fallback.rs),
 * and U+FEFF at its start is text. Other decoders of the library have a `text_decoder` that does what theirs does.
 */
const readBytes = (decoder: Decoder): void => {
  for (const inner of decoder.decoders ?? []) readBytes(inner)
  if (!(decoder.text_decoder instanceof TextDecoder) || decoder.text_decoder.ignoreBOM) return
  const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  decoder.text_decoder = {
    decode: bytes => {
      try {
        return strict.decode(bytes)
      } catch {
        return '\ufffd'.repeat(bytes.length)
      }
    },
  }
}

const BEGINS_WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]/u
const ENDS_WORD = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]$/u

/** Added tokens that count as words alone are text within one (Rust: tokenizer/added_vocabulary.rs, `single_word`). */
const joinWithinWords = (splitter: Splitter, added: ReadonlyMap<string, AddedToken>): void => {
  const split = splitter.split.bind(splitter)
  splitter.split = text => {
    const found = split(text)
    const joined: { text: string; isToken: boolean }[] = []
    for (const [i, part] of found.entries()) {
      const isWithin = ENDS_WORD.test(found[i - 1] ?? '') || BEGINS_WORD.test(found[i + 1] ?? '')
      const token = added.get(part)
      const isToken = token !== undefined && !(token.single_word && isWithin)
      const last = joined.at(-1)
      if (last && !last.isToken && !isToken) last.text += part
      else joined.push({ text: part, isToken })
    }
    return joined.map(({ text }) => text)
  }
}
