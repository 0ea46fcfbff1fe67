import { describe, expect, it } from 'vitest'
import { extractLabel } from '../../grade/logic/answer.ts'
import { tagsOf } from '../../grade/logic/criteria.ts'
import { extractReasoning, ruleNamed, splitAnnotation } from '../../grade/logic/steps.ts'
import { premisesPrompt, SYSTEM_PROMPT } from './prompts.ts'

describe('prompts for pretrained models', () => {
  it('asks for the tags, and shows a response that the grader reads', () => {
    expect(tagsOf(SYSTEM_PROMPT)).toEqual({ present: 4, inOrder: true })
    const { steps, unnumberedLines } = extractReasoning(SYSTEM_PROMPT)
    expect(steps.map(({ number }) => number)).toEqual([1, 2])
    expect(unnumberedLines).toBe(0)
  })

  it('names the three labels and what they mean', () => {
    for (const label of ['True', 'False', 'Unknown']) {
      expect(SYSTEM_PROMPT).toMatch(new RegExp(`(?:^|[.] )${label}: `, 'm'))
      expect(extractLabel(`<answer>${label}</answer>`).label).toBe(label)
    }
  })

  it('names rules that the grader knows, and every one of them', () => {
    const listed = /^Known rules: (.*)\.$/m.exec(SYSTEM_PROMPT)![1].replace(/\s*\([^)]*\)/g, '')
    const names = listed.split(', ')
    expect(names.map(ruleNamed)).toEqual(names)
    expect([...names].sort()).toEqual('and-e and-i contra dneg ds hs mp mt or-e or-i premise ui'.split(' '))
    for (const long of ['modus ponens', 'modus tollens', 'universal instantiation'])
      expect(names).toContain(ruleNamed(long))
  })

  it('shows an annotation of the grammar', () => {
    const [annotation] = /\[[^\]]*\]/.exec(SYSTEM_PROMPT)!
    expect(splitAnnotation(`Rex is red. ${annotation}`)).toEqual({
      text: 'Rex is red.',
      rule: 'mp',
      refs: [
        { kind: 'premise', number: 2 },
        { kind: 'step', number: 1 },
      ],
    })
  })

  it('numbers the premises as steps cite them, and ends with the conclusion', () => {
    const prompt = premisesPrompt({ premises: ['Cats are red.', 'Rex is a cat.'], conclusion: 'Rex is red.' })
    expect(prompt.split('\n')).toEqual([
      'Premises:',
      'p1. Cats are red.',
      'p2. Rex is a cat.',
      '',
      'Conclusion: Rex is red.',
    ])
  })
})
