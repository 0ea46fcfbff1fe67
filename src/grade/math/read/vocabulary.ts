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
  '∗': '*',
  '•': '*',
  '✕': '*',
  '⨯': '*',
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
  '∣': '|',
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
  º: '°',
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
  imath: 'i',
  jmath: 'i',
  '∞': 'infinity',
})

const GREEK_LETTERS =
  'α alpha β beta γ gamma δ delta ε epsilon ϵ epsilon ζ zeta η eta θ theta ϑ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ϖ pi ρ rho ϱ rho σ sigma ς sigma τ tau υ upsilon φ phi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta ∆ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega'.split(
    ' ',
  )

/** Names of TeX's commands by the letters themselves. */
export const GREEK = table<string>(
  Object.fromEntries(
    GREEK_LETTERS.flatMap((letter, i) => (i % 2 === 0 ? [[letter, GREEK_LETTERS[i + 1]]] : [])),
  ),
)
export const GREEK_NAMES: ReadonlySet<string> = new Set(GREEK_LETTERS.filter((_, i) => i % 2 === 1))

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
   limits nolimits quad qquad enspace thinspace hspace vspace hfill centering tiny small large Large LARGE huge Huge normalsize bf rm it cal mathstrut phantom strut nonumber
   hline tag notag triangle angle mathop mathrel mathbin boxed fbox`.split(/\s+/),
)

/** Commands whose argument is only dressed: bold, roman over a symbol and so on. */
export const DRESSES = new Set(
  'mathbf boldsymbol bm mathit mathsf mathcal mathfrak mathscr vec overrightarrow hat tilde bar underline overbrace underbrace widehat ensuremath operatorname'.split(
    ' ',
  ),
)

/** Commands whose argument is words. */
export const TEXTS = new Set(
  'text textbf textit textrm texttt textsf textnormal mbox hbox mathrm rm textup emph operatorname'.split(
    ' ',
  ),
)

const SMALL =
  `zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
  seventeen eighteen nineteen twenty`.split(/\s+/)

/** Numbers written as one word. */
export const NUMBER_BY_WORD = table<number>({
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
