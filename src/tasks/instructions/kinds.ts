/**
 * @file Kinds of instructions that a small model can show: those of IFEval but for other languages, in words of our own. Each
 * is checked by the rule `instruction` under its public id.
 */

import type { Rng } from '../../util/rng.ts'
import type { Request } from './requests.ts'
import { COMMON_WORDS } from './topics.ts'

export interface Asked {
  say: string
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
  draw(rng: Rng, request: Request): Asked
}

const between = (rng: Rng, least: number, most: number): number => least + rng.int(most - least + 1)

/** One of several ways to say it, with what belongs into its gaps. */
const said = (rng: Rng, ways: readonly string[], gaps: Record<string, string | number> = {}): string =>
  rng.pick(ways).replace(/\{(\w+)\}/g, (_, gap: string) => String(gaps[gap]))

/** Words of an answer from which on it shows what many words are. */
const LONG = 110

const plural = (n: number, what: string): string => (n === 1 ? `${n} ${what}` : `${n} ${what}s`)

/** Words that answers to nearly all requests would use. */
const LIKELY_WORDS =
  'also just make very good great help important life many people really thing time will with'.split(' ')

/** Words that suit the request, and others. */
const wordsFor = (
  rng: Rng,
  { subject, ask }: Request,
  count: number,
  others: readonly string[] = COMMON_WORDS,
): string[] => {
  const own = subject.filter(word => word.length > 3 && !ask.toLowerCase().includes(word))
  const more = own.length < count ? COMMON_WORDS : others
  return rng
    .shuffle([...rng.shuffle(own).slice(0, count), ...rng.shuffle(more).slice(0, count)])
    .slice(0, count)
}

/** Words beside those that suit, where no answer says which there are. */
const othersFor = ({ written }: Request): readonly string[] => (written === undefined ? COMMON_WORDS : [])

const kind = (
  id: string,
  decides: InstructionKind['decides'],
  draw: InstructionKind['draw'],
): InstructionKind => ({ id, decides, draw })

const END_PHRASES = [
  'Can I do anything more for you?',
  'That is all for today.',
  'Thank you for reading!',
  'What do you think?',
  'Have a wonderful day.',
  'Let me know if you have questions.',
]

/** How many of IFEval's 541 prompts ask for a kind (Zhou et al. 2023, table of its repository's data): rows ask in these proportions. */
const IFEVAL_COUNTS: Readonly<Record<string, number>> = {
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
export const kindsByChance = (rng: Rng): InstructionKind[] =>
  INSTRUCTION_KINDS.map(each => ({ each, key: -Math.log(1 - rng.next()) / IFEVAL_COUNTS[each.id] }))
    .sort((a, b) => a.key - b.key)
    .map(({ each }) => each)

export const INSTRUCTION_KINDS: readonly InstructionKind[] = [
  kind('punctuation:no_comma', ['marks'], rng => ({
    say: said(rng, [
      'Do not use any commas.',
      'Avoid commas altogether.',
      'Your answer must not contain a comma.',
      'Leave out all commas in your response.',
      'In your entire answer, refrain from commas.',
      'Commas are not allowed in your reply.',
    ]),
  })),
  kind('change_case:english_lowercase', ['case'], rng => ({
    say: said(rng, [
      'Write only in lowercase letters.',
      'Use no capital letters at all; everything should be in English and in lower case.',
      'Your entire reply should be in lowercase.',
      'Make sure that your answer is in English and has no capital letters.',
      'all letters of your answer should be lowercase.',
    ]),
  })),
  kind('change_case:english_capital', ['case'], rng => ({
    say: said(rng, [
      'Write everything in capital letters.',
      'The whole reply has to be English text in all caps.',
      'USE ONLY CAPITAL LETTERS.',
      'Make sure that your entire response is in English and in capital letters only.',
      'Your answer should be in English, with all letters capitalized.',
    ]),
  })),
  kind('change_case:capital_word_frequency', ['case'], rng => {
    const n = between(rng, 1, 4)
    return {
      say: said(
        rng,
        [
          'Write at least {n} in all capital letters.',
          'Stress at least {n} by writing them in all caps.',
          'Let {n} or more stand out in capital letters only.',
          'There should be {n} or more that are fully capitalized.',
        ],
        { n: plural(n, 'word') },
      ),
      kwargs: { capital_relation: 'at least', capital_frequency: n },
    }
  }),
  kind('startend:quotation', ['start', 'end'], rng => ({
    say: said(rng, [
      'Put your whole answer in double quotation marks.',
      'Your entire response should be wrapped with double quotes.',
      'Begin and end your reply with a double quotation mark.',
      'Wrap your entire answer in double quotation marks.',
      'The whole response must stand inside double quotation marks.',
    ]),
  })),
  kind('detectable_format:title', ['start'], rng => ({
    say: said(rng, [
      'Give it a title in double angular brackets, such as <<a good title>>.',
      'Your answer must have a title, wrapped like this: <<title>>.',
      'Include a title written in double angle brackets, i.e. <<my title>>.',
      'Put a title on top, set in double angular brackets: <<title of the text>>.',
      'The answer needs a title wrapped in double angular brackets, e.g. <<something nice>>.',
    ]),
  })),
  kind('keywords:existence', ['words'], (rng, request) => {
    const keywords = wordsFor(rng, request, between(rng, 1, 3), othersFor(request))
    return {
      say: said(
        rng,
        [
          'Include {words}.',
          'Use the following in your answer: {words}.',
          'Make sure to mention {words}.',
          'These keywords have to be in your response: {words}.',
        ],
        { words: keywords.join(' and ') },
      ),
      kwargs: { keywords },
    }
  }),
  kind('keywords:frequency', ['words'], (rng, request) => {
    const [keyword] = wordsFor(rng, request, 1, othersFor(request))
    const frequency = between(rng, 2, 3)
    return {
      say: said(
        rng,
        [
          'The word "{word}" should appear at least {n} times.',
          'Use the word {word} at least {n} times.',
          'Mention "{word}" {n} times or more.',
          'In your response, {word} has to occur {n} or more times.',
        ],
        { word: keyword, n: frequency },
      ),
      kwargs: { relation: 'at least', keyword, frequency },
    }
  }),
  kind('keywords:forbidden_words', ['words'], (rng, request) => {
    const words = wordsFor(rng, request, between(rng, 1, 3), LIKELY_WORDS)
    return {
      say: said(
        rng,
        [
          'Do not use any of these words: {words}.',
          'Avoid the following keywords: {words}.',
          'Not a single time may you write: {words}.',
          'Your response must do without the keywords {words}.',
        ],
        { words: words.join(', ') },
      ),
      kwargs: { forbidden_words: words },
      without: words,
    }
  }),
  kind('keywords:letter_frequency', [], rng => {
    const few = rng.next() < 0.3
    const letter = rng.pick([...(few ? 'qzxjkvw' : 'aeioustnrl')])
    const n = few ? between(rng, 1, 3) : between(rng, 5, 15)
    return {
      say: said(
        rng,
        ['The letter {letter} should appear {how} {n} times.', 'Use the letter "{letter}" {how} {n} times.'],
        {
          letter,
          how: few ? 'less than' : 'at least',
          n,
        },
      ),
      kwargs: { let_relation: few ? 'less than' : 'at least', letter, let_frequency: n },
    }
  }),
  kind('detectable_format:number_bullet_lists', ['frame'], rng => {
    const n = between(rng, 2, 4)
    return {
      say: said(
        rng,
        [
          'Use exactly {n} bullet points, written like this:\n* This is a point.',
          'Your answer must contain exactly {n} bullets in markdown, such as:\n* First point\n* Second point',
          'Answer with exactly {n} bullet points. Begin each of them with "* ".',
        ],
        { n },
      ),
      kwargs: { num_bullets: n },
    }
  }),
  kind('detectable_format:number_highlighted_sections', [], rng => {
    const n = between(rng, 1, 3)
    return {
      say: said(
        rng,
        [
          'Set off at least {n} in markdown, like *a highlighted part*.',
          'At least {n} of it should stand between asterisks, like *this part*.',
          'Highlight {n} or more in your answer with markdown, i.e. *highlighted text*.',
          'Use *asterisks* to highlight at least {n} of your response.',
        ],
        { n: plural(n, 'section') },
      ),
      kwargs: { num_highlights: n },
    }
  }),
  // With a case: its mark, such as `Part 1`, is looked for in its own, whatever the case of all else has to be.
  kind('detectable_format:multiple_sections', ['frame', 'length', 'case'], rng => {
    const n = between(rng, 2, 3)
    const splitter = rng.pick(['Section', 'SECTION', 'Part', 'Day'])
    return {
      say: said(
        rng,
        [
          'Divide your answer into {n} sections. Mark the beginning of each with {splitter} X, such as:\n{splitter} 1\n[content]\n{splitter} 2\n[content]',
          'It must have {n} sections; begin each one with {splitter} and its number, such as {splitter} 1.',
          'Your response must have {n} sections, each of which begins with {splitter} X, where X is its number.',
        ],
        { n, splitter },
      ),
      kwargs: { section_spliter: splitter, num_sections: n },
      fewest: 30,
    }
  }),
  kind('detectable_content:number_placeholders', [], rng => {
    const n = between(rng, 1, 4)
    return {
      say: said(
        rng,
        [
          'Include at least {n} in square brackets, such as [address].',
          'Make it a template with at least {n}, written in square brackets like [name].',
          'Use {n} or more, each in square brackets, for instance [date].',
          'The answer should leave at least {n} to be filled in, set in square brackets like [place].',
        ],
        { n: plural(n, 'placeholder') },
      ),
      kwargs: { num_placeholders: n },
    }
  }),
  kind('detectable_content:postscript', ['end'], rng => {
    const marker = rng.pick(['P.S.', 'P.P.S'])
    return {
      say: said(
        rng,
        [
          'Close with a postscript; let it open with {marker}',
          'Below your text put a postscript marked {marker}',
          'At the end of your response add a postscript that begins with {marker}',
          'Finish with a postscript, starting with {marker}',
        ],
        { marker },
      ),
      kwargs: { postscript_marker: marker },
    }
  }),
  kind('length_constraints:number_sentences', ['length'], rng => {
    const few = rng.next() < 0.6
    const n = few ? between(rng, 3, 6) : between(rng, 3, 5)
    return {
      say: said(
        rng,
        few
          ? [
              'Use less than {n} sentences.',
              'Your answer should have fewer than {n} sentences.',
              'The response must contain less than {n} sentences.',
            ]
          : [
              'Use at least {n} sentences.',
              'Answer in {n} sentences or more.',
              'Your response should contain at least {n} sentences.',
            ],
        { n },
      ),
      kwargs: { relation: few ? 'less than' : 'at least', num_sentences: n },
      ...(few ? { most: 12 * (n - 1) } : { fewest: 6 * n }),
    }
  }),
  kind('length_constraints:number_words', ['length'], (rng, { written = 0 }) => {
    const long = written >= LONG ? Math.floor(written / 10) : null
    const few = long === null && rng.next() < 0.5
    const n =
      10 *
      (few
        ? between(rng, 2, 8)
        : long === null
          ? between(rng, 3, 5)
          : between(rng, Math.ceil(long / 2), long))
    return {
      say: said(
        rng,
        few
          ? ['Answer with less than {n} words.', 'Keep it under {n} words.', 'Use fewer than {n} words.']
          : [
              'Answer with at least {n} words.',
              'Your response should have {n} or more words.',
              'The text must be at least {n} words long.',
            ],
        { n },
      ),
      kwargs: { relation: few ? 'less than' : 'at least', num_words: n },
      ...(few ? { most: n - 1 } : { fewest: n }),
    }
  }),
  kind('length_constraints:number_paragraphs', ['frame', 'length'], rng => {
    const n = between(rng, 2, 3)
    return {
      say: said(
        rng,
        [
          'Write exactly {n} paragraphs, separated with the markdown divider: ***',
          'There should be {n} paragraphs. Put *** between paragraphs.',
          'Your answer should consist of {n} paragraphs with the markdown divider *** between them.',
        ],
        { n },
      ),
      kwargs: { num_paragraphs: n },
      fewest: 30,
    }
  }),
  kind('length_constraints:nth_paragraph_first_word', ['frame', 'length', 'start'], (rng, request) => {
    const paragraphs = between(rng, 2, 3)
    const nth = between(rng, 1, paragraphs)
    const [word] = wordsFor(rng, request, 1)
    return {
      say: `Write ${paragraphs} paragraphs with an empty line between them. Let "${word}" be the first word of paragraph ${nth}.`,
      kwargs: { num_paragraphs: paragraphs, nth_paragraph: nth, first_word: word },
      fewest: 30,
    }
  }),
  kind('detectable_format:json_format', ['frame', 'start', 'end', 'marks', 'case'], rng => ({
    say: said(rng, [
      'Write the whole answer as JSON.',
      'Your entire output should be in JSON format.',
      'Answer in JSON; markdown ticks such as ``` are allowed.',
      'Format everything that you write as JSON.',
      'Give your whole response as one JSON object.',
    ]),
  })),
  kind('startend:end_checker', ['end'], rng => {
    const phrase = rng.pick(END_PHRASES)
    return {
      say: said(
        rng,
        [
          'End your answer with the exact phrase "{phrase}" and nothing after it.',
          'The very last words of your response should be: {phrase}',
          'Finish your response with this very phrase: "{phrase}" Nothing else may follow it.',
          'Your answer must end with "{phrase}"',
        ],
        { phrase },
      ),
      kwargs: { end_phrase: phrase },
    }
  }),
  kind('combination:two_responses', ['frame', 'length', 'start', 'end'], rng => ({
    say: said(rng, [
      'Give two different answers, separated by 6 asterisk symbols: ******.',
      'I want two different responses. Only put ****** between them.',
      'Write two responses that differ and separate them with six asterisks: ******',
    ]),
    fewest: 25,
  })),
  {
    ...kind('combination:repeat_prompt', ['start', 'frame', 'length'], (rng, { ask }) => ({
      say: said(rng, [
        'Begin by copying out the request above exactly as it stands, and answer it after that. Nothing may come before the copy.',
        'Before you answer, repeat the request exactly as it is, without this sentence and without anything before it.',
        'First repeat the request above word for word, then give your answer. Do not say anything before the repetition.',
      ]),
      kwargs: { prompt_to_repeat: ask },
    })),
    echoes: true,
  },
]
