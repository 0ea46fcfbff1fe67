/**
 * @file Kinds of instructions that a small model can show: those of IFEval but for other languages. Each is checked by the rule
 * `instruction` under its public id, and asked for in the words of `phrasings.json`.
 */

import type { Rng } from '../../util/rng.ts'
import { wordsIn } from '../../util/words.ts'
import type { Request } from './requests.ts'
import { evenParts, roughSentences, wordCount } from './text.ts'
import words from './words.json' with { type: 'json' }

/** Words that an answer may be asked to use, whatever it is about. */
const COMMON_WORDS: readonly string[] = wordsIn(words.common)
/** Words that answers to nearly all requests would use. */
const LIKELY_WORDS: readonly string[] = wordsIn(words.likely)
/** Of parts of a text, before their numbers. */
const SECTION_NAMES: readonly string[] = wordsIn(words.sectionNames)

export interface AskedInstruction {
  /** What stands in the gaps of a phrasing. */
  gaps?: Record<string, string>
  kwargs?: Record<string, unknown>
  /** Most words that an answer which follows has; fewest. */
  most?: number
  fewest?: number
  /** Words that the answer must not use. */
  without?: readonly string[]
}

export interface InstructionKind {
  /** Public id. */
  id: string
  /** What it decides of an answer: two kinds that decide the same are never asked for together. */
  decides: readonly ('case' | 'length' | 'frame' | 'start' | 'end' | 'marks' | 'words')[]
  /** The request itself belongs into the answer. */
  echoes?: true
  /** @param answer that is to follow it, perhaps edited; numbers and words are chosen to fit */
  draw(rng: Rng, request: Request, answer?: string): AskedInstruction
}

/** A whole number; the least where there is none. */
const between = (rng: Rng, least: number, most: number): number =>
  Math.ceil(least) + rng.int(Math.max(0, Math.floor(most) - Math.ceil(least)) + 1)

const NUMERALS: readonly string[] = wordsIn(
  'no one two three four five six seven eight nine ten eleven twelve',
)

/** In digits, or small ones in letters. */
const numeral = (rng: Rng, n: number): string =>
  n < NUMERALS.length && rng.next() < 0.4 ? NUMERALS[n] : String(n)

const AT_LEAST = [
  'at least {}',
  'at least {}',
  '{} or more',
  'no fewer than {}',
  'a minimum of {}',
  'not less than {}',
]
const LESS = ['less than {}', 'fewer than {}', 'under {}']
const AT_MOST = ['at most {}', 'no more than {}', 'a maximum of {}', 'up to {}']

/** What stands before the thing that is counted, as in `at least three` (words). */
const limit = (rng: Rng, few: boolean, n: number): string => {
  const [ways, said] = !few ? [AT_LEAST, n] : n > 2 && rng.next() < 0.4 ? [AT_MOST, n - 1] : [LESS, n]
  return rng.pick(ways).replace('{}', numeral(rng, said))
}

const relation = (few: boolean) => (few ? 'less than' : 'at least')

/** A number that something which is there keeps; rounded to whole `step`s, so that it still does. */
const fitting = (rng: Rng, few: boolean, has: number, step = 1): number =>
  few
    ? step * Math.ceil(between(rng, has + 1, 1.5 * has + 2) / step)
    : Math.max(1, step * Math.floor(between(rng, has / 2, has) / step))

const wordsOf = (text: string): string[] => [...new Set(text.toLowerCase().match(/\b[a-z]{4,}\b/g) ?? [])]
const occurrences = (text: string, part: string): number => text.toLowerCase().split(part).length - 1

/** Words to use: those of the answer where there is one, else some that suit the request, and others. */
const wordsFor = (rng: Rng, { subject, ask }: Request, count: number, answer?: string): string[] => {
  if (answer !== undefined) return rng.shuffle(wordsOf(answer)).slice(0, count)
  const own = subject.filter(word => word.length > 3 && !ask.toLowerCase().includes(word))
  return rng
    .shuffle([...rng.shuffle(own).slice(0, count), ...rng.shuffle(COMMON_WORDS).slice(0, count)])
    .slice(0, count)
}

/** Words to avoid that answers to such a request would use; of those of an answer that is there at most one. */
const wordsAgainst = (rng: Rng, { subject, ask }: Request, count: number, answer?: string): string[] => {
  const likely = [...subject, ...LIKELY_WORDS].filter(
    word => word.length > 3 && !ask.toLowerCase().includes(word),
  )
  if (answer === undefined) return rng.shuffle(likely).slice(0, count)
  const own = wordsOf(answer)
  const absent = rng.shuffle(likely.filter(word => !own.includes(word)))
  return rng.shuffle([...rng.shuffle(own).slice(0, rng.int(2)), ...absent]).slice(0, count)
}

/** `a, "b" and c`: all in quotation marks, or none. */
const enumerated = (rng: Rng, words: readonly string[], last: string): string => {
  const [open, close] = rng.pick(['""', '""', "''", '  '])
  const quoted = words.map(word => `${open}${word}${close}`.trim())
  return quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} ${last} ${quoted.at(-1)}` : quoted.join()
}

const kind = (
  id: string,
  decides: InstructionKind['decides'],
  draw: InstructionKind['draw'] = () => ({}),
): InstructionKind => ({ id, decides, draw })

/** How many of IFEval's 541 prompts ask for a kind (Zhou et al. 2023, table of its repository's data): rows ask in these proportions. */
export const IFEVAL_COUNTS: Readonly<Record<string, number>> = {
  'punctuation:no_comma': 66,
  'change_case:english_lowercase': 39,
  'change_case:english_capital': 25,
  'change_case:capital_word_frequency': 25,
  'startend:quotation': 41,
  'detectable_format:title': 37,
  'keywords:existence': 39,
  'keywords:frequency': 42,
  'keywords:forbidden_words': 49,
  'keywords:letter_frequency': 33,
  'detectable_format:number_bullet_lists': 31,
  'detectable_format:number_highlighted_sections': 47,
  'detectable_format:multiple_sections': 14,
  'detectable_content:number_placeholders': 26,
  'detectable_content:postscript': 26,
  'length_constraints:number_sentences': 52,
  'length_constraints:number_words': 52,
  'length_constraints:number_paragraphs': 27,
  'length_constraints:nth_paragraph_first_word': 12,
  'detectable_format:json_format': 17,
  'startend:end_checker': 26,
  'combination:two_responses': 24,
  'combination:repeat_prompt': 41,
}

/** All kinds in a random order, in which those that are asked for more often stand earlier (Efraimidis and Spirakis 2006). */
export const randomKinds = (rng: Rng): InstructionKind[] =>
  INSTRUCTION_KINDS.map(each => ({ each, key: -Math.log(1 - rng.next()) / IFEVAL_COUNTS[each.id] }))
    .sort((a, b) => a.key - b.key)
    .map(({ each }) => each)

export const INSTRUCTION_KINDS: readonly InstructionKind[] = [
  kind('punctuation:no_comma', ['marks']),
  kind('change_case:english_lowercase', ['case']),
  kind('change_case:english_capital', ['case']),
  kind('change_case:capital_word_frequency', ['case'], rng => {
    const few = rng.next() < 0.2
    const n = few ? between(rng, 4, 15) : between(rng, 2, 6)
    return {
      gaps: { limit: limit(rng, few, n) },
      kwargs: { capital_relation: relation(few), capital_frequency: n },
    }
  }),
  kind('startend:quotation', ['start', 'end']),
  kind('detectable_format:title', ['start']),
  kind('keywords:existence', ['words'], (rng, request, answer) => {
    const keywords = wordsFor(rng, request, between(rng, 1, answer === undefined ? 3 : 5), answer)
    return { gaps: { words: enumerated(rng, keywords, 'and') }, kwargs: { keywords } }
  }),
  kind('keywords:frequency', ['words'], (rng, request, answer) => {
    const few = rng.next() < 0.2
    const repeated = answer && wordsOf(answer).filter(word => occurrences(answer, word) > 1)
    const [keyword = 'other'] = few || !repeated ? wordsFor(rng, request, 1, answer) : rng.shuffle(repeated)
    const n = few
      ? between(rng, 2, 4)
      : answer === undefined
        ? between(rng, 2, 3)
        : between(rng, 2, occurrences(answer, keyword))
    return {
      gaps: { word: enumerated(rng, [keyword], ''), limit: limit(rng, few, n) },
      kwargs: { relation: relation(few), keyword, frequency: n },
    }
  }),
  kind('keywords:forbidden_words', ['words'], (rng, request, answer) => {
    const words = wordsAgainst(rng, request, between(rng, 1, 4), answer)
    return {
      gaps: { words: enumerated(rng, words, 'or') },
      kwargs: { forbidden_words: words },
      without: words,
    }
  }),
  kind('keywords:letter_frequency', [], (rng, _, answer) => {
    const few = rng.next() < 0.4
    const has = (letter: string) => occurrences(answer ?? '', letter)
    const letters = [
      ...(answer === undefined ? (few ? 'qzxjkvw' : 'aeioustnrl') : 'abcdefghijklmnopqrstuvwxyz'),
    ]
    const letter = rng.pick(answer === undefined || few ? letters : letters.filter(each => has(each) > 2))
    const usual = few ? between(rng, 2, 4) : between(rng, 5, 15)
    const n = answer === undefined ? usual : Math.max(2, fitting(rng, few, has(letter)))
    const shown = rng.pick([letter, `"${letter}"`, letter.toUpperCase()])
    return {
      gaps: { letter: shown, limit: limit(rng, few, n) },
      kwargs: { let_relation: relation(few), letter, let_frequency: n },
    }
  }),
  kind('detectable_format:number_bullet_lists', ['frame'], (rng, _, answer) => {
    const n = between(rng, 2, answer === undefined ? 4 : Math.min(9, evenParts(answer, 9).length))
    return { gaps: { n: numeral(rng, n) }, kwargs: { num_bullets: n } }
  }),
  kind('detectable_format:number_highlighted_sections', [], (rng, _, answer) => {
    const n = between(rng, 1, answer === undefined ? 3 : Math.min(8, wordCount(answer) / 12)) + 1
    return { gaps: { limit: limit(rng, false, n) }, kwargs: { num_highlights: n } }
  }),
  // With a case: its mark, such as `Part 1`, is looked for in its own, whatever the case of all else has to be.
  kind('detectable_format:multiple_sections', ['frame', 'length', 'case'], (rng, _, answer) => {
    const n = between(rng, 2, answer === undefined ? 3 : Math.min(6, evenParts(answer, 6).length))
    const splitter = rng.pick(SECTION_NAMES)
    return {
      gaps: { n: numeral(rng, n), splitter },
      kwargs: { section_spliter: splitter, num_sections: n },
      fewest: 30,
    }
  }),
  kind('detectable_content:number_placeholders', [], (rng, _, answer) => {
    const has = (answer?.match(/\[[^\][\n]+\]/g) ?? []).length
    const n = has > 1 ? between(rng, 2, has) : between(rng, 2, 5)
    return { gaps: { limit: limit(rng, false, n) }, kwargs: { num_placeholders: n } }
  }),
  kind('detectable_content:postscript', ['end'], rng => {
    const marker = rng.pick(['P.S.', 'P.S.', 'P.P.S'])
    return { gaps: { marker }, kwargs: { postscript_marker: marker } }
  }),
  kind('length_constraints:number_sentences', ['length'], (rng, _, answer) => {
    const few = rng.next() < 0.5
    const has = answer === undefined ? between(rng, 3, 5) : roughSentences(answer).length
    // Fewer than there are: the answer is cut.
    const n = few
      ? Math.max(2, fitting(rng, true, between(rng, 1, has)))
      : Math.max(2, fitting(rng, false, has))
    return {
      gaps: { limit: limit(rng, few, n) },
      kwargs: { relation: relation(few), num_sentences: n },
      ...(few ? { most: 12 * (n - 1) } : { fewest: 6 * n }),
    }
  }),
  kind('length_constraints:number_words', ['length'], (rng, _, answer) => {
    const few = rng.next() < (answer === undefined ? 0.5 : 0.35)
    const has = answer === undefined ? between(rng, 40, 60) : wordCount(answer)
    const step = has >= 200 ? rng.pick([10, 50]) : has >= 40 ? rng.pick([5, 10]) : 1
    const n = fitting(rng, few, few ? between(rng, Math.max(12, has / 3), has) : has, step)
    return {
      gaps: { limit: limit(rng, few, n) },
      kwargs: { relation: relation(few), num_words: n },
      ...(few ? { most: n - 1 } : { fewest: n }),
    }
  }),
  kind('length_constraints:number_paragraphs', ['frame', 'length'], (rng, _, answer) => {
    const n = between(rng, 2, answer === undefined ? 3 : Math.min(6, evenParts(answer, 6).length))
    return { gaps: { n: numeral(rng, n) }, kwargs: { num_paragraphs: n }, fewest: 30 }
  }),
  kind(
    'length_constraints:nth_paragraph_first_word',
    ['frame', 'length', 'start'],
    (rng, request, answer) => {
      const n = between(rng, 2, answer === undefined ? 3 : Math.min(6, evenParts(answer, 6).length))
      const nth = between(rng, 1, n)
      const own = answer && /^[A-Za-z]+/.exec(evenParts(answer, n)[nth - 1] ?? '')?.[0].toLowerCase()
      const [word] = own && rng.next() < 0.6 ? [own] : wordsFor(rng, request, 1)
      return {
        gaps: { n: numeral(rng, n), nth: String(nth), word: enumerated(rng, [word], '') },
        kwargs: { num_paragraphs: n, nth_paragraph: nth, first_word: word },
        fewest: 30,
      }
    },
  ),
  kind('detectable_format:json_format', ['frame', 'start', 'end', 'marks', 'case']),
  kind('startend:end_checker', ['end'], rng => {
    const phrase = rng.pick(words.endPhrases)
    return { gaps: { phrase: `"${phrase}"` }, kwargs: { end_phrase: phrase } }
  }),
  kind('combination:two_responses', ['frame', 'length', 'start', 'end'], () => ({ fewest: 25 })),
  {
    ...kind('combination:repeat_prompt', ['start', 'frame', 'length'], (_, { ask }) => ({
      kwargs: { prompt_to_repeat: ask },
    })),
    echoes: true,
  },
]
