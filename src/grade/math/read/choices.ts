/** @file The letter of the option that a text chooses, beside letters that it only mentions. */

/** Without marks around a letter, which say nothing, and without ranges (`A to D`), which choose nothing. */
const plain = (text: string): string =>
  text
    .replace(/\\(?:text\w*|mathrm|mathbf|f?box(?:ed)?)\s*\{([^{}]*)\}/g, '$1')
    .replace(/[*$`_"“”]|\\[()[\]]|<\/?answer>/g, '')
    .replace(/\b[A-J]\s?(?:[-–]|through|thru|to)\s?[A-J]\b/g, '')

const ANSWER =
  'answer|solution|réponse|respuesta|resposta|risposta|antwort|wynik|odpowied[źz]|cevap|ответ|答案|答え|정답|उत्तर'
const IS =
  "(?:\\s{0,9}(?:is|are|ist|est|es|è|é|seems? to be|appears to be|would be|should be|must be|has to be|to be)(?![\\p{L}’'])|\\s{0,9}[:：=是为]|は)+"
const SURELY =
  '(?:\\s{0,9}(?:therefore|thus|then|clearly|definitely|indeed|simply|just|probably|most likely|for sure),?)*'
const NAMED = '(?:\\s{0,9}(?:the\\s+)?(?:option|choice|letter|answer))?'
const LETTER = "[\\s:]{0,9}[([{]?([A-Ja-j])(?![\\p{L}\\d’']|\\.\\d)"

/** Ways to say which option is right; the letter is what was captured. */
const CHOSEN = [
  `(?:${ANSWER})(?:${IS})?${SURELY}${NAMED}${LETTER}`,
  `(?:correct|right|best)\\s+(?:option|choice|letter|one)${IS}${SURELY}${NAMED}${LETTER}`,
  `\\b(?:choose|chose|pick|select|go(?:ing)? with|opt for|it['’]s|it is|(?:it|this|that) (?:must|has to|should) be)${SURELY}${NAMED}${LETTER}`,
  `${NAMED}${LETTER}[)\\]}]?\\s+(?:is|seems|must be|would be)\\s+(?:therefore |thus |clearly |the |definitely )*(?:correct|right|best|better|true|answer)`,
  `${LETTER}[)\\]}]?\\s+(?:remains|is left)\\b`,
  `\\b(?:so|hence|thus|therefore|leav(?:es?|ing)),?${LETTER}(?=[)\\]}.!\\s]*(?:$|\\n))`,
].map(pattern => new RegExp(pattern, 'giu'))

/** The option that begins a text of its own: `B`, `(B)`, `B. 12`, `b)`, `Option B`. */
const FIRST =
  /^\W*(?:(?:option|choice|letter)\s+)?[([{]?([A-Ja-j])(?:[)\]}]|[.:,。](?!\d)|['’]?(?=\s*(?:\n|$)))/iu

/** Not behind a number, where a letter is a unit. */
const MENTIONED = /(?<![\p{L}\d’'\\°]|\d\s)[([{]?([A-J])(?![\p{L}\d’']|\s*[=<>+*/^])[)\]}]?/gu

/** Behind an `A` or `I` that is a word: another word that goes on. */
const GOES_ON =
  /^\s+(?!(?:because|since|as|and|or|nor|but|for|is|was|seems|must|would|with|due|by|not)\b)\p{Ll}/u
const DENIED =
  /(?:\bdoubt(?:s|ed)?(?:\s+that)?|\b(?:false|wrong|incorrect|untrue|unlikely)\s+that|\bnot|n['’]t|\bnever|\bneither|\bnor|rather than|instead of|\bexcept|eliminate[sd]?|rule[sd]? out)\s+(?:(?!but\b)\p{L}+\s+){0,4}[([{]?$/iu
const REFUTED =
  /^[)\]}]?\??\s*(?:(?:is|was|are|looks?|seems?|can(?:not)?|must|be)\s+|,?\s*(?:but|which|and)\s+(?:it\s+)?(?:is|was)\s+)*(?:wrong|incorrect|false|no[,.!]|not|n['’]t|tempting|a distractor|all (?:wrong|incorrect|false)|too (?:small|large|big)|eliminated|ruled out|fails?)/iu
/** `C would be right if ...` */
const UNREAL = /^[)\]}]?\s*would\s[^.;\n]*\b(?:if|had|were)\b/iu
const UNREAL_BEFORE = /\b(?:if|had)\s[^.;\n]*,\s(?:then\s)?(?:option\s|choice\s)?[([{]?$/iu
/** `A: no. B: yes.` goes through the options. */
const LISTS = /^\W*A[).:]\s[\s\S]{1,300}?\s\(?B[).:]\s/u
const OTHERS =
  /^[)\]}]?\s*(?:,|and|or|&|\/)\s*(?:option\s+|choice\s+)?[([{]?(?:[A-HJ](?![\p{L}\d’'])|I(?!['’\p{L}\d]|\s+\p{Ll}))/u

interface Mention {
  at: number
  letter: string
  isUpper: boolean
  before: string
  behind: string
}

const mentionsOf = (text: string, pattern: RegExp): Mention[] =>
  [...text.matchAll(pattern)].map(match => {
    const place = match.index + match[0].lastIndexOf(match[1])
    return {
      at: place,
      letter: match[1].toUpperCase(),
      isUpper: /[A-J]/.test(match[1]),
      before: text.slice(Math.max(0, place - 40), place),
      behind: text.slice(place + 1, place + 60),
    }
  })

/** A small letter is an option only where nothing can go on behind it: `d.`, not `a number`. */
const isLetter = ({ letter, isUpper, behind }: Mention): boolean =>
  isUpper
    ? !(/[AI]/.test(letter) && GOES_ON.test(behind))
    : !GOES_ON.test(behind) && !/^\s+\p{Lu}/u.test(behind)

const isUnreal = ({ before, behind }: Mention): boolean =>
  UNREAL.test(behind) || (UNREAL_BEFORE.test(before) && /^[)\]}]?\s*would\b/.test(behind))

const stands = (mention: Mention): boolean =>
  isLetter(mention) && !DENIED.test(mention.before) && !REFUTED.test(mention.behind) && !isUnreal(mention)

/**
 * The letter of the option that a text chooses, in upper case: the last that it calls the answer, else the one that it begins
 * with, else the only one that it mentions and does not refute. Null for none, and for several at once.
 */
export const choiceIn = (text: string): string | null => {
  const words = plain(text)
  const chosen = CHOSEN.flatMap(pattern => mentionsOf(words, pattern)).filter(stands)
  const last = chosen.sort((a, b) => a.at - b.at).at(-1)
  if (last) return OTHERS.test(last.behind) ? null : last.letter
  const first = FIRST.exec(words)
  if (first && LISTS.test(words)) return null
  if (first) return OTHERS.test(words.slice(first[0].length - 1)) ? null : first[1].toUpperCase()
  const letters = new Set(
    mentionsOf(words, MENTIONED)
      .filter(stands)
      .map(({ letter }) => letter),
  )
  return letters.size === 1 ? [...letters][0] : null
}
