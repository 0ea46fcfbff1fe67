import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { THINKING_CATEGORIES } from '../thinking-grammar/grammar.ts'
import { rubricHabitsSchema } from '../thinking-grammar/rubricator.ts'
import { DEFAULT_ERRORS, demonstrate, drawHabits } from './demonstrations.ts'
import { ARITHMETIC_GRAMMAR, evidenceOf, isMet, OUTCOME_PREDICATES, PREDICATES } from './predicates.ts'
import { type ArithmeticProblem, arithmeticProblem } from './problem.ts'
import { arithmeticRubricator } from './rubricator.ts'

const HABITS = rubricHabitsSchema.parse({})

/** 7 + 5 * 3 - 4: 2, 6, 2 */
const problem: ArithmeticProblem = {
  id: 'p',
  start: 7,
  operations: [
    { operator: '+', operand: 5 },
    { operator: '*', operand: 3 },
    { operator: '-', operand: 4 },
  ],
}

const met = (criterion: string, thinking: string, answer: number | null = null) =>
  isMet(ARITHMETIC_GRAMMAR.read(criterion)!, evidenceOf(problem, thinking, answer))

const CAREFUL = '7 + 5 = 2\n2 * 3 = 6\n6 - 4 = 2'
const MERGED = '7 + 5 * 3 = 6\n6 - 4 = 2'
const JUMPED = 'so 6\n6 - 4 = 2'
const CHECKED = 'plan 3 steps\n7 + 5 = 3\ncheck 7 + 5 = 2\n2 * 3 = 6\ncheck 2 * 3 = 6\n6 - 4 = 2'

/** Criterion, thinking that meets it, thinking that does not. */
const CASES: readonly [string, string, string][] = [
  ['says how many steps it takes', CHECKED, CAREFUL],
  ['plans 3 steps', CHECKED, 'plan 4 steps'],
  ['plans as many steps as there are operations', CHECKED, 'plan 4 steps'],
  ['plans more steps than there are operations', 'plan 4 steps', CHECKED],
  ['plans fewer steps than there are operations', 'plan 2 steps', CHECKED],
  ['does one operation a step', CAREFUL, JUMPED],
  ['does two operations in one step', MERGED, CAREFUL],
  ['does three operations in one step', '7 + 5 * 3 - 4 = 2', MERGED],
  ['shows every operation', MERGED, JUMPED],
  ['leaves an operation out', JUMPED, MERGED],
  ['has as many steps as there are operations', CAREFUL, MERGED],
  ['has at least 3 steps', CAREFUL, MERGED],
  ['restates the question', 'given 7 + 5 * 3 - 4', CAREFUL],
  ['begins with the first number', CAREFUL, JUMPED],
  ['shows the operation * 3 by itself', CAREFUL, MERGED],
  ['takes the operations in order', CAREFUL, '6 - 4 = 2\n7 + 5 = 2'],
  ['checks a step', CHECKED, CAREFUL],
  ['checks at least 2 steps', CHECKED, '7 + 5 = 2\ncheck 7 + 5 = 2\ncheck 7 + 5 = 2'],
  ['checks every step', '7 + 5 = 2\ncheck 7 + 5 = 2', CHECKED],
  ['checks every multiplication', CHECKED, CAREFUL],
  ['checks the first step', CHECKED, CAREFUL],
  ['checks the last step', '7 + 5 = 2\ncheck 7 + 5 = 2', CHECKED],
  ['checks step 2', CHECKED, '7 + 5 = 2\ncheck 7 + 5 = 2\n2 * 3 = 6'],
  ['checks a step twice', '7 + 5 = 2\ncheck 7 + 5 = 2\ncheck 7 + 5 = 2', CHECKED],
  ['a check finds an error', CHECKED, '7 + 5 = 2\ncheck 7 + 5 = 2'],
  ['goes on from a corrected result', CHECKED, '7 + 5 = 3\ncheck 7 + 5 = 2\n3 * 3 = 9'],
  ['finds an error and goes on from the wrong result', '7 + 5 = 3\ncheck 7 + 5 = 2\n3 * 3 = 9', CHECKED],
  ['never checks anything', CAREFUL, CHECKED],
  ['a check changes the calculation', '7 + 5 = 2\ncheck 7 + 5 * 3 = 6', CHECKED],
  ['each step begins with the result before it', CHECKED, '7 + 5 = 2\n3 * 3 = 9'],
  ['a step begins with another number than the result before it', '7 + 5 = 2\n3 * 3 = 9', CHECKED],
  ['step 2 begins with the result before it', CHECKED, '7 + 5 = 2\n3 * 3 = 9'],
  ['gives every result by a calculation', MERGED, JUMPED],
  ['states a result without a calculation', JUMPED, MERGED],
  ['every line is a calculation', CAREFUL, CHECKED],
  ['says clearly', 'clearly', 'easy'],
  ['says easy', 'easy', 'clearly'],
  ['says well', 'well', 'clearly'],
  ['shows doubt', 'hmm', 'clearly'],
  ['has a line that makes no sense', 'banana', CAREFUL],
  ['writes single digits', CAREFUL, '7 + 5 = 12'],
  ['has at most 2 steps', MERGED, CAREFUL],
  ['has at most 3 lines', CAREFUL, CHECKED],
  ['has at least 4 lines', CHECKED, CAREFUL],
  ['repeats a step', `${CAREFUL}\n6 - 4 = 2`, CAREFUL],
  ['repeats nothing', CAREFUL, `${CAREFUL}\n6 - 4 = 2`],
  ['has no idle words', CAREFUL, 'hmm'],
  ['has idle words', 'hmm', CAREFUL],
  ['has several idle words', 'hmm\nwell', 'hmm'],
  ['takes fewer steps than there are operations', MERGED, CAREFUL],
  ['takes more steps than there are operations', `${CAREFUL}\n6 - 4 = 2`, CAREFUL],
  ['jumps to the end at once', 'so 2', JUMPED],
  ['step 1 is right', CHECKED, '7 + 5 = 3\n3 * 3 = 9'],
  ['step 1 is wrong', '7 + 5 = 3\n3 * 3 = 9', CHECKED],
  ['every multiplication before the end is right', CAREFUL, '7 + 5 = 2\n2 * 3 = 5\n5 - 4 = 1'],
  ['every addition before the end is right', CAREFUL, '7 + 5 = 3\n2 * 3 = 6'],
  ['every subtraction before the end is right', '6 - 4 = 2\n7 + 5 = 2', CAREFUL],
  ['the result of step 1 is even', CAREFUL, CHECKED],
  ['the result of step 1 is odd', CHECKED, CAREFUL],
  ['passes through 6', CAREFUL, '7 + 5 = 2\n2 * 3 = 6'],
  ['uses the digit 5', CAREFUL, JUMPED],
  ['never uses the digit 5', JUMPED, CAREFUL],
  ['has an even number of steps', MERGED, CAREFUL],
  ['has an odd number of lines', CAREFUL, MERGED],
  ['a result comes twice', '7 + 5 = 2\n2 * 1 = 2\n2 - 4 = 8', CAREFUL],
]

describe('predicates over thinking on arithmetic', () => {
  it.each(CASES)('%s', (criterion, yes, no) => {
    expect(met(criterion, yes)).toBe(true)
    expect(met(criterion, no)).toBe(false)
  })

  it('has a case for each of about sixty, but for one that the question alone decides', () => {
    const decided = new Set(CASES.map(([criterion]) => ARITHMETIC_GRAMMAR.read(criterion)!.predicate))
    expect(PREDICATES.filter(predicate => !decided.has(predicate)).map(({ sentence }) => sentence)).toEqual([
      'has more additions than multiplications',
    ])
    expect(met('has more additions than multiplications', '')).toBe(false)
    expect(PREDICATES.length).toBeGreaterThanOrEqual(60)
    for (const category of THINKING_CATEGORIES)
      expect(PREDICATES.filter(predicate => predicate.category === category).length).toBeGreaterThanOrEqual(
        10,
      )
    for (const expected of ['good', 'bad', 'neutral'] as const)
      expect(PREDICATES.filter(predicate => predicate.expected === expected).length).toBeGreaterThanOrEqual(
        10,
      )
  })

  it('keeps those that read the end apart, and a step that is the last has no right or wrong', () => {
    expect(OUTCOME_PREDICATES.every(({ outcome }) => outcome)).toBe(true)
    expect(PREDICATES.some(({ outcome }) => outcome)).toBe(false)
    expect(met('step 3 is right', CAREFUL)).toBe(false)
    expect(met('step 3 is wrong', CAREFUL)).toBe(false)
    expect(met('the answer is 2', CAREFUL, 2)).toBe(true)
    expect(met('the answer is 2', CAREFUL)).toBe(false)
    expect(met('the last step gives 2', CAREFUL)).toBe(true)
    expect(met('every step is right', CAREFUL)).toBe(true)
    expect(met('reaches the right value', JUMPED)).toBe(true)
  })

  it('has none that sees the last result but those that are about outcomes', () => {
    // Two chains of thought that differ in their last result alone: 6 - 4 = 2 and 6 - 4 = 1.
    const other = CAREFUL.replace('6 - 4 = 2', '6 - 4 = 1')
    const differs = (text: string) => met(text, CAREFUL, null) !== met(text, other, null)
    const filled = (predicate: (typeof PREDICATES)[number]) =>
      ARITHMETIC_GRAMMAR.slotsOf(predicate).length === 0
        ? [predicate.sentence]
        : Array.from({ length: 9 }, (_, i) =>
            ARITHMETIC_GRAMMAR.sentenceWith(predicate, [
              ARITHMETIC_GRAMMAR.slotsOf(predicate)[0] === 'operation' ? `+ ${i + 1}` : String(i + 1),
            ]),
          )
    expect(PREDICATES.flatMap(filled).filter(differs)).toEqual([])
    expect(OUTCOME_PREDICATES.flatMap(filled).filter(differs).length).toBeGreaterThan(2)
  })

  it('reads its own sentences with any values, and nothing else', () => {
    const rng = new Rng('sentences')
    for (let i = 0; i < 2000; i++) {
      const { text, predicate } = arithmeticRubricator.propose(arithmeticProblem('s', i), HABITS, rng)
      expect(ARITHMETIC_GRAMMAR.read(text)?.predicate).toBe(predicate)
      expect(ARITHMETIC_GRAMMAR.sentenceWith(predicate, ARITHMETIC_GRAMMAR.read(text)!.values)).toBe(text)
    }
    expect(ARITHMETIC_GRAMMAR.read('  Checks a step. ')?.predicate.sentence).toBe('checks a step')
    for (const text of [
      '',
      'checks',
      'checks step',
      'checks step x',
      'plans 12 steps',
      'checks a step and more',
    ])
      expect(ARITHMETIC_GRAMMAR.read(text)).toBeNull()
    expect(
      ARITHMETIC_GRAMMAR.slotsOf(ARITHMETIC_GRAMMAR.read('shows the operation * 3 by itself')!.predicate),
    ).toEqual(['operation'])
  })

  it('has verdicts that vary over what the teacher writes', () => {
    const varied = new Map(PREDICATES.map(({ sentence }) => [sentence, { yes: 0, no: 0 }]))
    for (let i = 0; i < 1500; i++) {
      const own = arithmeticProblem('v', i)
      const rng = new Rng(`varied/${i}`)
      const { text } = demonstrate(own, drawHabits(rng), DEFAULT_ERRORS, rng)
      const evidence = evidenceOf(own, text.slice(0, text.indexOf('</think>')), null)
      for (let k = 0; k < 12; k++) {
        const { text: criterion, predicate } = arithmeticRubricator.propose(own, HABITS, rng)
        varied.get(predicate.sentence)![isMet(ARITHMETIC_GRAMMAR.read(criterion)!, evidence) ? 'yes' : 'no']++
      }
    }
    const constant = [...varied]
      .filter(([, { yes, no }]) => yes === 0 || no === 0)
      .map(([sentence]) => sentence)
    // What only a policy does that makes things up.
    expect(constant).toEqual([
      'checks a step twice',
      'a check changes the calculation',
      'has a line that makes no sense',
      'writes single digits',
    ])
  })
})
