/** @file Scores of long writing: how well a text keeps to its length, and what judged aspects come to (RiT). */

import { DataError } from '../util/errors.ts'

const CHINESE = /\p{Script=Han}/gu
/** Words of Latin letters; what touches a digit, an underscore or another letter is part of something else. */
const WORD = /(?<![\p{L}\p{N}_])[a-zA-Z]+(?![\p{L}\p{N}_])/gu

/**
 * Length of a text as LongBench-Write counts it: words of Latin letters, and Chinese characters (LongWriter's `pred.py`).
 * @example
 * countWords('Two words.') // 2
 */
export const countWords = (text: string): number =>
  (text.match(WORD)?.length ?? 0) + (text.match(CHINESE)?.length ?? 0)

/**
 * S_l of LongBench-Write, 0 to 100: 100 at the required length, 0 from four times as long on and at a third of it; 0 for
 * nothing written (LongWriter's `eval_length.py`).
 * @param required words asked for, above zero
 * @param written words written
 * @throws DataError for a requirement that is none
 * @example
 * lengthScore(1000, 2500) // 50
 */
export const lengthScore = (required: number, written: number): number => {
  if (!(required > 0 && Number.isFinite(required)))
    throw new DataError(
      `length score: expected a required length above zero, got ${required}; leave the row out`,
    )
  if (!(written > 0)) return 0
  const share = written > required ? 1 - (written / required - 1) / 3 : 1 - (required / written - 1) / 2
  return 100 * Math.max(0, share)
}

/**
 * The score of LongBench-Write, 0 to 100: half length, half quality (the mean of its judged aspects; LongWriter's `eval_quality.py`); null
 * where the quality is unknown.
 */
export const longWriteScore = (length: number, quality: number | null): number | null =>
  quality === null ? null : (length + quality) / 2
