import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maskAnswers } from './mask.ts'

describe('the final answer', () => {
  it('is hidden in every box, braces and all', () => {
    for (const [text, masked] of [
      ['So \\boxed{42}.', 'So \\boxed{[hidden]}.'],
      ['\\boxed{\\frac{1}{2}} or \\boxed{3}', '\\boxed{[hidden]} or \\boxed{[hidden]}'],
      ['$\\boxed{\\{1, 2\\}}$ x', '$\\boxed{[hidden]}$ x'],
      [
        '\\fbox{7} and \\boxed 7 and \\box 12, 3',
        '\\boxed{[hidden]} and \\boxed{[hidden]} and \\boxed{[hidden]}, 3',
      ],
      ['\\boxed{a \\boxed{b} c} d', '\\boxed{[hidden]} d'],
      ['cut off: \\boxed{1, 2', 'cut off: \\boxed{[hidden]}'],
      ['\\boxedness 4', '\\boxedness 4'],
      ['a \\boxed', 'a \\boxed{[hidden]}'],
    ])
      expect(maskAnswers(text)).toBe(masked)
  })

  it('is hidden in answer tags', () => {
    expect(maskAnswers('x <answer> 42 </answer> y <ANSWER>7')).toBe(
      'x <answer>[hidden]</answer> y <answer>[hidden]',
    )
  })

  it('is hidden behind its announcement where it has neither box nor tag', () => {
    expect(maskAnswers('The answer is not clear.\n20 + 22 = 42\nThe answer is 42.\nBye')).toBe(
      'The answer is not clear.\n20 + 22 = 42\nThe answer is [hidden]\nBye',
    )
    expect(maskAnswers('the answer is 4, \\boxed{4}')).toBe('the answer is 4, \\boxed{[hidden]}')
    expect(maskAnswers('20 + 22 = 42')).toBe('20 + 22 = 42')
  })

  it('is hidden however it is written, and once is enough', () => {
    const inside = fc.stringMatching(/^[a-z0-9 ^_+=-]{0,12}$/)
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.stringMatching(/^[a-z0-9 ,.\n]{0,20}$/), inside), { maxLength: 6 }),
        parts => {
          const text = parts.map(([before, answer]) => `${before}\\boxed{${answer}}`).join('')
          const masked = maskAnswers(text)
          expect(masked).toBe(
            parts.length === 0 ? '' : parts.map(([before]) => `${before}\\boxed{[hidden]}`).join(''),
          )
          expect(maskAnswers(masked)).toBe(masked)
        },
      ),
    )
  })

  it('is looked for in any text, in time that grows with it alone', () => {
    for (const piece of ['\\boxed{', '\\boxed', '{', '<answer>', 'answer is ', '\\boxed{}', '}'])
      expect(maskAnswers(piece.repeat(50_000)).length).toBeLessThan(50_000 * 40)
  })
})
