/** @file What LongBench-Write asks of a text beside its length: six aspects, each from 1 to 5, as criteria for a judge. */

import type { Criterion, Rubric } from '../../rubric/criterion.ts'

const ASPECTS: readonly (readonly [title: string, best: string, worst: string])[] = [
  [
    'Relevance',
    'all of it serves what was asked for and can be used for it',
    'it has nothing to do with what was asked for',
  ],
  [
    'Accuracy',
    'its facts are right throughout and nothing in it misleads',
    'it is full of errors and misleads badly',
  ],
  [
    'Coherence',
    'it is clearly built and each part follows from the one before',
    'it has no order, and nothing holds it together',
  ],
  [
    'Clarity',
    'its language is clear, rich in detail and easy to understand',
    'it is confused and says hardly anything in particular',
  ],
  [
    'Breadth and Depth',
    'it covers much, goes deep, and carries a lot of information',
    'it is narrow and shallow, and carries next to no information',
  ],
  [
    'Reading Experience',
    'it holds the reader and is a pleasure to read',
    'it is tedious and hard to get through',
  ],
]

const criterionOf = ([title, best, worst]: (typeof ASPECTS)[number]): Criterion => ({
  id: title.toLowerCase().replaceAll(' ', '-'),
  title,
  text: `${title} of the text, by a strict reader. How well it keeps to the length that was asked for is measured elsewhere and does not count here.`,
  points: 1,
  levels: [
    { low: 1, high: 1, text: worst },
    { low: 2, high: 2, text: 'nearer to the worst than to the middle' },
    { low: 3, high: 3, text: 'half way between the worst and the best' },
    { low: 4, high: 4, text: 'nearer to the best than to the middle' },
    { low: 5, high: 5, text: best },
  ],
})

/** The six aspects of LongBench-Write's quality score, in its order (LongWriter's `judge.txt`; our words). */
export const WRITING_QUALITY: Rubric = { id: 'writing-quality', criteria: ASPECTS.map(criterionOf) }
