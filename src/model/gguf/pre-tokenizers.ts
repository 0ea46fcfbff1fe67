/**
 * @file How a byte-level tokenizer cuts text into words, by the names that GGUF has for it (`tokenizer.ggml.pre`): the expressions of
 * ggml-org/llama.cpp, src/llama-vocab.cpp, of which each cuts what those before it left whole.
 */

export interface PreTokenizer {
  /** Every name that means this one; the first is written. */
  names: readonly string[]
  pieces: readonly string[]
  /** A word that is a token as a whole is not merged. */
  ignoreMerges: boolean
  /** A start token is put before texts unless the file says otherwise. */
  addsBos: boolean
}

const GPT2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)`
const CONTRACTIONS = `(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])`
const wordsWith = (digits: string) =>
  String.raw`${CONTRACTIONS}|[^\r\n\p{L}\p{N}]?\p{L}+|${digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`

const plain = (pieces: readonly string[], ...names: string[]): PreTokenizer => ({
  ...{ names, pieces, ignoreMerges: false, addsBos: false },
})

export const PRE_TOKENIZERS: readonly PreTokenizer[] = [
  plain([GPT2], 'gpt-2', 'phi-2', 'mpt', 'olmo', 'gigachat', 'mellum'),
  plain(
    [String.raw`\p{N}`, GPT2],
    'smollm',
    'starcoder',
    'refact',
    'command-r',
    'codeshell',
    'exaone',
    'minerva-7b',
  ),
  plain([wordsWith(String.raw`\p{N}`)], 'qwen2', 'deepseek-r1-qwen', 'stablelm2', 'megrez', 'hunyuan'),
  {
    ...plain(
      [wordsWith(String.raw`\p{N}{1,3}`)],
      'llama-bpe',
      'llama3',
      'llama-v3',
      'falcon3',
      'pixtral',
      'lfm2',
    ),
    ...{ ignoreMerges: true, addsBos: true },
  },
  plain([wordsWith(String.raw`\p{N}{1,3}`)], 'smaug-bpe', 'dbrx'),
  plain([String.raw`[\p{P}\$\+<=>\^~\|]+`, GPT2, String.raw`\p{N}+`, '[0-9][0-9][0-9]'], 'default'),
]
