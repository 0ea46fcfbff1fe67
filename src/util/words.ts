/** @file Lists of words and of phrases, written as text. */

/** The words of a text on one line, as a type. */
type WordsOf<Text extends string, Read = never> = Text extends `${infer First} ${infer Rest}`
  ? WordsOf<Rest, Read | First>
  : Read | Text

/** The words of a text, in order; of a text on one line each is known to the type. */
export const wordsIn = <const Text extends string>(text: Text): readonly WordsOf<Text>[] =>
  text.trim().split(/\s+/) as WordsOf<Text>[]

/** The words of a text as a set. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(wordsIn(text))

/** Phrases that are parted by `|` or stand on lines of their own. */
export const phrasesIn = (text: string): readonly string[] => text.trim().split(/\s*(?:\||\n)\s*/)

/** Rows of phrases, one a line. */
export const phraseRows = (text: string, between = ' | '): readonly string[][] =>
  text
    .trim()
    .split('\n')
    .map(line => line.trim().split(between))
