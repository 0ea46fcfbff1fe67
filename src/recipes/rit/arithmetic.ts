/** @file Arithmetic as rit trains on it: answers that are right or wrong, after thinking line by line. */

import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import {
  ARITHMETIC_GRAMMAR,
  ARITHMETIC_TEST_SEED,
  type ArithmeticProblem,
  arithmeticProblem,
  decodeText,
  isRight,
  PREDICATES,
  type Predicate,
  readThinking,
  type Slot,
  sentenceWith,
  slotsOf,
} from '../../tasks/arithmetic/index.ts'
import { DataError } from '../../util/errors.ts'
import { ArithmeticTask, ArithmeticVerifier } from '../reasoning/arithmetic.ts'
import type { RitConfig } from './config.ts'
import type { RitTask } from './task.ts'

/** Problems to test on; the same for every seed. */
const TEST_PROBLEMS = 4096

/** What stands in the places of sentences, so that each is in the bank at least once. */
const VALUES: Readonly<Record<Slot, readonly string[]>> = {
  count: ['2', '4'],
  place: ['1', '2'],
  digit: ['5'],
  operation: ['* 3'],
}

const criterion = (text: string): Criterion => ({ id: text.replace(/[^a-z0-9]+/g, '-'), text, points: 1 })

/** A sentence with each value that its places may have. */
const sentencesOf = (predicate: Predicate): string[] => {
  const [slot] = slotsOf(predicate)
  return slot === undefined
    ? [predicate.sentence]
    : VALUES[slot].map(value =>
        sentenceWith(
          predicate,
          slotsOf(predicate).map(() => value),
        ),
      )
}

const BANK: readonly Criterion[] = PREDICATES.flatMap(sentencesOf).map(criterion)

/** Thinking that cannot but reach the right answer, but for its last line. */
const ORACLE: Rubric = {
  id: 'oracle',
  criteria: [
    'begins with the first number',
    'takes the operations in order',
    'shows every operation',
    'each step begins with the result before it',
    'every addition before the end is right',
    'every subtraction before the end is right',
    'every multiplication before the end is right',
  ].map(criterion),
}

const RIGHT: Criterion = { id: 'answer', text: 'The answer is right', points: 1 }
const ANSWERS: Rubric = { id: 'answer', criteria: [RIGHT] }

/** Judges that training never hears also care how an answer was reached. */
const HELD_OUT: Rubric = {
  id: 'answer and way',
  criteria: [RIGHT, { id: 'sound', text: 'The thinking gets there step by step', points: 1 }],
}

const assertSentence = ({ id, text }: Criterion): void => {
  if (ARITHMETIC_GRAMMAR.read(text) === null)
    throw new DataError(
      `criterion ${JSON.stringify(id)}: expected a sentence of arithmetic's grammar, got ${JSON.stringify(text)}`,
    )
}

export const arithmeticRit = ({
  seed,
  task: { operations, problems },
}: Pick<RitConfig, 'seed' | 'task'>): RitTask<ArithmeticProblem> => {
  const verifier = new ArithmeticVerifier()
  const drawn = (from: number | string, count: number) =>
    Array.from({ length: count }, (_, i) => arithmeticProblem(from, i, { operations }))
  return {
    task: new ArithmeticTask(),
    train: drawn(seed, problems),
    test: drawn(ARITHMETIC_TEST_SEED, TEST_PROBLEMS),
    testName: 'unseen problems',
    orderLabel: 'arithmetic problems',
    binary: true,
    verifier,
    truth: verifier,
    assertExecutes: assertSentence,
    answerRubric: () => ANSWERS,
    heldOutRubric: () => HELD_OUT,
    oracle: ORACLE,
    bank: BANK,
    stepVerdicts: async items =>
      items.map(({ problem, response }) =>
        readThinking(problem, response.thinking).steps.map(step => !step.jump && isRight(step)),
      ),
    scriptedJudges: true,
    hinted: 'thinking',
    shows: ({ text }) => ARITHMETIC_GRAMMAR.read(text) !== null,
    show: decodeText,
    notes: [],
    close: async () => {},
  }
}
