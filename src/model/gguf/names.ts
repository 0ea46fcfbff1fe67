/** @file What tensors are called in GGUF and in Hugging Face's files, and how their values differ. */

/** By GGUF's `general.architecture`, that of Hugging Face's `model_type`. */
export const ARCHITECTURES = {
  llama: 'llama',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
  gemma3: 'gemma3_text',
} as const
export type GgufArchitecture = keyof typeof ARCHITECTURES

/** A tensor's counterpart and what was done to it on the way into GGUF (`conversion/` of ggml-org/llama.cpp). */
export interface GgufName {
  name: string
  /** Rows of each head are taken in turns from its two halves (llama's rotary pairs lie beside each other); heads, or null. */
  heads: 'query' | 'key' | null
  /** Added to every value: Gemma's norms multiply by 1 + w, llama.cpp's by w. */
  shift: number
}

const OUTER: Readonly<Record<string, string>> = {
  'model.embed_tokens': 'token_embd',
  'model.norm': 'output_norm',
  lm_head: 'output',
}
const INNER: Readonly<Record<string, string>> = {
  input_layernorm: 'attn_norm',
  'self_attn.q_proj': 'attn_q',
  'self_attn.k_proj': 'attn_k',
  'self_attn.v_proj': 'attn_v',
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
  post_attention_layernorm: 'ffn_norm',
  'mlp.gate_proj': 'ffn_gate',
  'mlp.up_proj': 'ffn_up',
  'mlp.down_proj': 'ffn_down',
}
/** Gemma has norms behind attention and the gated unit as well. */
const GEMMA: Readonly<Record<string, string>> = {
  ...INNER,
  post_attention_layernorm: 'post_attention_norm',
  pre_feedforward_layernorm: 'ffn_norm',
  post_feedforward_layernorm: 'post_ffw_norm',
}

const innerOf = (architecture: GgufArchitecture) => (architecture === 'gemma3' ? GEMMA : INNER)

const HEADS: Readonly<Record<string, GgufName['heads']>> = {
  'self_attn.q_proj': 'query',
  'self_attn.k_proj': 'key',
}

/** @param name Hugging Face's, as `tensorSpecs` lists it; null for one that GGUF has no name for */
export const toGgufName = (architecture: GgufArchitecture, name: string): GgufName | null => {
  const [, layer, module, kind] = /^(?:model\.layers\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ?? []
  if (module === undefined) return null
  const short = layer === undefined ? OUTER[module] : innerOf(architecture)[module]
  if (short === undefined) return null
  return {
    name: `${layer === undefined ? '' : `blk.${layer}.`}${short}.${kind}`,
    heads: architecture === 'llama' && layer !== undefined ? (HEADS[module] ?? null) : null,
    shift: architecture === 'gemma3' && /norm$/.test(module) ? 1 : 0,
  }
}

const invert = (map: Readonly<Record<string, string>>) =>
  new Map(Object.entries(map).map(([theirs, short]) => [short, theirs]))

/** Hugging Face's name of a tensor in a GGUF file; null for one that has none there. */
export const toHfName = (architecture: GgufArchitecture, name: string): string | null => {
  const [, layer, short, kind] = /^(?:blk\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(name) ?? []
  if (short === undefined) return null
  const module = invert(layer === undefined ? OUTER : innerOf(architecture)).get(short)
  if (module === undefined) return null
  return `${layer === undefined ? '' : `model.layers.${layer}.`}${module}.${kind}`
}

/** Where row `row` of a head's rows in Hugging Face's order lies in GGUF's: halves become pairs. */
export const pairedRow = (row: number, headDim: number): number => {
  const [head, within] = [Math.floor(row / headDim), row % headDim]
  const half = headDim / 2
  return head * headDim + (within < half ? 2 * within : 2 * (within - half) + 1)
}
