import { describe, expect, it } from 'vitest'
import { gradeMath } from '../verify.ts'
import { extractAnswer } from './extract.ts'

describe('extractAnswer', () => {
  it.each([
    ['nested braces', 'so \\boxed{\\frac{1}{\\sqrt{2}}}.', '\\frac{1}{\\sqrt{2}}'],
    ['the last box', '\\boxed{5} no, wait: \\boxed{6}', '6'],
    ['a framed box', '$\\fbox{3}$', '3'],
    ['a box without braces', '$\\boxed 9$', '9'],
    [
      'boxes that belong together',
      '\\[ \\boxed{-2} \\quad \\text{and} \\quad \\boxed{1}. \\]',
      '-2 \\text{ and } 1',
    ],
    ['a repeated box once', '\\boxed{4}, \\boxed{4}', '4'],
    ['percent behind the box', '$\\boxed{20}$ percent', '20 \\%'],
    [
      'a final statement after the box',
      '\\boxed{200}. Final Answer: The final answer is $10,455$.',
      '$10,455$',
    ],
    ['GSM8K', 'He has 48+24 = <<48+24=72>>72.\n#### 72', '72'],
    ['answer is', 'I think the answer is 3x + 2. Or so.', '3x + 2'],
    ['answer with a colon', '**Answer:** \\(2\\pi\\)', '\\(2\\pi\\)'],
    ['a quantity in the final sentence', 'Final Answer: The volume of $ABCD$ is 120.', '120'],
    ['another language', 'Réponse: Janeth aura encore 220 $ à payer en 12 mois.', '220'],
    ['Chinese', '3+10 = 13，一共有13只。', '13'],
    ['after thinking', '<think>\\boxed{3}</think> It is \\boxed{4}', '4'],
    ['answer tags', '<answer> 3/4 </answer>', '3/4'],
    ['the last mathematics', 'Therefore $x \\geq 5$ is the solution.', ' x \\geq 5'.trim()],
    ['the last number', 'the number is not 10 which is 1,000.99€', '1,000.99'],
    ['money, not mathematics', 'She makes $18 a day, or $126 a week', '126'],
    ['a conclusion', 'Therefore, x = 2y + 1.', 'x = 2y + 1.'],
  ])('%s', (_, response, answer) => {
    expect(extractAnswer(response)).toBe(answer)
  })

  it('finds nothing where there is nothing', () => {
    expect(extractAnswer('I do not know.')).toBeNull()
    expect(extractAnswer('')).toBeNull()
  })

  it('takes nothing from inline mathematics that is broken over lines', () => {
    expect(extractAnswer('Answer $ \n 9 \n $')).toBeNull()
    expect(extractAnswer('Answer \\[ \n 9 \n \\]')?.trim()).toBe('9')
  })
})

describe('gradeMath', () => {
  it.each([
    ['\\frac{2}{3}', 'Thus, the probability is \\frac{2}{3}.', true],
    ['C', 'thinking about it I think the correct answer is C', true],
    ['B', "It's not A because it makes no sense, therefore I think it's B", true],
    ['D', "The answer is for sure D, it can't be A or B", true],
    ['A', 'The option (A) is wrong. So the answer is (B).', false],
    ['Paris', 'The answer is Paris.', true],
    ['Paris', 'The answer is London.', false],
    ['yes', '\\boxed{\\text{Yes}}', true],
    ['3', 'The minimum is -3.', false],
    ['10', 'We have 3 cats and 7 birds: 3 + 7 = 10 animals in total.', true],
  ])('%s: %s', (gold, response, equal) => {
    expect(gradeMath(gold, response).equal).toBe(equal)
  })

  it('a response without an answer is wrong, not undecided', () => {
    expect(gradeMath('5', 'I give up on this one, sorry.')).toMatchObject({ equal: false })
    expect(gradeMath('5', '')).toEqual({ equal: false, answer: null })
  })
})
