/** @file Verdicts that stand literally in an answer, whatever they stand in: what no reading may contradict. */

/** A verdict as text: `true`, `0.5`, or, where it is none that a scale knows, what stands there. */
export type VerdictText = string

/** What a value is said as, so that values from JSON and from raw text can be compared. */
export const saidAs = (value: unknown): VerdictText =>
  typeof value === 'string' ? JSON.stringify(value) : String(value)

/** The same key for a careless reader: `Criteria Met`, `criteria-met` in full-width letters. */
export const plainKey = (key: string): string =>
  key
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')

/** From the key to the value: closing quotes, emphasis, white space, a colon or what is written for one. */
const GAP = '[\\\\"\'`*”’\\s]*[:=]\\s*\\\\*'
const VALUE = '(["\'`“]?)(true|false|yes|no|null|none|[-+]?\\.?\\d(?:[\\d.]*\\d)?(?:e[-+]?\\d+)?)(?![\\w])'
const AFTER_KEY = new RegExp(GAP + VALUE, 'iy')

/** The key as such, with a value to come that no scale knows (`"not met"`, `fal` of an answer that was cut off), or none. */
const UNREAD = /[\\"'`*”’\s]*(?:[:=}]|$)/y
const UNREAD_SAID: VerdictText = '?'

interface Patterns {
  exact: RegExp
  careless: RegExp
}

const KNOWN = new Map<string, Patterns>()

const patternsOf = (key: string): Patterns => {
  const known = KNOWN.get(key)
  if (known) return known
  const parts = key.split('_')
  const made = {
    exact: new RegExp(parts.join('\\\\*_'), 'g'),
    careless: new RegExp(parts.join('(?:\\\\*_|[\\s-]?)'), 'gi'),
  }
  KNOWN.set(key, made)
  return made
}

/** Values after every occurrence of the key, in order. Occurrences are looked at one by one: none can hide another. */
const valuesAfter = (text: string, key: RegExp): VerdictText[] => {
  const found: VerdictText[] = []
  for (const { index, 0: spelt } of text.matchAll(key)) {
    AFTER_KEY.lastIndex = index + spelt.length
    const match = AFTER_KEY.exec(text)
    if (match !== null) found.push(valueText(match, AFTER_KEY.lastIndex === text.length))
    else if (isUnread(text, spelt, index + spelt.length)) found.push(UNREAD_SAID)
  }
  return found
}

/** Words of prose that look like the key (`the criteria met: ...`) are none. */
const isUnread = (text: string, spelt: string, end: number): boolean => {
  UNREAD.lastIndex = end
  return (spelt.includes('_') || /["'`]/.test(text[end] ?? '')) && UNREAD.test(text)
}

const valueText = ([, quote, word]: RegExpExecArray, last: boolean): VerdictText => {
  if (quote !== '') return `"${word.toLowerCase()}"`
  // More digits may have been to come.
  return last && !Number.isNaN(Number(word)) ? `${word}...` : wordText(word)
}

const wordText = (word: string): VerdictText => {
  const number = Number(word)
  return Number.isNaN(number) ? word.toLowerCase() : String(number)
}

// One backslash only: a pattern that took a run of them would try it again from each of its places.
const ESCAPE = /\\u([0-9a-f]{4})/gi
const NOT_ASCII = /[^\0-\x7f]/

/** As a reader sees it that undoes escapes and folds look-alikes; the text itself where there is nothing to undo. */
const asRead = (text: string): string => {
  const decoded = text.includes('\\u')
    ? text.replace(ESCAPE, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    : text
  return NOT_ASCII.test(decoded) ? decoded.normalize('NFKC') : decoded
}

export interface Literals {
  /** Values after the key as it was asked for. */
  exact: VerdictText[]
  /** The same with the key in any spelling, and with escapes undone. */
  read: VerdictText[]
}

/** Every verdict of this key that stands in a text, inside strings and outside. Time grows with the text alone. */
export const literalsIn = (text: string, key: string): Literals => {
  const { exact, careless } = patternsOf(key)
  return { exact: valuesAfter(text, exact), read: valuesAfter(asRead(text), careless) }
}

const BARE_LIST = /\[([^[\]{}":]{1,2000})\]/g
const BARE_VALUE = /^(?:true|false|-?\d+(?:\.\d+)?)$/

/** Lists of nothing but values, as of a judge that answers `{"judgement": [true, false]}`. */
export const bareListsIn = (text: string): VerdictText[][] =>
  [...text.matchAll(BARE_LIST)].flatMap(([, inside]) => {
    const values = inside.split(',').map(value => value.trim().toLowerCase())
    return values.every(value => BARE_VALUE.test(value)) ? [values.map(wordText)] : []
  })
