/** @file Instructions that are a task with one form of answer (IFBench, group `custom`). */

import { parseCsv } from './csv.ts'
import { instruction } from './definition.ts'
import { splitSentences } from './sentences.ts'
import { splitBlanks, strip, toAscii, trimMarks, withoutPunctuation } from './text.ts'

const MULTIPLES = '14 21 28 35 42 49'

/** European capitals north of 45 degrees, from north to south. */
const CAPITALS =
  `Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin Amsterdam
  Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau Bern Ljubljana Zagreb`.split(
    /\s+/,
  )

const QUESTION = /Question \p{Nd}+[.|):;]?/u
const OPTION = /^[A-Ea-e][.|)]\s*[\p{L}\p{N}_]/u
const QUESTIONS = 4
const OPTIONS = 5

/** Number of options, and length of the text before the first one. */
const measureQuestion = (question: string) => {
  const lines = question.split('\n').map(strip)
  const options = lines.filter(line => OPTION.test(line)).length
  const first = lines.findIndex(line => OPTION.test(line))
  return { options, length: strip(lines.slice(0, Math.max(first, 0)).join(' ')).length }
}

/** Four questions from the first character on, five options each, each question longer than the one before. */
const isQuiz = (response: string): boolean => {
  if (!response.startsWith('Question')) return false
  const questions = response.split(QUESTION).map(strip).filter(Boolean).map(measureQuestion)
  if (questions.length !== QUESTIONS || questions.some(question => question.options !== OPTIONS)) return false
  return questions.slice(1).every((question, index) => question.length > questions[index].length)
}

/** Fewest lines from Zimbabwe on that pass for the countries of Africa. */
const COUNTRIES = 52

const isDescending = (lines: readonly string[]): boolean =>
  lines.slice(1).every((line, index) => line <= lines[index])

/** From the first line with Zimbabwe to the end: enough lines, in descending order. */
const listsAfricaBackwards = (response: string): boolean => {
  const lines = response
    .split('\n')
    .map(line => trimMarks(line))
    .filter(line => line !== '')
  const start = lines.findIndex(line => line.includes('Zimbabwe'))
  if (start < 0 || lines.length - start < COUNTRIES) return false
  return isDescending(lines.slice(start).map(toAscii))
}

const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** A date `YYYY-MM-DD` in the years of Napoleon's life. */
const isNapoleonicDate = (text: string): boolean => {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(strip(text))
  if (!parts) return false
  const [year, month, day] = parts.slice(1).map(Number)
  return year >= 1769 && year <= 1821 && day >= 1 && day <= (DAYS_OF_MONTH[month - 1] ?? 0)
}

/** A first line of these column names, quoted or not. */
const hasHeader = (response: string, names: readonly string[], separator: string): boolean => {
  const columns = names.map(name => `(?:${name}|"${name}")`).join(separator)
  return new RegExp(`^${columns}$`).test(strip(response.split('\n')[0]))
}

/** A quoted field with a character that is no letter, digit, underscore or blank. */
const hasQuotedSpecial = (field: string): boolean => {
  const [line] = field.split('\n')
  return line.startsWith('"') && /[^\p{L}\p{N}_\s]/u.test(line.slice(1, Math.max(1, line.lastIndexOf('"'))))
}

export const taskInstructions = [
  /** `custom:multiples`: the numbers are the multiples of 7 between 10 and 50. */
  instruction(
    'custom:multiples',
    {},
    response => (response.match(/\p{Nd}+/gu) ?? []).join(' ') === MULTIPLES,
  ),

  /** `custom:mcq_count_length`: four questions of five options that get longer, no other text before them. */
  instruction('custom:mcq_count_length', {}, isQuiz),

  /** `custom:reverse_newline`: the countries of Africa from Z to A, one a line. */
  instruction('custom:reverse_newline', {}, listsAfricaBackwards),

  /** `custom:word_reverse`: read word by word from the end, it speaks of the bald eagle. */
  instruction('custom:word_reverse', {}, response =>
    splitBlanks(withoutPunctuation(response.toLowerCase())).reverse().join(' ').includes('bald eagle'),
  ),

  /** `custom:character_reverse`: has the bald eagle spelt from the end. */
  instruction('custom:character_reverse', {}, response => response.toLowerCase().includes('elgae dlab')),

  /** `custom:sentence_alphabet`: 26 sentences that start with A, B, C ... */
  instruction('custom:sentence_alphabet', {}, response => {
    const initials = splitSentences(response).map(sentence => sentence[0].toLowerCase())
    return initials.join('') === 'abcdefghijklmnopqrstuvwxyz'
  }),

  /** `custom:european_capitals_sort`: the northern capitals of Europe from north to south, divided by commas. */
  instruction('custom:european_capitals_sort', {}, response => {
    const capitals = toAscii(response).split(',').map(strip).filter(Boolean)
    return capitals.join() === CAPITALS.join()
  }),

  /** `custom:csv_city`: a header and 7 rows of 5 columns. */
  instruction('custom:csv_city', {}, response => {
    const [header, ...rows] = parseCsv(response, ',')
    const names = header.map(field => field.replace(/^"(.*)"$/, '$1'))
    return (
      names.join() === 'ID,Country,City,Year,Count' &&
      rows.length === 7 &&
      rows.every(row => row.length === 5)
    )
  }),

  /** `custom:csv_special_character`: a header, 14 rows of 5 columns, a quoted field with a special character. */
  instruction('custom:csv_special_character', {}, response => {
    if (!hasHeader(response, ['ProductID', 'Category', 'Brand', 'Price', 'Stock'], ',[ \\t]*')) return false
    const rows = parseCsv(response, ',').slice(1)
    const special = rows.findIndex(row => row.some(hasQuotedSpecial))
    // As in the public code, rows are counted in full but measured up to the one with the special character.
    return rows.length === 14 && special >= 0 && rows.slice(0, special + 1).every(row => row.length === 5)
  }),

  /** `custom:csv_quotes`: tabs between columns, a header, 3 rows of 5 columns, every field in double quotes. */
  instruction('custom:csv_quotes', {}, response => {
    if (!hasHeader(response, ['StudentID', 'Subject', 'Grade', 'Semester', 'Score'], '\\t *')) return false
    const rows = parseCsv(response, '\t')
    const isQuoted = (field: string) => strip(field).startsWith('"') && strip(field).endsWith('"')
    return rows.length === 4 && rows.every(row => row.length === 5 && row.every(isQuoted))
  }),

  /** `custom:date_format_list`: dates `YYYY-MM-DD` of Napoleon's lifetime, divided by commas. */
  instruction('custom:date_format_list', {}, response => strip(response).split(',').every(isNapoleonicDate)),
]
