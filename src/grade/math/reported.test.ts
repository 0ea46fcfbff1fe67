import { describe, expect, it } from 'vitest'
import { mathEqual } from './compare/equal.ts'
import { gradeMath } from './verify.ts'

const tex = String.raw
type Case = readonly [gold: string, prediction: string, equal: boolean | null]

/** What users of other graders reported as graded wrongly: the kind and where, in our own words. */
const REPORTED: Readonly<Record<string, readonly Case[]>> = {
  // huggingface/lighteval#628, huggingface/Math-Verify#57, PrimeIntellect-ai/prime-rl PR 2665
  'units and prefixes': [
    ['7 kPa', '7 Pa', false],
    [tex`7\text{ mV}`, tex`7\text{ MV}`, false],
    ['7 mcal', '7 Mcal', false],
    ['7 years', '7 months', false],
    ['280 K', tex`280\,\mathrm{K}`, true],
    ['280', '280 V', true],
    ['1360', tex`1360\ \mathrm{W/m^2}`, true],
    ['6 m/s', tex`6\ \mathrm{m\,s^{-1}}`, true],
    ['6 m/s', '21.6 kilometers per hour', true],
    ['8 J/(mol K)', tex`8\ \mathrm{J\,mol^{-1}\,K^{-1}}`, true],
    ['4 kg·m/s', tex`4\ \text{kg}\cdot\text{m}/\text{s}`, true],
    ['3 m²', '3 square meters', true],
    [tex`6\ \mu\text{m}`, '6 micrometers', true],
    [tex`6\ \mathrm{k\Omega}`, '6000 ohms', true],
    ['7 m', '7 s', null],
    ['7 apples', '7 oranges', null],
    ['7 red apples', '7 apples', true],
    ['7%', '7 kg', null],
    ['7 apples', 'There are 7 in total. The answer is 7 in all.', true],
  ],
  temperatures: [
    ['300 °C', '300 °F', false],
    ['300 °C', '300 K', false],
    [tex`25^\circ\text{C}`, '77 degrees Fahrenheit', true],
    ['0 ℃', '273.15 K', true],
    ['25', '25 °C', true],
    ['90°', '90 rad', false],
  ],
  'letters that are variables': [
    ['5', '5m', null],
    ['5', '5 x', false],
    ['5', '5/s', false],
    ['3m+2', '3n+2', false],
    ['2x+3', '2x+3 m', false],
    ['5m', '5 m', true],
    ['3 m + 2 n', '3m+2n', true],
  ],
  'compound quantities': [
    ['2 hours 15 minutes', '135 minutes', true],
    ['135 minutes', 'The trip takes 2 hours and 15 minutes.', true],
    ['6 ft 2 in', '74 inches', true],
    [tex`1\text{ lb }4\text{ oz}`, '20 ounces', true],
    ['2h30min', '2.5 h', true],
    ['2 hours 15 minutes', '2 hours', false],
  ],
  'so many of them': [
    ['3 dozen', '36', true],
    ['3', '3 dozen', false],
    ['4 million', '4 billion', false],
    ['$4 million', '4000000 dollars', true],
    ['4000000', 'The profit is 4 million dollars.', true],
    ['4', 'The profit is 4 million dollars.', false],
  ],
  money: [
    ['75 cents', '$0.75', true],
    ['€20', '20 euros', true],
    ['$20', '€20', null],
  ],
  // huggingface/Math-Verify#69
  'powers as Python writes them': [
    ['81', '3**4', true],
    ['34', '3**4', false],
    ['x^3-1', 'The polynomial is `x**3 - 1`.', true],
    ['10^{-4}', '10**-4', true],
    ['512', '2**3**2', true],
    ['1024', '**1024**', true],
    ['1024', 'The answer is **2**10**.', true],
    ['73', '**Final answer:** **73** people', true],
  ],
  'names of Python and SymPy': [
    ['3-4i', '3 - 4*I', true],
    ['3-4i', '(3-4j)', true],
    ['2i+3j', '2i+3i', false],
    ['e^2', 'E**2', true],
    [tex`\sqrt[3]{7}`, 'cbrt(7)', true],
    [tex`\log_2 5`, 'log(5, 2)', true],
    ['2', 'math.log10(100)', true],
    ['35', 'binomial(7, 3)', true],
    ['35', 'C(7,3)', true],
    ['720', 'factorial(6)', true],
    [tex`-\frac37`, 'Rational(-3, 7)', true],
    [tex`\frac73`, 'Fraction(3, 7)', false],
    ['(0,1]', 'Interval.Lopen(0, 1)', true],
    [tex`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, 'Matrix([[1, 2], [3, 4]])', true],
    [tex`2\lambda+\alpha`, '2*lambda + alpha', true],
  ],
  // Khan/khan-exercises#158044, rasbt/reasoning-from-scratch PR 99
  'characters of Unicode': [
    [tex`\sqrt{23}`, '√23', true],
    ['3', '√23', false],
    [tex`\frac{1+\sqrt{5}}{2}`, '(1+√5)/2', true],
    [tex`\sqrt[3]{20}`, '∛20', true],
    [tex`\sqrt{17}`, 'sqrt 17', true],
    ['x^{12}+1', 'x¹²+1', true],
    ['210', '2¹⁰', false],
    ['10^{-6}', '10⁻⁶', true],
    ['2^{n+1}', '2ⁿ⁺¹', true],
    ['x_{12}', 'x₁₂', true],
    ['2.5', '2½', true],
    ['1', '2½', false],
    [tex`2\alpha+\Delta`, '2α+Δ', true],
    [tex`\varphi`, 'φ', true],
    ['(1,2)', '（１，２）', true],
    [tex`x\in\mathbb{R}`, 'x∈ℝ', true],
    [tex`2\pi`, '2𝜋', true],
  ],
  // pytorch/torchtitan PR 4442, NVIDIA-NeMo/Skills PR 1373
  'the answer in its sentence': [
    ['17', 'The answer is 17, not 18.', true],
    ['18', 'The answer is 17, not 18.', false],
    ['18', 'The answer is not 18.', false],
    ['17', 'The answer is not 18 but 17.', true],
    ['17', 'Answer: 17 (since 17 = 20 - 3)', true],
    ['17', 'The final answer is $17$, where $k=3$.', true],
    ['3', 'The final answer is $17$, where $k=3$.', false],
    ['17', 'Answer: With $k=3$ we get $17$', true],
    ['17', 'Final Answer: If x = 3, then y = 17.', true],
    ['2020', 'Final Answer: In 2020 there were 17 members.', false],
    ['17', 'Final Answer: 17 students out of 50 passed.', true],
    ['17', '<answer>17 because x = 5</answer>', true],
    ['5', '<answer>17 because x = 5</answer>', false],
    ['17', tex`\boxed{17, \text{ since } 14+3=17}`, true],
    ['2x+1', 'The answer is 2x+1, where x > 0.', true],
    ['9', tex`The last digits of \(7^{10}\) are: ${'\n'}\[Answer: 009\]`, true],
    ['Yes', 'Yes, because 3 divides 9.', true],
    ['No', 'The answer is no, since 4 is even.', true],
    ['17', '**Answer**: 17\n**Confidence**: 95%', true],
  ],
  // EleutherAI/lm-evaluation-harness PR 4188, NVIDIA-NeMo/Gym PR 1844, UKGovernmentBEIS/inspect_ai#2216
  choices: [
    ['C', 'The answer is C because option A is wrong.', true],
    ['A', 'The answer is C because option A is wrong.', false],
    ['B', 'Answer: C. Option B is the second best.', false],
    ['C', tex`\boxed{Option C}`, true],
    ['C', tex`\boxed{\text{c}}`, true],
    ['C', 'The correct answer is c.', true],
    ['C', 'Option C is correct, A and B are too small.', true],
    ['A', 'A perfect answer cannot be found.', false],
    ['A', 'The answer is a number.', false],
    ['A', 'Answer: A or C', false],
    ['B', 'The answer is not B.', false],
    ['I', "ANSWER: I don't know", false],
    ['A', 'ANSWER: None of the above', false],
  ],
  // huggingface/trl PR 4563
  thinking: [
    ['7', tex`<think>maybe \boxed{7} but let me`, false],
    ['7', tex`<think>so \boxed{7}</think>`, false],
    ['5', tex`maybe \boxed{7}</think> The answer is 5.`, true],
  ],
  // Found with 880 pairs of our own
  'what a text takes back': [
    ['14', 'The answer is less than 14.', false],
    ['14', 'Answer: either 11 or 14', false],
    ['11', 'The answer is between 11 and 14.', false],
    ['14', 'The answer exceeds 14.', false],
    ['14', 'The answer ≠ 14', false],
    ['14', 'The answer is n > 14.', false],
    ['11', 'If the answer is 14, nothing fits. It is 11.', true],
    ['14', 'If the answer is 14, then I was wrong.', false],
    ['14', 'I cannot tell whether it is 14.', false],
    ['14', 'Some say the answer is 14. They are mistaken: it is 11.', false],
    ['11', 'The right answer is 11. A common wrong answer is 14.', true],
    ['14', 'The right answer is 11. A common wrong answer is 14.', false],
    ['-2', 'Solving gives $x = 5$; $x=-2$ is rejected.', false],
    ['14', 'The answer is 3 more than 14, i.e. 17.', false],
    ['14', 'It could be 11 or 14.', false],
    ['14', tex`The answer is not \boxed{14}.`, false],
    ['11', tex`\boxed{11} is the answer, not \boxed{14}.`, true],
    ['14', tex`\boxed{14} is wrong.`, false],
    ['14', '答案是11，不是14。', false],
    ['14', 'La risposta non è 14.', false],
    ['14', 'Ответ: не 14', false],
    ['14', '<answer>not 14</answer>', false],
    ['14', tex`\boxed{>14}`, false],
    ['x>14', tex`\boxed{>14}`, true],
    ['14', tex`\boxed{\neq 14}`, false],
    ['2', 'all real numbers except 2', false],
    ['all real numbers except 2', 'all real numbers except 2', true],
  ],
  'signs in words': [
    ['14', 'The answer is minus 14.', false],
    ['-14', 'The temperature is negative 14.', true],
    ['-14', 'It dropped to minus 14 degrees.', true],
    [tex`-\frac72`, tex`The slope is negative $\frac{7}{2}$.`, true],
    ['11', 'We see that 14 minus 3 is 11.', true],
  ],
  'circumstances of a value': [
    ['14', 'Ann has 14 marbles left after 5 games.', true],
    ['5', 'Ann has 14 marbles left after 5 games.', false],
    ['14', 'The total comes to 14, because each of the 2 bags holds 7.', true],
    ['14', 'It takes him 14 minutes to read 5 pages.', true],
    ['14', 'Total: 14 marbles (19 bought, 5 lost)', true],
    ['14', '14 is the answer, by adding 9 and 5.', true],
    ['9', 'There were 14 marbles, but 5 were lost, so 9 are left.', true],
    ['14', tex`\boxed{14}. The final answer is correct.`, true],
    ['14', 'The answer is 14; check: 14/2 = 7.', true],
    ['5:7', 'The ratio is 5:7.', true],
    ['14 kg', 'It weighs 14 kilograms.', true],
    ['4 L', '4000 millilitres of water', true],
  ],
  'other digits': [
    ['42', 'الجواب هو ٤٢', true],
    ['42', '४२', true],
    ['43', '৪২', false],
    ['3.5', '٣٫٥', true],
    ['42', 'A resposta é 42.', true],
  ],
  'points that would be empty intervals': [
    ['(8,-2)', tex`\emptyset`, false],
    ['(1,1)', tex`\varnothing`, false],
    ['(8,-2)', '(9,-5)', false],
    ['(8,-2)', '(8, -2)', true],
  ],
  'options beside the chosen one': [
    ['C', 'The sample has 25 C.', false],
    ['D', 'Options A through D are all wrong.', false],
    ['C', 'C would be right if x were 3, but x is 4. So B.', false],
    ['B', 'C would be right if x were 3, but x is 4. So B.', true],
    ['B', 'If the mass were doubled, B would be right.', false],
    ['A', 'A: no. B: yes. C: no.', false],
    ['A', 'A) 12 m B) 13 m C) 14 m', false],
    ['B', 'I doubt that B is correct.', false],
    ['B', 'Eliminating A, C and D leaves B.', true],
    ['B', 'Between B and C, B is better.', true],
    ['E', 'E = mc^2', false],
  ],
  'thinking in other tags': [
    ['7', '<thinking>the answer is 7', false],
    ['7', '<reasoning>The answer is 5</reasoning> The answer is 7.', true],
    ['5', '<reasoning>The answer is 5</reasoning> 7', false],
    ['7', '[THINK]The answer is 7[/THINK]', false],
    ['7', '<THINK>The answer is 5</THINK>7', true],
  ],
  // open-thoughts/OpenThoughts-Agent PR 129
  'sets and dress': [
    [tex`[0,1]\cup[2,3]`, tex`[0,1] \text{ or } [2,3]`, true],
    [tex`(-\infty,\infty)`, tex`\text{all real numbers}`, true],
    ['7', tex`\boxed{\color{red}{7}}`, true],
    ['7', tex`\boxed{\large 7}`, true],
  ],
}

describe('reported of other graders', () => {
  for (const [kind, cases] of Object.entries(REPORTED)) {
    it.each(cases)(`${kind}: %s and %s -> %s`, (gold, response, equal) => {
      expect(mathEqual(gold, response)).toBe(equal)
      expect(gradeMath(gold, response).equal).toBe(equal)
    })
  }
})

/** `5 x` in y, by Pint 0.25.3. */
const CONVERTED = [
  ['miles', '8.04672 km'],
  ['ft', '60 inches'],
  ['lb', '2267.96185 g'],
  ['oz', '141.747615625 g'],
  ['gallons', '18.92705892 L'],
  ['km/h', '1.38888888889 m/s'],
  ['kWh', '18 MJ'],
  ['kcal', '20920 J'],
  ['atm', '506.625 kPa'],
  ['hectares', '50000 m^2'],
  ['psi', '34473.7864658 Pa'],
  ['eV', '8.01088317e-19 J'],
  ['horsepower', '3728.49935791 W'],
  ['g/cm^3', '5000 kg/m^3'],
  ['nautical miles', '9260 m'],
  ['tonnes', '5000 kg'],
  ['GB', '5000 MB'],
  ['bytes', '40 bits'],
  ['W/m^2', '0.5 mW/cm^2'],
  ['weeks', '840 hours'],
  ['quarts', '10 pints'],
  ['angstrom', '0.5 nm'],
] as const

describe('conversions', () => {
  it.each(CONVERTED)('5 %s are %s', (unit, other) => {
    expect(mathEqual(`5 ${unit}`, other)).toBe(true)
    expect(mathEqual(`6 ${unit}`, other)).toBe(false)
    expect(mathEqual(`5 ${unit}`, other.replace(/^\S+/, '5'))).toBe(false)
  })
})
