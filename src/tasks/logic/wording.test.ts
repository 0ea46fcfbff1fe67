import { describe, expect, it } from 'vitest'
import { parseSentence } from '../../grade/logic/english.ts'
import { formulaKey } from '../../grade/logic/formula.ts'
import { generateLogicProblems } from './generator.ts'
import { canonicalWording } from './wording.ts'

describe('canonical wording', () => {
  it('says every rule in one way and leaves facts alone', () => {
    expect(canonicalWording('Wumpuses are impuses.')).toBe('Every wumpus is an impus.')
    expect(canonicalWording('Each wumpus is a zumpus.')).toBe('Every wumpus is a zumpus.')
    expect(canonicalWording('Zumpuses are not bright.')).toBe('Every zumpus is not bright.')
    expect(canonicalWording('Every zumpus is orange.')).toBe('Every zumpus is orange.')
    expect(canonicalWording('Stella is a wumpus.')).toBe('Stella is a wumpus.')
    expect(canonicalWording('Stella is not orange.')).toBe('Stella is not orange.')
  })

  it('never changes the formula, on every step of 200 proofs in both styles', () => {
    for (const style of ['real', 'shortcut-free'] as const) {
      for (const { proof } of generateLogicProblems(100, { style, labels: 'three-way' }, 'wording')) {
        for (const step of proof!) {
          expect(formulaKey(parseSentence(canonicalWording(step)))).toBe(formulaKey(parseSentence(step)))
        }
      }
    }
  })
})
