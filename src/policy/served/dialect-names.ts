/** @file Names of the ways in which inference servers are spoken to, for whoever needs no more than these. */

/**
 * `openai`: `/v1/completions` with token ids, as vLLM and `gradus serve chat` have it. `sglang`: SGLang's own `/generate`.
 */
export const DIALECTS = ['openai', 'sglang'] as const
export type DialectName = (typeof DIALECTS)[number]
