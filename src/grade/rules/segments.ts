/**
 * @file Words and sentences by the rules of Unicode, in linear time. `Intl.Segmenter` copies its whole input for every
 * segment that it gives, so it is only ever handed a window of the text.
 */

const wordSegmenter = new Intl.Segmenter('und', { granularity: 'word' })
const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' })

/** Characters that a window has at first. */
const SENTENCE_WINDOW = 1024
const WORD_WINDOW = 256

/** A run that no window can be cut in is cut hard after so many characters: no word of any language is as long. */
const LONGEST_RUN = 1024

/**
 * Ends of the first sentences in a window, as offsets in it. Whether a sentence ends somewhere may depend on what follows,
 * but at most up to the next mark that could end one: of a window that is not the `rest` of the text, the last end is unsure.
 */
const endsIn = (window: string, rest: boolean, most: number): number[] => {
  const ends: number[] = []
  const wanted = rest ? most : most + 1
  for (const { index } of sentenceSegmenter.segment(window)) {
    if (index > 0) ends.push(index)
    if (ends.length === wanted) break
  }
  if (!rest) return ends.slice(0, -1)
  return ends.length === wanted ? ends : [...ends, window.length]
}

/** Sentences of a text with the blanks after them; joined they are the text. */
export const sentenceSegments = (text: string): string[] => {
  const segments: string[] = []
  let start = 0
  let size = SENTENCE_WINDOW
  while (start < text.length) {
    // In a window that had to grow one sentence is enough: each of many would copy all of it.
    const most = size === SENTENCE_WINDOW ? Number.POSITIVE_INFINITY : 1
    const ends = endsIn(text.slice(start, start + size), start + size >= text.length, most)
    const first = start
    for (const end of ends) {
      segments.push(text.slice(start, first + end))
      start = first + end
    }
    size = ends.length === 0 ? size * 2 : SENTENCE_WINDOW
  }
  return segments
}

const SAFE_END = /[\s。、！？]/u
const JOINS_ON = /[\p{M}\p{Cf}]/u

/** Where a window may end so that no word is cut; -1 where it may not in this range. */
const safeEnd = (text: string, from: number, to: number): number => {
  for (let end = to; end > from; end--)
    if (SAFE_END.test(text[end - 1]) && !JOINS_ON.test(String.fromCodePoint(text.codePointAt(end)!)))
      return end
  return -1
}

/** Words of a text in scripts that may put no spaces between them. */
export const wordSegments = (text: string): string[] => {
  const words: string[] = []
  const add = (segments: Iterable<Intl.SegmentData>) => {
    for (const { segment, isWordLike } of segments) if (isWordLike) words.push(segment)
  }
  let start = 0
  let size = WORD_WINDOW
  while (start + size < text.length) {
    const end = safeEnd(text, start, start + size)
    if (end > 0) {
      add(wordSegmenter.segment(text.slice(start, end)))
      start = end
      size = WORD_WINDOW
    } else if (size < LONGEST_RUN) size *= 2
    else {
      const segments = [...wordSegmenter.segment(text.slice(start, start + size))]
      const kept = segments.length > 2 ? segments.slice(0, -2) : segments
      add(kept)
      const last = kept[kept.length - 1]
      start += last.index + last.segment.length
      size = WORD_WINDOW
    }
  }
  add(wordSegmenter.segment(text.slice(start)))
  return words
}
