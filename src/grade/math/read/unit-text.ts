/** @file Finds the units behind the numbers of an answer, LaTeX or plain, and marks them as `\unit{...}`. */

import { braceGroup } from './tokens.ts'
import { isPartOf, readUnit } from './units.ts'

const SPACE = /(?:\s|~|\\[,;:! ]|\\q?quad(?![a-zA-Z])|\{\})+/y
const TIMES = /\\(?:cdot|times)(?![a-zA-Z])|[·⋅∙×]|\*(?!\*)|-(?=\p{L})/uy
const ROMAN = /\\(?:text(?:rm|normal|it)?|mathrm|rm|mbox|hbox|operatorname|unit|si)\s*(?=\{)/y
const FRACTION = /\\[dt]?frac\s*(?=\{)/y
const NAMED = /\\(Omega|ohm|mu|degree|AA|celsius)(?![a-zA-Z])\s*/y
const POWER = /\s*(?:\^|\*\*)\s*(?:\{\s*)?\(?([-−–]?\d{1,2})\)?(?:\s*\})?|(?<=\p{L})([23])(?![\d.\p{L}])/uy
const DEGREE = /\s*(?:\^\s*)?(?:\{\s*(?:\\circ|°)\s*\}|\\circ(?![a-zA-Z])|°)/y
const LETTERS = /[\p{L}¢]+\.?/uy
/** `5 (\text{m})` */
const ROMAN_IN_BRACKET = /^\(\s?\\(?:text|mathrm)/
const BRACKET = /[/()]/y

const COMMANDS: Readonly<Record<string, string>> = {
  Omega: 'Ω',
  ohm: 'Ω',
  mu: 'μ',
  degree: '°',
  AA: 'Å',
  celsius: '°C',
}

/** Where letters that could be variables are a unit: at the end of a clause, before words or before another number. */
const CLAUSE_END = /^[\s~]*(?:$|[,;.)\]}?!]|\\[}\])]|\\text|\d|\(|\p{L}{2})/u
/** Letters that stand for a unit where they are written apart from their number. */
const LONE = /^[mgshlLKVANWJCFTHSGMBΩÅ]$/
/** Units of two small letters that are also written right behind their number; others are products of variables there. */
const GLUED = /^(?:[mck]m|[mk]g|ml|ms|ft|in|hr|lb|oz|yd|mi)$/
/** `5m/s` */
const BELOW = /^\/(?:s|h|hr|min|m|kg|L|mol|K)(?!\p{L})/u
/** `2h30min` */
const CLOCK = /^\s*\d+\s*(?:min|m|s)/
const isGluedUnit = (word: string, ahead: string): boolean =>
  word.length === 1
    ? (/[hm]/.test(word) && CLOCK.test(ahead)) || BELOW.test(ahead)
    : GLUED.test(word) || !/^[a-z]{2}$/.test(word)
/** `k\Omega` */
const PREFIXED = /^\\(?:Omega|ohm)/

/** Degrees of an angle: a mark behind a number, also inside a formula. */
const DEGREES = /^\s*(?:°|deg(?:rees?)?)\s*$/

const MAX_CHARACTERS = 80

interface Found {
  unit: string
  end: number
}

/** Reads on behind a number, and keeps the longest text that is a unit. */
class UnitScanner {
  private at: number
  private unit = ''
  private best: Found | null = null
  /** Whether a letter was taken that could be a variable. */
  private doubtful = false

  constructor(
    private readonly source: string,
    start: number,
    /** What letters outside `\text` are. */
    private readonly letters: 'units' | 'variables',
    private readonly roman = false,
  ) {
    this.at = start
  }

  longest(): Found | null {
    while (this.unit.length < MAX_CHARACTERS && this.piece()) {
      const ends = !this.doubtful || CLAUSE_END.test(this.source.slice(this.at, this.at + 9))
      if (ends && !DEGREES.test(this.unit) && readUnit(this.unit))
        this.best = { unit: this.unit.trim(), end: this.at }
    }
    return this.best
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.source)
    if (match) this.at = pattern.lastIndex
    return match
  }

  private add(text: string): true {
    this.unit += text
    return true
  }

  private piece(): boolean {
    const power = this.unit.trim() !== '' && this.take(POWER)
    if (power) return this.add(`^${(power[1] ?? power[2]).replace(/[−–]/, '-')}`)
    if (this.take(SPACE)) return this.add(' ')
    const degree = this.take(DEGREE)
    if (degree) return this.add('°')
    if (this.take(ROMAN)) return this.group(true)
    if (this.take(FRACTION))
      return this.add('(') && this.group() && this.add(')/(') && this.group() && this.add(')')
    const named = this.take(NAMED)
    if (named) return this.add(COMMANDS[named[1]])
    if (this.unit.trim() !== '' && this.take(TIMES)) return this.add(' ')
    const opens =
      this.roman || this.unit.trim() !== '' || ROMAN_IN_BRACKET.test(this.source.slice(this.at, this.at + 12))
    const bracket = opens && this.take(BRACKET)
    return bracket ? this.add(bracket[0]) : this.word()
  }

  private group(roman = this.roman): boolean {
    const group = braceGroup(this.source.slice(0, this.at + MAX_CHARACTERS), this.at)
    if (!group) return false
    this.at = group[1]
    const inside = new UnitScanner(group[0], 0, roman ? 'units' : this.letters, roman)
    while (inside.unit.length < MAX_CHARACTERS && inside.piece());
    this.doubtful ||= inside.doubtful
    return inside.at === inside.source.length && this.add(inside.unit)
  }

  private word(): boolean {
    const glued = /[\d)}]/.test(this.source[this.at - 1] ?? '') && this.unit === ''
    const word = this.take(LETTERS)?.[0].replace('.', '')
    if (word === undefined) return false
    if (this.roman) return this.add(word)
    const ahead = this.source.slice(this.at, this.at + 9)
    const isUnit = glued
      ? isGluedUnit(word, ahead)
      : word.length > 1 || LONE.test(word) || PREFIXED.test(ahead)
    if (this.letters === 'variables' || !isUnit || (word === 'in' && /^\s+\p{L}/u.test(ahead))) return false
    this.doubtful ||= word.length <= 2
    return this.add(word)
  }
}

/** What a number can end with, and what a unit can begin with. */
const PLACES = /(?<=[\d)}\]!]|\d\.|\\pi|π)(?=[\s~]*(?:\\[a-zA-Z,;:! ]|[\p{L}¢°^{(/]))/gu

/**
 * The text with every unit that is known as `\unit{...}` in one spelling. Words that are no unit stay as they are.
 * @param letters what letters outside `\text` are: `5 V` has five volts, or five times a variable
 */
export const withUnits = (source: string, letters: 'units' | 'variables'): string => {
  let result = ''
  let done = 0
  for (const { index } of source.matchAll(PLACES)) {
    if (index < done) continue
    const found = new UnitScanner(source, index, letters).longest()
    if (!found) continue
    result += `${source.slice(done, index)}\\unit{${found.unit}}`
    done = found.end
  }
  return result + source.slice(done)
}

const SCALE = /[\s~]+(?:hundred|thousand|million|billion|trillion|dozen)s?(?![\p{L}])/uy
const NEXT_PART = /\s*(?:,\s*)?(?:and\s+)?\d+(?:\.\d+)?(?=\s?\p{L})/uy

/** Where the quantity ends whose number ends at `from`: behind `million`, its unit and the smaller parts of `2 hours and 30 minutes`. */
export const quantityEnd = (text: string, from: number): number => {
  const skip = (pattern: RegExp, at: number): number => {
    pattern.lastIndex = at
    return pattern.test(text) ? pattern.lastIndex : at
  }
  const scaled = skip(SCALE, from)
  const first = new UnitScanner(text, scaled, 'units').longest()
  if (!first) return scaled
  let [end, unit] = [first.end, readUnit(first.unit)!]
  for (;;) {
    const number = skip(NEXT_PART, end)
    const part = number > end ? new UnitScanner(text, number, 'units').longest() : null
    const smaller = part && readUnit(part.unit)!
    if (!smaller || !isPartOf(smaller, unit)) return end
    ;[end, unit] = [part.end, smaller]
  }
}
