/** @file Characters that are not what they look like: invisible ones are removed, look-alikes are read as ASCII. */

/** No character above 7 bits. */
export const isAscii = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false
  return true
}

// Control and format characters (zero-width, bidirectional, tag characters, byte-order mark), lone surrogates, fillers
// that are drawn as nothing, supplementary variation selectors. Joiners and Arabic number signs have a use.
const HIDDEN =
  /(?!\t|\n|\u200c|\u200d|[\u0600-\u0605\u06dd])[\p{Cc}\p{Cf}\p{Cs}]|[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0]|[\u{e0000}-\u{e0fff}]/gu

// Joiners shape Persian, Indic scripts and emoji; beside ASCII they only hide something.
// Whole runs, whose ends are looked at afterwards: a pattern with its ends in it tries a long run from each of its places.
const JOINERS = /[\u200c\u200d]+/g

const withoutStray = (joiners: string, at: number, text: string): string => {
  const end = at + joiners.length
  const isStray =
    at === 0 || end === text.length || text.charCodeAt(at - 1) <= 0x7f || text.charCodeAt(end) <= 0x7f
  return isStray ? '' : joiners
}

/** Removes characters without a visible form, and makes every line break a newline. */
export const stripHidden = (text: string): string => {
  const lines = text.replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
  return lines.replace(HIDDEN, '').replace(JOINERS, withoutStray)
}

/** Look-alikes by the ASCII character that they pass for. Full-width forms and mathematical letters are computed. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '<': '‹〈⟨〈❮❰ᐸ˂﹤≺⧼⋖◁',
  '>': '›〉⟩〉❯❱ᐳ˃﹥≻⧽⋗▷',
  '|': '∣ǀ│❘⏐┃︱',
  '/': '⁄∕⧸╱',
  '[': '【〔⟦',
  ']': '】〕⟧',
  '#': '﹟♯',
  ':': '﹕∶ː։׃',
  '`': 'ˋ‵',
  '~': '∼〜˜',
  '&': '﹠',
  _: '▁﹍﹎﹏＿',
  a: 'аɑα',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еҽ',
  h: 'һ',
  i: 'іıɩι',
  j: 'јϳ',
  k: 'к',
  l: 'ӏ',
  m: 'м',
  n: 'ո',
  o: 'оοօ',
  p: 'рρ',
  q: 'ԛ',
  r: 'г',
  s: 'ѕ',
  t: 'т',
  u: 'υս',
  v: 'ν',
  w: 'ԝ',
  x: 'хχ',
  y: 'уγ',
  A: 'АΑ',
  B: 'ВΒ',
  C: 'СϹ',
  D: 'Ꭰ',
  E: 'ЕΕ',
  H: 'НΗ',
  I: 'ІΙӀ',
  J: 'Ј',
  K: 'КΚ',
  M: 'МΜ',
  N: 'Ν',
  O: 'ОΟ',
  P: 'РΡ',
  Q: 'Ԛ',
  R: 'Ꭱ',
  S: 'Ѕ',
  T: 'ТΤ',
  U: 'Ս',
  X: 'ХΧ',
  Y: 'ΥҮ',
}

const ASCII_OF = new Map(
  Object.entries(LOOKALIKES).flatMap(([ascii, others]) =>
    Array.from(others, other => [other.codePointAt(0) as number, ascii] as const),
  ),
)

/** A text as it looks, and where each of its code units stands in the text that it was made from. */
export interface Folded {
  text: string
  /** One more than `text` is long: the last is the original's length. */
  offsets: Uint32Array
}

/** Reads look-alikes as the ASCII characters that they pass for, and skips joiners, variation selectors and accents. */
export const foldLookalikes = (text: string): Folded => {
  const units: string[] = []
  const offsets = new Uint32Array(text.length + 1)
  let at = 0
  for (const character of text) {
    const code = character.codePointAt(0) as number
    if (code <= 0x7f || !isSkipped(code)) {
      offsets[units.length] = at
      units.push(code <= 0x7f ? character : asciiOf(code, character))
    }
    at += character.length
  }
  offsets[units.length] = text.length
  return { text: units.join(''), offsets: offsets.subarray(0, units.length + 1) }
}

const isSkipped = (code: number): boolean =>
  (code >= 0x200c && code <= 0x200d) || (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0x300 && code <= 0x36f)

/** One code unit, so that offsets hold: what is neither ASCII nor a look-alike becomes a placeholder letter or space. */
const asciiOf = (code: number, character: string): string => {
  if (code >= 0xff01 && code <= 0xff5e) return String.fromCharCode(code - 0xfee0)
  if (code >= 0x1d400 && code <= 0x1d7ff) return character.normalize('NFKC').charAt(0)
  if (code === 0x3000 || code === 0xa0 || (code >= 0x2000 && code <= 0x200a)) return ' '
  return ASCII_OF.get(code) ?? '\u00b7'
}
