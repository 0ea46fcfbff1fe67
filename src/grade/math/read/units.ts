/** @file Units behind a number: what they are in base units, and what two of them have to do with each other. */

import { phrasesIn } from '../../../util/words.ts'
import {
  divideRationals,
  multiplyRationals,
  ONE,
  parseDecimal,
  powInteger,
  type Rational,
} from '../value/rational.ts'
import { table } from './vocabulary.ts'

/** A unit as a multiple of a product of powers of base units. `π` counts as a base unit, so that factors stay rational. */
export interface Unit {
  readonly factor: Rational
  /** Exponents by the name of the base unit; none of them is 0. */
  readonly bases: Readonly<Record<string, number>>
  /** What is added to a temperature before the factor. */
  readonly offset?: Rational
}

/**
 * A unit a line: symbols, written just so, `|` names, in any case and number, `=` what it is, `@` its offset; a base unit
 * without `=`. Behind a `*` it takes the prefixes of SI. A year is one of 365.2425 days (Gregorian mean), a month its twelfth;
 * a millimetre of mercury is a torr (they differ by 1.4e-7);
 * a ton, of which there are three, is a base unit, and so are units that compare with no other.
 * Source: BIPM, SI Brochure, 9th edition (2019), tables 2 to 8; NIST Special Publication 811 (2008), appendix B.8, exact factors.
 */
const DEFINITIONS = `
* m | meter metre
* g | gram gramme
* s | second sec
* A | ampere amp
* K | kelvin
* mol | mole
* cd | candela
* rad | radian
* bit | bit
sr | steradian
rev | revolution rotation turn
dB | decibel
ppm
ppb
ton | ton
$ USD | dollar buck
€ EUR | euro
£ GBP
¥ JPY | yen
₹ INR Rs | rupee
¢ | cent penny = $/100
° deg | degree = π rad/180
°C ℃ degC | celsius centigrade = K @ 273.15
°F ℉ degF | fahrenheit = K 5/9 @ 459.67
arcmin | arcminute = °/60
arcsec | arcsecond = °/3600
min | minute = 60 s
h hr | hour = 60 min
d | day = 24 h
wk | week = 7 d
yr | year = 365.2425 d
mo | month = yr/12
fortnight = 14 d
decade = 10 yr
century = 100 yr
millennium = 1000 yr
* Hz | hertz = 1/s
rpm = rev/min
* N | newton = kg m/s^2
* Pa | pascal = N/m^2
* J | joule = N m
* W | watt = J/s
* C | coulomb = A s
* V | volt = W/A
* Ω | ohm = V/A
* S | siemens = A/V
* F | farad = C/V
* Wb | weber = V s
* T | tesla = Wb/m^2
* H | henry = Wb/A
* lm | lumen = cd sr
* lx | lux = lm/m^2
* Bq | becquerel = 1/s
* Gy | gray = J/kg
* Sv | sievert = J/kg
* kat | katal = mol/s
* L l | liter litre = dm^3
M | molar = mol/L
mM | millimolar = mmol/L
μM uM | micromolar = μmol/L
nM = nmol/L
* eV | electronvolt = 1.602176634e-19 J
* Da | dalton = 1.66053906892e-27 kg
amu u = Da
* B | byte = 8 bit
KiB = 1024 B
MiB = 1024 KiB
GiB = 1024 MiB
TiB = 1024 GiB
* bps = bit/s
t | tonne = 1000 kg
ha | hectare = 10000 m^2
* bar = 100000 Pa
atm | atmosphere = 101325 Pa
torr Torr mmHg = atm/760
psi = lbf/inch^2
Å | angstrom ångström = 1e-10 m
micron = um
AU au = 149597870700 m
ly | lightyear = 9460730472580800 m
* pc | parsec = 648000 AU/π
dyn | dyne = 1e-5 N
erg = 1e-7 J
* cal | calorie = 4.184 J
* Wh = W h
* Ah = A h
BTU Btu = 1055.05585262 J
hp | horsepower = 550 ft lbf/s
G | gauss = 1e-4 T
Ci | curie = 3.7e10 Bq
in | inch = 0.0254 m
ft | foot feet = 12 inch
yd | yard = 3 ft
mi | mile = 5280 ft
nmi = 1852 m
furlong = 660 ft
acre = 43560 ft^2
cc = cm^3
gal | gallon = 231 inch^3
qt | quart = gal/4
pt | pint = qt/2
cup = pt/2
floz = cup/8
tbsp | tablespoon = floz/2
tsp | teaspoon = tbsp/3
lb | pound = 0.45359237 kg
oz | ounce = lb/16
stone = 14 lb
lbf = 4.4482216152605 N
kgf = 9.80665 N
mph = mi/h
kph kmh kmph = km/h
fps = ft/s
kn knot = nmi/h`

/** Symbols, name and power of ten of each. */
const PREFIXES = phrasesIn(`
  Q quetta 30 | R ronna 27 | Y yotta 24 | Z zetta 21 | E exa 18 | P peta 15 | T tera 12 | G giga 9
  M mega 6 | k kilo 3 | h hecto 2 | da deca 1 | d deci -1 | c centi -2 | m milli -3 | μu micro -6
  n nano -9 | p pico -12 | f femto -15
`).map((line): [symbols: string, name: string, power: number] => {
  const [symbols, name, power] = line.split(' ')
  return [symbols, name, Number(power)]
})

interface Definition {
  text: string | null
  base: string
  offset: string
  prefixed: boolean
}

const SYMBOLS: Record<string, Definition> = Object.create(null)
const NAMES: Record<string, Definition> = Object.create(null)
for (const line of DEFINITIONS.trim().split('\n')) {
  const [, star, symbols, names = '', text = null, offset = '0'] =
    /^(\* )?([^|=]+?)(?: \| ([^=]+?))?(?: = ([^@]+?)(?: @ (.+))?)?$/.exec(line)!
  const definition = { text, base: symbols.split(' ')[0], offset, prefixed: star !== undefined }
  for (const symbol of symbols.split(' ')) SYMBOLS[symbol] = definition
  for (const name of [...names.split(' '), ...symbols.split(' ').filter(each => /^[a-z]{3}/.test(each))])
    if (name !== '') NAMES[name] = definition
}

const known = new Map<Definition, Unit>()

const unitOf = (definition: Definition): Unit => {
  let unit = known.get(definition)
  if (!unit) {
    const offset = definition.offset === '0' ? undefined : parseDecimal(definition.offset)!
    unit = definition.text ? readUnit(definition.text)! : { factor: ONE, bases: { [definition.base]: 1 } }
    unit = offset ? { ...unit, offset } : unit
    known.set(definition, unit)
  }
  return unit
}

const scaled = (definition: Definition, power: number): Unit | null => {
  const { factor, bases } = unitOf(definition)
  const scale = powInteger({ n: 10n, d: 1n }, BigInt(power))
  const product = scale && multiplyRationals(scale, factor)
  return product && { factor: product, bases }
}

const bySymbol = (word: string): Unit | null => {
  if (SYMBOLS[word]) return unitOf(SYMBOLS[word])
  for (const [symbols, , power] of PREFIXES) {
    for (const symbol of symbols === 'da' ? [symbols] : symbols) {
      const definition = word.startsWith(symbol) ? SYMBOLS[word.slice(symbol.length)] : undefined
      if (definition?.prefixed) return scaled(definition, power)
    }
  }
  return null
}

const byName = (word: string): Unit | null => {
  if (NAMES[word]) return unitOf(NAMES[word])
  for (const [, name, power] of PREFIXES) {
    const definition = word.startsWith(name) ? NAMES[word.slice(name.length)] : undefined
    if (definition?.prefixed) return scaled(definition, power)
  }
  return null
}

const singulars = (word: string): string[] =>
  /..s$/.test(word) ? [word, word.slice(0, -1), word.replace(/ies$/, 'y'), word.replace(/es$/, '')] : [word]

/** Symbols as they are written, abbreviations with an s (`lbs`), names, then symbols in the wrong case (`KG`, `Kpa`). */
const unitWord = (word: string): Unit | null => {
  const lower = word.toLowerCase()
  let unit = bySymbol(word)
  for (const name of singulars(lower)) unit ??= byName(name)
  if (unit || word.length === 1) return unit
  const short = ABBREVIATED.test(lower) ? lower.slice(0, -1) : word
  return bySymbol(short) ?? bySymbol(short.replace(/^K/, 'k')) ?? bySymbol(short.toLowerCase())
}

const ABBREVIATED = /^(?:lb|oz|hr|yd|yr|wk|mo|kg|cm|km|mm|ml)s$/

/** Names of several words, and other spellings. */
const PHRASES: readonly [RegExp, string][] = [
  [/[µµ]/g, 'μ'],
  [/Ω/g, 'Ω'],
  [/Å/g, 'Å'],
  [/[−–]/g, '-'],
  [/[·⋅∙×*]+/g, ' '],
  [/\b(?:degrees?|deg)\s+(?:celsius|centigrade|c)\b|°\s*(?:celsius|c)\b/gi, '°C'],
  [/\b(?:degrees?|deg)\s+(?:fahrenheit|f)\b|°\s*(?:fahrenheit|f)\b/gi, '°F'],
  [/\bdegrees?\s+(?=kelvin\b)/gi, ''],
  [/\blight[ -]?years?\b/gi, 'ly'],
  [/\bnautical miles?\b/gi, 'nmi'],
  [/\bmetric tons?\b/gi, 't'],
  [/\bastronomical units?\b/gi, 'AU'],
  [/\bfluid ounces?\b|\bfl\.? oz\b/gi, 'floz'],
  [/\belectron[ -]?volts?\b/gi, 'eV'],
  [/\b(?:us|american) dollars?\b/gi, '$'],
  [/\bper\b/gi, '/'],
  [/\b(?:square|sq\.?)\s+(\p{L}+)/giu, '$1^2'],
  [/\b(?:cubic|cu\.?)\s+(\p{L}+)/giu, '$1^3'],
  [/(?<=\p{L})\s+squared\b/giu, '^2'],
  [/(?<=\p{L})\s+cubed\b/giu, '^3'],
  [/(?<=\p{L})-(?=\p{L})/gu, ' '],
  [/\.(?!\d)/g, ''],
] // prettier-ignore

const TOKENS = /\s*(?:(\d+(?:\.\d+)?(?:e-?\d+)?)|([\p{L}°$€£¥₹¢℃℉]+)(?:\^?(-?\d+)(?![\d.]))?|([/()]))/uy

const times = (a: Unit, b: Unit, exponent: number): Unit | null => {
  const power = powInteger(b.factor, BigInt(exponent))
  const factor = power && multiplyRationals(a.factor, power)
  if (!factor) return null
  const bases: Record<string, number> = { ...a.bases }
  for (const [name, count] of Object.entries(b.bases)) {
    bases[name] = (bases[name] ?? 0) + count * exponent
    if (bases[name] === 0) delete bases[name]
  }
  return { factor, bases }
}

const NONE: Unit = { factor: ONE, bases: {} }
const MAX_CHARACTERS = 80

/** Reads a product of units; what follows a `/` stands below the line, up to the bracket's end. */
class UnitReader {
  private at = 0
  constructor(private readonly text: string) {}

  whole(): Unit | null {
    const unit = this.product(true)
    return this.text.slice(this.at).trim() === '' ? unit : null
  }

  private product(outermost: boolean): Unit | null {
    let result: Unit | null = NONE
    let below = false
    let count = 0
    for (let token = this.next(); result && token; token = this.next()) {
      const [, number, word, exponent = '1', sign] = token
      if (sign === '/') {
        below = true
        continue
      }
      if (sign === ')') return outermost || count === 0 ? null : result
      const factor = number === undefined ? (sign ? this.product(false) : namedUnit(word)) : plain(number)
      // A temperature that stands alone keeps its offset.
      const alone = outermost && count === 0 && exponent === '1' && this.text.slice(this.at).trim() === ''
      result = factor && (alone ? factor : times(result, factor, Number(exponent) * (below ? -1 : 1)))
      count++
    }
    return outermost && count > 0 ? result : null
  }

  private next(): RegExpExecArray | null {
    TOKENS.lastIndex = this.at
    const token = TOKENS.exec(this.text)
    if (token) this.at = TOKENS.lastIndex
    return token
  }
}

const plain = (digits: string): Unit | null => {
  const factor = parseDecimal(digits)
  return factor && { factor, bases: {} }
}

const namedUnit = (word: string): Unit | null =>
  word === 'π' ? { factor: ONE, bases: { π: 1 } } : unitWord(word)

/** A unit (`cm^2`, `km/h`, `J/(mol K)`, `square miles`, `kilowatt-hours`); null for words that are none of ours. */
export const readUnit = (text: string): Unit | null => {
  if (text.length > MAX_CHARACTERS) return null
  let plain = text
  for (const [pattern, replacement] of PHRASES) plain = plain.replace(pattern, replacement)
  return new UnitReader(plain.trim()).whole()
}

/** Says how much, and nothing about of what: `5 units`, `6 square units`. */
export const NO_UNIT = /^(?:(?:square|cubic|sq|cu)\.? )?units?(?:\^[23]| squared| cubed)?$/i

/** Words that are a unit, or a part of its name. */
export const isUnitWord = (word: string): boolean =>
  /^(?:units?|square|cubic|sq|cu|squared|cubed|per|degrees?|percent(?:age)?|pct|hundred|thousand|million|billion|trillion|dozen)$/i.test(
    word,
  ) || readUnit(word) !== null

/** How many of these: words that multiply the number before them. */
export const UNIT_SCALES = table<Rational>(
  Object.fromEntries(
    Object.entries({ hundred: 2, thousand: 3, million: 6, billion: 9, trillion: 12 })
      .map(([name, power]): [string, Rational] => [name, { n: 10n ** BigInt(power), d: 1n }])
      .concat([['dozen', { n: 12n, d: 1n }]])
      .flatMap(([name, value]) => [
        [name, value],
        [`${name}s`, value],
      ]), // prettier-ignore
  ),
)

/** Whether two units measure the same, so that values in them can be compared. */
export const sameDimension = (a: Unit, b: Unit): boolean => {
  const names = new Set([...Object.keys(a.bases), ...Object.keys(b.bases)])
  return [...names].every(name => name === 'π' || (a.bases[name] ?? 0) === (b.bases[name] ?? 0))
}

/** Whether one is a smaller unit of the same dimension: minutes and hours. */
export const isPartOf = (small: Unit, large: Unit): boolean => {
  const ratio = sameDimension(small, large) && ratioOf(large, small)
  return ratio !== false && ratio !== null && ratio.factor.n > ratio.factor.d
}

/** How many of `to` one of `from` is, as a rational times a power of π. */
export const ratioOf = (from: Unit, to: Unit): { factor: Rational; pi: number } | null => {
  const factor = divideRationals(from.factor, to.factor)
  return factor && { factor, pi: (from.bases.π ?? 0) - (to.bases.π ?? 0) }
}
