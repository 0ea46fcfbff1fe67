import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createTokenizer } from './tokenizer.ts'

/** Made by scripts/peers/tokenizers_golden.py with the Rust library. */
const GOLDEN = JSON.parse(
  readFileSync(new URL('mended-tokenizer.golden.json', import.meta.url), 'utf8'),
) as Record<
  string,
  {
    tokenizer: string
    texts: [text: string, ids: number[], decoded: string][]
    decoded: [number[], string][]
  }
>

describe.each(Object.entries(GOLDEN))('a tokenizer with %s', (_name, { tokenizer: json, texts, decoded }) => {
  const tokenizer = createTokenizer(JSON.parse(json))

  it('makes the tokens of the Rust library', () => {
    expect(texts.map(([text]) => [text, tokenizer.encode(text)])).toEqual(
      texts.map(([text, ids]) => [text, ids]),
    )
  })

  it('reads tokens as the Rust library does', () => {
    const wanted = [...texts.map(([, ids, text]) => [ids, text] as const), ...decoded]
    const read = wanted.map(([ids]) => [ids, tokenizer.decode(ids, { keepSpecialTokens: true })])
    expect(read).toEqual(wanted)
  })
})
