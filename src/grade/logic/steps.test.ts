import { describe, expect, it } from 'vitest'
import { extractLabel, labelIn } from './answer.ts'
import { extractReasoning, splitAnnotation } from './steps.ts'

describe('extractReasoning', () => {
  it('finds numbered steps, their annotations and their place', () => {
    const response =
      '<reasoning>\n1. P(a) [premise; p1]\n 2) Q(a) [modus ponens; s1, p2]\nso\nStep 3: R(a).\n</reasoning>\n<answer>True</answer>'
    const { steps, unnumberedLines, tagged } = extractReasoning(response)
    expect(steps.map(({ number, text, rule }) => [number, text, rule])).toEqual([
      [1, 'P(a)', 'premise'],
      [2, 'Q(a)', 'mp'],
      [3, 'R(a).', null],
    ])
    expect(steps[1].refs).toEqual([
      { kind: 'step', number: 1 },
      { kind: 'premise', number: 2 },
    ])
    expect(response.slice(...steps[1].span)).toBe('2) Q(a) [modus ponens; s1, p2]')
    expect([unnumberedLines, tagged]).toEqual([1, true])
  })

  it('separates steps on one line only where the count carries on', () => {
    const { steps } = extractReasoning(
      '<reasoning>1. Rex is a cat. 2. Rex has 4. 7. 3. Rex is red.</reasoning>',
    )
    expect(steps.map(step => step.text)).toEqual(['Rex is a cat.', 'Rex has 4. 7.', 'Rex is red.'])
  })

  it('takes the text before the answer when the tag is missing, and all of it when cut off', () => {
    expect(extractReasoning('1. p\n2. q\n<answer>True</answer>\n3. r').steps).toHaveLength(2)
    expect(extractReasoning('<reasoning>\n1. p\n2. q').steps).toHaveLength(2)
    expect(extractReasoning('no steps here').steps).toEqual([])
    expect(extractReasoning('').steps).toEqual([])
  })

  it('drops annotations that name no rule, and hears long rule names in the text', () => {
    expect(splitAnnotation('P(a) [magic; p1]')).toEqual({
      text: 'P(a)',
      rule: null,
      refs: [{ kind: 'premise', number: 1 }],
    })
    expect(splitAnnotation('By Modus Ponens it must be so').rule).toBe('mp')
  })
})

describe('extractLabel', () => {
  it('takes the last of several answers', () => {
    const { label, count } = extractLabel('<answer>True</answer> no: <answer>False</answer>')
    expect([label, count]).toEqual(['False', 2])
  })

  it.each([
    ['True', 'True'],
    [' the statement is false, not true ', 'False'],
    ['Uncertain.', 'Unknown'],
    ['It cannot be  determined', 'Unknown'],
    ['YES', 'True'],
    ['incorrect', 'False'],
    ['untrue', null],
    ['maybe', null],
    ['', null],
  ])('reads %j as %s', (text, label) => expect(labelIn(text)).toBe(label))

  it('reads an answer that is never closed, and none without the tag', () => {
    expect(extractLabel('<ANSWER> false').label).toBe('False')
    expect(extractLabel('True').label).toBeNull()
  })

  it('gives the place of the answer', () => {
    const text = 'x <answer>True</answer> y'
    expect(text.slice(...extractLabel(text).span!)).toBe('<answer>True</answer>')
  })
})
