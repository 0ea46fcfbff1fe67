/** @file Rules on how much there is: length in some unit, n-grams that are said again and again. */

import { z } from 'zod'
import { percent } from '../../util/format.ts'
import { repetitionOf } from './repetition.ts'
import { band, bandIsSensible, defineRule, inBand } from './rule.ts'
import { charactersIn, fold, paragraphsOf, sentencesOf, wordsOf } from './text.ts'

const MEASURES = {
  words: (text: string) => wordsOf(text).length,
  characters: (text: string) => charactersIn(text.trim()),
  sentences: (text: string) => sentencesOf(text).length,
  paragraphs: (text: string) => paragraphsOf(text).length,
  lines: (text: string) => text.split('\n').filter(line => line.trim() !== '').length,
}

type Unit = keyof typeof MEASURES

const lengthRule = defineRule({
  name: 'length',
  about: 'Is so long, in words, characters, sentences, paragraphs or lines that are not blank.',
  params: { ...band, unit: z.enum(Object.keys(MEASURES) as [Unit, ...Unit[]]).default('words') },
  require: [bandIsSensible, 'min or max, and min not above max; say how long the response may be'],
  compile:
    ({ unit, ...limits }) =>
    text =>
      inBand(MEASURES[unit](text), limits, unit),
})

const repetitionRule = defineRule({
  name: 'repetition',
  about: 'Does not repeat itself: runs of n words occur at most so often, or make up at most such a share.',
  params: {
    n: z.int().min(1).max(50).default(4),
    maxTimes: z.int().min(1).optional(),
    maxShare: z.number().min(0).max(1).optional(),
  },
  require: [
    ({ maxTimes, maxShare }) => maxTimes !== undefined || maxShare !== undefined,
    'maxTimes or maxShare; say how much repetition is too much',
  ],
  compile:
    ({ n, maxTimes = Number.POSITIVE_INFINITY, maxShare = 1 }) =>
    text => {
      const { most, share } = repetitionOf(wordsOf(fold(text)), n)
      return {
        met: most <= maxTimes && share <= maxShare,
        explanation: `a run of ${n} words occurs ${most} times at most, ${percent(share)} are repeats`,
      }
    },
})

export const LENGTH_RULES = [lengthRule, repetitionRule]
