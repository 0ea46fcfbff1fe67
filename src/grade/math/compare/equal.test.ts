import { describe, expect, it } from 'vitest'
import { mathEqual } from './equal.ts'

const tex = String.raw
type Case = readonly [gold: string, prediction: string, equal: boolean | null]

/** Each pair is tried both ways round: equality is symmetric. */
const FORMS: Readonly<Record<string, readonly Case[]>> = {
  integers: [
    ['42', '42', true],
    ['42', '43', false],
    ['-5', '−5', true],
    ['1,000', '1000', true],
    ['1 000 000', tex`10^6`, true],
    ['14{,}916', '14916', true],
    [tex`10,\!080`, '10080', true],
    ['1,234', '1,235', false],
    ['6!', '720', true],
    ['2^{1000}', '2^{1000}+1', false],
    ['204_5', '54', true],
    ['204_5', '204', null],
    ['1010_2', '10', true],
  ],
  decimals: [
    ['0.5', '.5', true],
    ['27.0', '27', true],
    ['1000,99', '1000.99', true],
    ['1.234,56', '1234.56', true],
    ['1.5e3', tex`1.5 \times 10^3`, true],
    [tex`0.1\overline{6}`, '1/6', true],
    ['0.333333', '1/3', true],
    ['0.33', '1/3', false],
    ['3.14159265', tex`\pi`, true],
    ['3.1416', tex`\pi`, false],
    ['16386.16', '16386.17', false],
    ['0.0000672', '0.0000670', false],
  ],
  fractions: [
    ['1/2', '0.5', true],
    [tex`\frac{3}{4}`, tex`\dfrac{-3}{-4}`, true],
    [tex`\frac13`, tex`\frac{2}{6}`, true],
    [tex`1\frac{4}{5}`, '9/5', true],
    ['1 4/5', '1.8', true],
    [tex`-1\frac{1}{2}`, '-1.5', true],
    [tex`\frac{270}7\text{ degrees}`, '270/7', true],
    ['3/0', '5', null],
  ],
  percentages: [
    ['28%', '0.28', true],
    ['28%', '28', true],
    ['28%', '28 percent', true],
    ['0.28', '28', false],
    ['12%', '1.2', false],
  ],
  units: [
    [tex`5\text{ cm}`, '5', true],
    ['5 cm', '5 m', false],
    [tex`100\text{ cm}`, tex`1\text{ m}`, true],
    ['3 hours', '180 minutes', true],
    [tex`15\mbox{ cm}^2`, '15 cm', null],
    ['5000', '5000 m', true],
    ['5000', '5000m', null],
    ['$10', '10 dollars', true],
    ['5 apples', '6 apples', false],
    [tex`90^\circ`, '90', true],
    ['90°', tex`\frac{\pi}{2}`, true],
    ['60', tex`\frac{\pi}{3}`, false],
  ],
  intervals: [
    ['[0,1)', '[0,1)', true],
    ['[0,1)', '(0,1)', false],
    ['(-6,10)', tex`x \in (-6, 10)`, true],
    ['[0,1]', tex`0 \le x \le 1`, true],
    ['x>3', tex`(3,\infty)`, true],
    ['2x+1>7', 'x>3', true],
    ['2x+1>7', 'x<3', false],
    [tex`|x|\ge 2`, tex`(-\infty,-2]\cup[2,\infty)`, true],
    [tex`(1,3)\cup(2,5)`, '(1,5)', true],
    [tex`(0,1)\cup(1,2)`, '(0,2)', false],
    [tex`{1,3}\cup{2,4}`, '1,2,3,4', true],
    [tex`\{1,3\}\cup\{2,4\}`, tex`\{1,2,3,4\}`, true],
    [tex`\{-1\}\cup[0,7)`, tex`[0,7)\cup\{-1\}`, true],
    [tex`\mathbb{R}\setminus\{2\}`, tex`x \ne 2`, true],
    [tex`\{x \mid -3 \le x < 5\}`, '[-3,5)', true],
    ['[0,1)', '1', false],
  ],
  collections: [
    ['(1,2)', '(1,2)', true],
    ['(1,2)', '(2,1)', false],
    ['(1;2)', '(1,2)', true],
    [tex`\{1,2\}`, tex`\{2,1,1\}`, true],
    ['1,2', '2,1', null],
    ['1 and 2', '2,1', true],
    [tex`\{(1,2),(2,1)\}`, tex`\{(2,1),(1,2)\}`, true],
    ['n=1,2,3', '1,2,3', true],
    ['x=1,y=2', 'y=2,x=1', true],
    ['x=1,y=2', 'x=2,y=1', false],
    ['(x,y)=(1,2)', 'x=1,y=2', true],
    [tex`\pm 3`, '-3, 3', true],
    [tex`\pm 3`, '3', false],
    [tex`\{1\pm\sqrt5,-2\}`, tex`\{-2,1-\sqrt5,1+\sqrt5\}`, true],
    ['no solution', tex`\emptyset`, true],
  ],
  matrices: [
    [tex`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, tex`\left[\begin{array}{cc}1&2\\3&4\end{array}\right]`, true],
    [tex`\begin{pmatrix}1&2\\3&4\end{pmatrix}`, tex`\begin{pmatrix}1&2\\3&5\end{pmatrix}`, false],
    [tex`\begin{pmatrix}1&2\\3&4\end{pmatrix}^2`, tex`\begin{pmatrix}7&10\\15&22\end{pmatrix}`, true],
    [tex`\begin{pmatrix}1\\2\end{pmatrix}`, '(1,2)', true],
    [tex`\begin{vmatrix}1&2\\3&4\end{vmatrix}`, '-2', true],
  ],
  surds: [
    [tex`\sqrt{8}`, tex`2\sqrt2`, true],
    [tex`\sqrt{2}+\sqrt{3}`, tex`\sqrt{5+2\sqrt{6}}`, true],
    [tex`\sqrt[3]{-8}`, '-2', true],
    ['sqrt(2)/2', tex`\frac{1}{\sqrt2}`, true],
    [tex`\sqrt2`, tex`\sqrt3`, false],
    [tex`\sqrt2`, '1.41421356', true],
    [tex`\sqrt2`, '1.414', false],
  ],
  constants: [
    [tex`2\pi`, '2pi', true],
    [tex`e^{i\pi}`, '-1', true],
    [tex`(1+i)^2`, '2i', true],
    ['6 - 5i', '6 + 5i', false],
    [tex`\log_2 8`, '3', true],
    [tex`\ln 4`, tex`2\ln 2`, true],
    [tex`\tan 45^\circ`, '1', true],
    [tex`\binom{5}{2}`, '10', true],
    [tex`\infty`, tex`-\infty`, false],
  ],
  expressions: [
    ['(x+1)^2', 'x^2+2x+1', true],
    ['x+1', 'x+2', false],
    ['2k', '2n', false],
    [tex`\sin 2x`, tex`2\sin x\cos x`, true],
    [tex`\tan^2(y)+1`, tex`\sec^2(y)`, true],
    [tex`\frac{x^2-1}{x-1}`, 'x+1', true],
    [tex`|x|`, 'x', false],
    [tex`\sqrt{x^2}`, 'x', null],
    [tex`\ln(xy)`, tex`\ln x + \ln y`, true],
    [tex`\binom{n}{2}`, tex`\frac{n(n-1)}{2}`, true],
    [tex`(-1)^n`, tex`\cos(n\pi)`, null],
    [tex`\sum_{k=1}^{10} k`, '55', true],
    [tex`\frac{n(n+1)}{2}`, tex`\sum_{k=1}^n k`, null],
  ],
  equations: [
    ['x = 11', '11', true],
    ['x = 5+5+1 = 7 = 11', '11', true],
    [tex`x = 1/3 \approx 0.3`, '1/3', true],
    ['AB = 5', '5', true],
    ['y=2x+1', '2x-y+1=0', true],
    ['y=2x+1', '2x+1', true],
    ['y=1/x', 'xy=1', true],
    ['x^2+y^2=1', '2x^2+2y^2=2', true],
    ['x^2+y^2=1', 'x^2+y^2=2', false],
    ['7 = 11a+c', '11a+c', false],
    ['x < 1', '-x > -1', true],
    ['a<b<c', 'c>b>a', true],
    ['x^2=4', 'x^3=8', false],
  ],
  ratios: [
    ['2:3', '4:6', true],
    ['2:3', '3:2', false],
    ['2:3', '2/3', true],
    ['12:00', '1:00', false],
  ],
  words: [
    [tex`\text{Evelyn}`, 'evelyn', true],
    ['red', 'blue', false],
    ['cat', 'act', false],
    ['yes', 'True', true],
    [tex`\text{(C)}`, 'C', true],
    [tex`\text{(A) } 12`, 'A', true],
    ['A', 'B', false],
    ['three', '3', true],
    [tex`\text{June 20}`, 'June 21', false],
    ['AZYUK2A', '2', false],
    ['constructor', 'toString', false],
  ],
}

describe('mathEqual', () => {
  for (const [form, cases] of Object.entries(FORMS)) {
    it.each(cases)(`${form}: %s and %s -> %s`, (gold, prediction, equal) => {
      expect(mathEqual(gold, prediction)).toBe(equal)
      expect(mathEqual(prediction, gold)).toBe(equal)
    })
  }

  it('takes whole responses on either side', () => {
    expect(mathEqual('so $x = \\boxed{7}$.', 'The answer is 7.')).toBe(true)
    expect(mathEqual('7', 'After long thought, I do not know')).toBe(false)
    expect(mathEqual('7', 'The answer is 7.', { extract: false })).toBe(false)
  })

  it('is undecided without a gold answer, and finds an empty answer wrong', () => {
    expect(mathEqual('', '5')).toBeNull()
    expect(mathEqual('5', '')).toBe(false)
  })

  it('compares to the decimals that are asked for', () => {
    expect(mathEqual('(\\frac{3}{5},\\frac{8}{3}]', '(0.6,2.67]', { precision: 2 })).toBe(true)
    expect(mathEqual('(\\frac{3}{5},\\frac{8}{3}]', '(0.6,2.68]', { precision: 2 })).toBe(false)
  })

  it('lets the order of a bare list matter or not', () => {
    expect(mathEqual('4, 10, -2', '10, 4, -2', { listOrder: 'matters' })).toBe(false)
    expect(mathEqual('4, 10, -2', '10, 4, -2', { listOrder: 'free' })).toBe(true)
  })
})
