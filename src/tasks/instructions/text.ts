/** @file Sentences and words of an answer, roughly: what is made of them is checked by the rules. */

/** After a mark that ends a sentence and not a number, or at the end of a line. */
const SENTENCE_END = /(?<=[^\d\s][.!?]["')]?)\s+|\n+/

export const roughSentences = (text: string): string[] =>
  text.split(SENTENCE_END).filter(part => part.trim() !== '')

export const wordCount = (text: string): number => text.trim().split(/\s+/).length

export const onOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Sentences with what stands between one and the next, in turn. */
const withGaps = (text: string): string[] => text.split(new RegExp(`(${SENTENCE_END.source})`))

export const firstSentences = (answer: string, count: number): string =>
  withGaps(answer)
    .slice(0, 2 * count - 1)
    .join('')
    .trim()

/** Without the last sentence, which an answer that was cut off has not ended. */
export const withoutLastSentence = (answer: string): string => withGaps(answer).slice(0, -2).join('').trim()

/** The whole sentences that have at most so many words; none if the first has more. */
export const withinWords = (answer: string, most: number): string => {
  let text = ''
  for (const part of withGaps(answer)) {
    if (part.trim() !== '' && wordCount(`${text}${part}`) > most) break
    text += part
  }
  return text.trim()
}

export const withoutSentencesOf = (answer: string, words: readonly string[]): string => {
  const forbidden = new RegExp(`\\b(?:${words.join('|')})\\b`, 'i')
  const parts = withGaps(answer)
  return parts
    .filter((_, i) => !forbidden.test(parts[i - (i % 2)]))
    .join('')
    .trim()
}

/** Without the marks of lists and headings, and without asterisks. */
const unmarked = (text: string): string =>
  text.replace(/^[ \t]*(?:[-*•]|\d+[.)]|#+)[ \t]+/gm, '').replaceAll('*', '')

/** Sentences in as many parts, as even as can be; fewer where there are fewer sentences. */
export const evenParts = (answer: string, count: number): string[] => {
  const sentences = roughSentences(unmarked(answer)).map(onOneLine)
  const at = (i: number) => Math.round((i * sentences.length) / count)
  return Array.from({ length: count }, (_, i) => sentences.slice(at(i), at(i + 1)).join(' ')).filter(Boolean)
}
