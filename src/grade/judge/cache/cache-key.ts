/** @file What a verdict depends on, as 128 bits. */

import { hash } from 'node:crypto'

/** Everything that a verdict depends on. Two judgements with the same parts are the same judgement. */
export interface VerdictParts {
  /** The judge: `ChatModel.name`. */
  model: string
  /** What its endpoints' own settings change: `ChatModel.variant`. */
  variant?: string
  /** Version of the prompt template and of the parser behind it. */
  template: string
  criterion: string
  /** Everything else that the judge is shown: conversation, response, reference. A `digestOf` it serves as well. */
  judged: string
  /** Sampling settings, as text that is the same for the same settings. */
  sampling: string
  /** Which repeat of the same judgement. */
  sampleIndex: number
}

/** 32 hexadecimal digits: half of a SHA-256, which processors compute as fast as weaker hashes. */
export type CacheKey = string

/** The first 128 bits of the SHA-256 of a text, as 32 hexadecimal digits. */
export const digestOf = (text: string): CacheKey => hash('sha256', text, 'hex').slice(0, 32)

/** Key of a verdict. Lengths stand before the parts, so that no two different lists of parts give one text. */
export const cacheKey = (parts: VerdictParts): CacheKey => {
  const { model, variant = '', template, criterion, judged, sampling, sampleIndex } = parts
  return digestOf(
    `${model.length}:${model}${variant.length}:${variant}${template.length}:${template}${criterion.length}:${criterion}` +
      `${judged.length}:${judged}${sampling.length}:${sampling}${sampleIndex}`,
  )
}

const DIGEST = /^[0-9a-f]{32}$/

/** A key of `cacheKey` as it is; any other text as its digest. */
export const asDigest = (key: string): CacheKey => (DIGEST.test(key) ? key : digestOf(key))
