/** @file Words and commands that an answer may be written with, and the one spelling that the parser knows them by. */

import { phraseRows, wordSet, wordsIn } from '../../../util/words.ts'

/** A look-up by outside words: no inherited keys, so that `constructor` is a word like any other. */
export const table = <T>(entries: Record<string, T>): Readonly<Record<string, T | undefined>> =>
  Object.assign(Object.create(null), entries)

/** A look-up of lines that begin with what the spellings behind it stand for: `<= le leq ≤`. */
const spellings = <T extends string = string>(lines: string) =>
  table<T>(
    Object.fromEntries(
      phraseRows(lines, ' ').flatMap(([value, ...words]) => words.map(word => [word, value as T])),
    ),
  )

/** Commands and characters that stand for an operator or bracket. */
export const OPERATORS = spellings(String.raw`
* cdot times ast bullet × · ⋅ ∙ ∗ • ✕ ⨯ *
/ div ÷ / ∕
<= le leq leqslant leqq ≤ ⩽
>= ge geq geqslant geqq ≥ ⩾
< lt <
> gt >
!= ne neq ≠
= =
~ approx simeq sim ≈ ≃ doteq approxeq
in in ∈
≡ equiv ≡
to to rightarrow mapsto →
=> Rightarrow implies iff Leftrightarrow ⇒ therefore
± pm ±
∓ mp ∓
+ +
- - − – ‑
union cup ∪ bigcup
intersection cap ∩
difference setminus backslash smallsetminus ∖
and land wedge ∧
or lor vee ∨
|( lvert lVert
|) rvert rVert
| vert | ∣ Vert
mid mid
floor( lfloor ⌊
floor) rfloor ⌋
ceil( lceil ⌈
ceil) rceil ⌉
( langle ⟨ lparen （ (
) rangle ⟩ rparen ） )
\{ lbrace
\} rbrace
[ lbrack ［ [
] rbrack ］ ]
{ {
} }
, , ， 、
; ; ；
: : ： colon
! !
^ ^
_ _
& &
% % ％
° ° º degree
' ′ ' prime
circ circ
`)

/** Functions of one argument; behind a name that is not the parser's own, the parser's. */
export const FUNCTIONS = table<string>(
  Object.fromEntries(
    wordsIn(`
      sin cos tan cot sec csc tg=tan ctg=cot cosec=csc arcsin=asin arccos=acos arctan=atan asin acos atan
      arctg=atan arccot=acot sinh cosh tanh ln log lg exp abs floor ceil max min gcd lcm det sgn=sign sign Re
      Im arg
    `).map(word => {
      const [spelling, name = spelling] = word.split('=')
      return [spelling, name]
    }),
  ),
)

export const CONSTANTS = spellings<'pi' | 'e' | 'i' | 'infinity'>(`
pi pi π
infinity infty infinity inf oo ∞
i imath jmath
`)

const GREEK_LETTERS: readonly string[] = wordsIn(
  'α alpha β beta γ gamma δ delta ε epsilon ϵ epsilon ζ zeta η eta θ theta ϑ theta ι iota κ kappa λ lambda μ mu ν nu ξ xi π pi ϖ pi ρ rho ϱ rho σ sigma ς sigma τ tau υ upsilon φ phi ϕ phi χ chi ψ psi ω omega Γ Gamma Δ Delta ∆ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega',
)

/** Names of TeX's commands by the letters themselves. */
export const GREEK = table<string>(
  Object.fromEntries(
    GREEK_LETTERS.flatMap((letter, i) => (i % 2 === 0 ? [[letter, GREEK_LETTERS[i + 1]]] : [])),
  ),
)
export const GREEK_NAMES: ReadonlySet<string> = new Set(GREEK_LETTERS.filter((_, i) => i % 2 === 1))

/** Sets with a name of their own. */
export const SET_NAMES = spellings(`
reals R ℝ
integers Z ℤ
naturals N ℕ
rationals Q ℚ
complexes C ℂ
empty emptyset varnothing ∅
`)

/** Commands that only set spaces, sizes or styles, and stand for nothing. */
export const INVISIBLE: ReadonlySet<string> =
  wordSet(`left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr middle displaystyle textstyle scriptstyle
   limits nolimits quad qquad enspace thinspace hspace vspace hfill centering tiny small large Large LARGE huge Huge normalsize bf rm it cal mathstrut phantom strut nonumber
   hline tag notag triangle angle mathop mathrel mathbin boxed fbox`)

/** Commands whose argument is only dressed: bold, roman over a symbol and so on. */
export const DRESSES: ReadonlySet<string> = wordSet(
  'mathbf boldsymbol bm mathit mathsf mathcal mathfrak mathscr vec overrightarrow hat tilde bar underline overbrace underbrace widehat ensuremath operatorname',
)

/** Commands whose argument is words. */
export const TEXTS: ReadonlySet<string> = wordSet(
  'text textbf textit textrm texttt textsf textnormal mbox hbox mathrm rm textup emph operatorname',
)

const SMALL: readonly string[] =
  wordsIn(`zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
  seventeen eighteen nineteen twenty`)

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
