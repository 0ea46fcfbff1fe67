/** @file Words and commands that an answer may be written with, and the one spelling that the parser knows them by. */

/** A look-up by outside words: no inherited keys, so that `constructor` is a word like any other. */
export const table = <T>(entries: Record<string, T>): Readonly<Record<string, T | undefined>> =>
  Object.assign(Object.create(null), entries)

/** Commands and characters that stand for an operator or bracket. */
export const OPERATORS = table<string>({
  cdot: '*',
  times: '*',
  ast: '*',
  bullet: '*',
  '×': '*',
  '·': '*',
  '⋅': '*',
  '∙': '*',
  '*': '*',
  div: '/',
  '÷': '/',
  '/': '/',
  '∕': '/',
  le: '<=',
  leq: '<=',
  leqslant: '<=',
  leqq: '<=',
  '≤': '<=',
  '⩽': '<=',
  ge: '>=',
  geq: '>=',
  geqslant: '>=',
  geqq: '>=',
  '≥': '>=',
  '⩾': '>=',
  lt: '<',
  '<': '<',
  gt: '>',
  '>': '>',
  ne: '!=',
  neq: '!=',
  '≠': '!=',
  '=': '=',
  approx: '~',
  simeq: '~',
  sim: '~',
  '≈': '~',
  '≃': '~',
  doteq: '~',
  approxeq: '~',
  in: 'in',
  '∈': 'in',
  equiv: '≡',
  '≡': '≡',
  to: 'to',
  rightarrow: 'to',
  mapsto: 'to',
  '→': 'to',
  Rightarrow: '=>',
  implies: '=>',
  iff: '=>',
  Leftrightarrow: '=>',
  '⇒': '=>',
  therefore: '=>',
  pm: '±',
  '±': '±',
  mp: '∓',
  '∓': '∓',
  '+': '+',
  '-': '-',
  '−': '-',
  '–': '-',
  '‑': '-',
  cup: 'union',
  '∪': 'union',
  bigcup: 'union',
  cap: 'intersection',
  '∩': 'intersection',
  setminus: 'difference',
  backslash: 'difference',
  smallsetminus: 'difference',
  '∖': 'difference',
  land: 'and',
  wedge: 'and',
  '∧': 'and',
  lor: 'or',
  vee: 'or',
  '∨': 'or',
  lvert: '|(',
  rvert: '|)',
  vert: '|',
  mid: 'mid',
  '|': '|',
  lVert: '|(',
  rVert: '|)',
  Vert: '|',
  lfloor: 'floor(',
  rfloor: 'floor)',
  '⌊': 'floor(',
  '⌋': 'floor)',
  lceil: 'ceil(',
  rceil: 'ceil)',
  '⌈': 'ceil(',
  '⌉': 'ceil)',
  langle: '(',
  rangle: ')',
  '⟨': '(',
  '⟩': ')',
  lbrace: '\\{',
  rbrace: '\\}',
  lbrack: '[',
  rbrack: ']',
  lparen: '(',
  rparen: ')',
  '（': '(',
  '）': ')',
  '［': '[',
  '］': ']',
  '(': '(',
  ')': ')',
  '[': '[',
  ']': ']',
  '{': '{',
  '}': '}',
  ',': ',',
  '，': ',',
  '、': ',',
  ';': ';',
  '；': ';',
  ':': ':',
  '：': ':',
  colon: ':',
  '!': '!',
  '^': '^',
  _: '_',
  '&': '&',
  '%': '%',
  '％': '%',
  '°': '°',
  '′': "'",
  "'": "'",
  circ: 'circ',
  degree: '°',
  prime: "'",
})

/** Functions of one argument; value: the parser's name. */
export const FUNCTIONS = table<string>({
  sin: 'sin',
  cos: 'cos',
  tan: 'tan',
  cot: 'cot',
  sec: 'sec',
  csc: 'csc',
  tg: 'tan',
  ctg: 'cot',
  cosec: 'csc',
  arcsin: 'asin',
  arccos: 'acos',
  arctan: 'atan',
  asin: 'asin',
  acos: 'acos',
  atan: 'atan',
  arctg: 'atan',
  arccot: 'acot',
  sinh: 'sinh',
  cosh: 'cosh',
  tanh: 'tanh',
  ln: 'ln',
  log: 'log',
  lg: 'lg',
  exp: 'exp',
  abs: 'abs',
  floor: 'floor',
  ceil: 'ceil',
  max: 'max',
  min: 'min',
  gcd: 'gcd',
  lcm: 'lcm',
  det: 'det',
  sgn: 'sign',
  sign: 'sign',
  Re: 'Re',
  Im: 'Im',
  arg: 'arg',
})

export const CONSTANTS = table<'pi' | 'e' | 'i' | 'infinity'>({
  pi: 'pi',
  π: 'pi',
  infty: 'infinity',
  infinity: 'infinity',
  inf: 'infinity',
  oo: 'infinity',
  '∞': 'infinity',
})

/** Sets with a name of their own. */
export const SET_NAMES = table<string>({
  R: 'reals',
  Z: 'integers',
  N: 'naturals',
  Q: 'rationals',
  C: 'complexes',
  ℝ: 'reals',
  ℤ: 'integers',
  ℕ: 'naturals',
  ℚ: 'rationals',
  ℂ: 'complexes',
  emptyset: 'empty',
  varnothing: 'empty',
  '∅': 'empty',
})

/** Commands that only set spaces, sizes or styles, and stand for nothing. */
export const INVISIBLE = new Set(
  `left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle textstyle scriptstyle
   limits nolimits quad qquad enspace thinspace hspace vspace hfill centering bf rm it cal mathstrut phantom strut nonumber
   hline tag notag triangle angle mathop mathrel mathbin boxed fbox`.split(/\s+/),
)

/** Commands whose argument is only dressed: bold, roman over a symbol and so on. */
export const DRESSES = new Set(
  'mathbf boldsymbol bm mathit mathsf mathcal mathfrak mathscr vec overrightarrow hat tilde bar underline overbrace underbrace widehat ensuremath operatorname color'.split(
    ' ',
  ),
)

/** Commands whose argument is words. */
export const TEXTS = new Set(
  'text textbf textit textrm texttt textsf textnormal mbox hbox mathrm rm textup emph operatorname'.split(
    ' ',
  ),
)

/** Words that are units where no formula surrounds them, also when they stick to a number. */
export const UNIT_WORDS = new Set(
  `mm cm dm km nm ft yd inch inches foot feet yard yards mile miles meter meters metre metres kilometers centimeters
   mg kg gram grams kilogram kilograms lb lbs oz pound pounds ounce ounces ton tons ml mL cl liter liters litre litres gallons
   ms sec secs second seconds min mins minute minutes hr hrs hour hours day days week weeks month months year years
   usd eur dollar dollars cent cents euro euros mph kph kmh km/h hz khz pa kpa mol unit units square cubic sq cu people
   rad radian radians joules watts volts newtons`.split(/\s+/),
)

const SMALL =
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
  seventeen eighteen nineteen twenty`.split(/\s+/)

/** Numbers written as one word. */
export const NUMBER_WORDS = table<number>({
  ...Object.fromEntries(SMALL.map((word, value) => [word, value])),
  thirty: 30,
  forty: 40,
  fifty: 50,
  sixty: 60,
  seventy: 70,
  eighty: 80,
  ninety: 90,
  hundred: 100,
})
