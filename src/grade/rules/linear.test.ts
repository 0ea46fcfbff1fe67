import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkRule } from './index.ts'
import { repetitionOf } from './length.ts'
import { charactersIn, sentenceSegments, wordSegments, wordsOf } from './text.ts'

// What these functions give, said plainly; they were written so, and took minutes for some texts.
const plainSentences = (text: string) =>
  Array.from(new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text), ({ segment }) => segment)
const plainWords = (text: string) =>
  Array.from(new Intl.Segmenter('und', { granularity: 'word' }).segment(text))
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment)
const plainRepetition = (words: readonly string[], n: number) => {
  const counts = new Map<string, number>()
  const runs = Math.max(0, words.length - n + 1)
  for (let i = 0; i < runs; i++) {
    const run = words.slice(i, i + n).join(' ')
    counts.set(run, (counts.get(run) ?? 0) + 1)
  }
  return { most: Math.max(0, ...counts.values()), share: runs === 0 ? 0 : 1 - counts.size / runs }
}

const text = (pieces: readonly string[], most: number) =>
  fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: most, size: 'max' })
    .map(parts => parts.join(''))

const PROSE = [
  ...[
    'The quick fox ',
    'jumps ',
    'over it. ',
    'Really?! ',
    'He said: "No." ',
    'e.g. this ',
    'U.S. law ',
    '3.14 ',
    'p. 7 ',
  ],
  ...[
    '(see Fig. 2) ',
    '… and so on ',
    'Mr. Smith went. ',
    '\n',
    '\n\n',
    '- item\n',
    'Ende. Neu ',
    'a',
    '. ',
    '!',
    '👍 ',
    '\r\n',
  ],
  ...[
    '。',
    '彼は言った。',
    'Was? Ja. ',
    'one long clause without any end, and then another one, and so it goes on ',
  ],
]
const MIXED = [
  ...[
    '東京都',
    'に住んでいる',
    '人々',
    '、',
    '。',
    '！',
    'กินข้าว',
    'สวัสดี',
    ' ',
    'the word ',
    "can't ",
    '3,14 ',
    'x',
    '\n',
  ],
  ...['ひらがな', 'カタカナ', '，', '「', '」', '🇩🇪🇪🇺', 'é ', 'e\u0301 ', '\u200d', 'ລາວ ', 'မြန်မာ '],
]

describe('windows of a text', () => {
  it('have the same sentences as the whole', () => {
    fc.assert(
      fc.property(text(PROSE, 800), all => {
        expect(sentenceSegments(all)).toEqual(plainSentences(all))
      }),
      { numRuns: 150 },
    )
  })

  it('have the same words as the whole', () => {
    fc.assert(
      fc.property(text(MIXED, 500), all => {
        expect(wordSegments(all)).toEqual(plainWords(all))
      }),
      { numRuns: 150 },
    )
  })
})

describe('repetition', () => {
  it('is counted as if every run was written out', () => {
    const words = fc
      .array(fc.constantFrom('a', 'b', 'c', 'a b'), { maxLength: 120, size: 'max' })
      .map(all => all.filter(w => w !== 'a b'))
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 50 }), (all, n) => {
        expect(repetitionOf(all, n)).toEqual(plainRepetition(all, n))
      }),
      { numRuns: 500 },
    )
  })
})

it('characters are counted as Unicode has them', () => {
  const units = fc.string({ unit: 'binary', maxLength: 60, size: 'max' })
  const halves = fc
    .array(fc.constantFrom('a', '\ud83d', '\udc4d'), { maxLength: 12, size: 'max' })
    .map(all => all.join(''))
  fc.assert(
    fc.property(fc.oneof(units, halves), all => {
      expect(charactersIn(all)).toBe(Array.from(all).length)
    }),
  )
})

describe('unique items', () => {
  const unique = (value: unknown, schema: object = {}) =>
    checkRule(
      'json_schema',
      { schema: { uniqueItems: true, ...schema } },
      { prompt: [], response: JSON.stringify(value) },
    )

  it('are equal as JSON is', () => {
    expect(unique([1, '1', [1], { a: 1 }, null, false, 0, '']).met).toBe(true)
    expect(
      unique([
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ]).met,
    ).toBe(false)
    expect(unique([{ constructor: {} }, { constructor: {} }]).met).toBe(false)
    expect(unique([1, 2, 1, 2])).toEqual({
      met: false,
      explanation: 'the value must NOT have duplicate items (items ## 1 and 3 are identical)',
    })
    expect(unique([1, 1], { uniqueItems: false }).met).toBe(true)
  })
})

/** Processor time, so that a busy machine changes nothing; each of these took from half a minute to hours. */
const secondsOf = (work: () => unknown): number => {
  const before = process.cpuUsage().user
  work()
  return (process.cpuUsage().user - before) / 1e6
}

describe('texts that were slow', () => {
  const objects = JSON.stringify(Array.from({ length: 100_000 }, (_, index) => ({ a: index })))
  it.each<[string, string, object, string]>([
    ['sentences of two letters', 'length', { unit: 'sentences', min: 1 }, 'Ab. '.repeat(100_000)],
    [
      'a sentence without an end, then many',
      'length',
      { unit: 'sentences', min: 1 },
      `${'a '.repeat(100_000)}${'Ab. '.repeat(50_000)}`,
    ],
    ['words in a script without spaces', 'length', { min: 1 }, 'あ b '.repeat(50_000)],
    ['a word without an end', 'length', { min: 1 }, '東京都'.repeat(50_000)],
    [
      'runs of fifty words',
      'repetition',
      { n: 50, maxTimes: 3 },
      Array.from({ length: 120_000 }, (_, i) => `w${(i * 7919) % 100_003}`).join(' '),
    ],
    ['many objects', 'json_schema', { schema: { uniqueItems: true } }, objects],
  ])('%s', (_, fn, params, response) => {
    expect(secondsOf(() => checkRule(fn, params, { prompt: [], response }))).toBeLessThan(20)
  })

  it('keep no more words than there are', () => {
    expect(wordsOf('東京都'.repeat(2_000)).join('')).toBe('東京都'.repeat(2_000))
  })
})
