import { describe, expect, it } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { logicSentences, parseSentence, SentenceError } from './english.ts'
import { printFormula } from './formula.ts'

const read = (text: string) => printFormula(parseSentence(text))

describe('parseSentence', () => {
  it.each([
    ['Stella is a yumpus.', 'yumpus(stella)'],
    ['Stella is not an impus.', '¬impus(stella)'],
    ['stella is bright', 'bright(stella)'],
    ['Therefore, Stella is not bright.', '¬bright(stella)'],
    ['So Stella is bright.', 'bright(stella)'],
    ['Every tumpus is not angry.', '∀x (tumpus(x) → ¬angry(x))'],
    ['Each zumpus is a numpus.', '∀x (zumpus(x) → numpus(x))'],
    ['All wumpuses are impuses.', '∀x (wumpus(x) → impus(x))'],
    ['Yumpuses are not zumpuses.', '∀x (yumpus(x) → ¬zumpus(x))'],
    ['Rompuses are not luminous.', '∀x (rompus(x) → ¬luminous(x))'],
    ['A yumpus is a zumpus.', '∀x (yumpus(x) → zumpus(x))'],
    ['No cat is a dog.', '∀x (cat(x) → ¬dog(x))'],
    ['Some cats are red.', '∃x (cat(x) ∧ red(x))'],
    ['Butterflies are insects.', '∀x (butterfly(x) → insect(x))'],
    ['Everything is red.', '∀x red(x)'],
    ['If Stella is a yumpus, then Stella is a zumpus.', 'yumpus(stella) → zumpus(stella)'],
    ['The cat eats the squirrel.', 'eat(cat, squirrel)'],
    ['The bald eagle does not like the cow.', '¬like(bald_eagle, cow)'],
    ['Bob chases the bald eagle.', 'chase(bob, bald_eagle)'],
    ['Red, cold things are round.', '∀x ((red(x) ∧ cold(x)) → round(x))'],
    ['All quiet things are rough.', '∀x (quiet(x) → rough(x))'],
    ['If something is quiet and cold then it is smart.', '∀x ((quiet(x) ∧ cold(x)) → smart(x))'],
    ['If someone is cold and not blue then they are not red.', '∀x ((cold(x) ∧ ¬blue(x)) → ¬red(x))'],
    [
      'If someone sees the cat and they are not green then they see the cow.',
      '∀x ((see(x, cat) ∧ ¬green(x)) → see(x, cow))',
    ],
    [
      'If something visits the dog and the cat is red then it likes the dog.',
      '∀x ((visit(x, dog) ∧ red(cat)) → like(x, dog))',
    ],
    [
      'If the cow is big and the cow needs the dog then the dog is red.',
      '(big(cow) ∧ need(cow, dog)) → red(dog)',
    ],
  ])('%s', (sentence, formula) => expect(read(sentence)).toBe(formula))

  it.each([
    '',
    'bright',
    'is bright',
    'Stella is',
    'Stella is not',
    'Every is bright',
    'If then',
    'Stella is bright and',
    'the is red',
    '?? !!',
    'Stella is a <answer>',
  ])('refuses %j', sentence => expect(() => parseSentence(sentence)).toThrow(SentenceError))

  for (const name of ['prontoqa/dev.jsonl', 'proofwriter/dev.jsonl']) {
    it(`reads every sentence of ${name}`, ctx => {
      const path = sharedData(name)
      if (!path) return ctx.skip('the public data is not here')
      const rows = readJsonl<{ context: string; question: string; explanation?: string[] }>(path)
      for (const row of rows) {
        const statement = row.question.slice(row.question.lastIndexOf('? ') + 2)
        for (const text of [...logicSentences(row.context), statement, ...(row.explanation ?? [])]) {
          expect(() => parseSentence(text), text).not.toThrow()
        }
      }
    })
  }
})
