/** @file Arithmetic as a task: chains of operations with shown steps, answers that are right or wrong, criteria that are executed. */

import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { DataError } from '../../util/errors.ts'
import type { Problems, TaskWith } from '../task.ts'
import type { ThinkingVerifier, ThoughtResponse } from '../thinking.ts'
import { grammarVerifier } from '../thinking-grammar/grammar.ts'
import { answeredDigit, readResponse, reasonerPrompt, rubricatorPrompt } from './format.ts'
import { isRightCalculation, isSound, readThinking } from './lines.ts'
import { scriptedCorrelations, worthOf } from './population.ts'
import {
  ARITHMETIC_GRAMMAR,
  type ArithmeticPredicate,
  evidenceOf,
  PREDICATES,
  type Slot,
} from './predicates.ts'
import { type ArithmeticProblem, answerOf, arithmeticQuestionText } from './problem.ts'
import { rubricAutomaton } from './rubricator.ts'
import { ARITHMETIC_PIECES, ARITHMETIC_TOKENS } from './vocabulary.ts'

/** What stands in the places of sentences, so that each is in the bank at least once. */
const VALUES: Readonly<Record<Slot, readonly string[]>> = {
  count: ['2', '4'],
  place: ['1', '2'],
  digit: ['5'],
  operation: ['* 3'],
}

const criterion = (text: string): Criterion => ({ id: text.replace(/[^a-z0-9]+/g, '-'), text, points: 1 })

/** A sentence with each value that its place may have; sentences have one at most. */
const sentencesOf = (predicate: ArithmeticPredicate): string[] => {
  const [slot] = ARITHMETIC_GRAMMAR.slotsOf(predicate)
  return slot === undefined
    ? [predicate.sentence]
    : VALUES[slot].map(value => ARITHMETIC_GRAMMAR.sentenceWith(predicate, [value]))
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

/** Executes the sentences of the grammar. @param outcomes also those that read the last result */
export const arithmeticVerifier = (outcomes = true): ThinkingVerifier<ArithmeticProblem> =>
  grammarVerifier(
    ARITHMETIC_GRAMMAR,
    (problem, response) => evidenceOf(problem, response.thinking, answeredDigit(response)),
    outcomes,
  )

/** Right or wrong, and whether the thinking gets there step by step: verdicts `answer` and `sound`. */
const verdictsOn = (problem: ArithmeticProblem, response: ThoughtResponse): Verdict[] => {
  const right = answeredDigit(response) === answerOf(problem)
  const sound = right && isSound(problem, readThinking(problem, response.thinking))
  return [
    { criterionId: 'answer', met: right, source: 'rule' },
    { criterionId: 'sound', met: sound, source: 'rule' },
  ]
}

/**
 * Chains of operations with thinking and an answer.
 * @param outcomes whether criteria that read the last result can be decided, and written
 * @example
 * const task = arithmetic.arithmeticTask({
 *   train: [{ id: '7+5*3', start: 7, operations: [{ operator: '+', operand: 5 }, { operator: '*', operand: 3 }] }],
 * })
 * const [problem] = task.train
 * task.question(problem).endsWith('7 + 5 * 3') // true
 * const tokens = Int32Array.from(arithmetic.ARITHMETIC_PIECES.encode('\n</think>\nanswer 6'))
 * const [{ verdicts }] = await task.grade([{ problem, tokens, criteria: task.rubric(problem).criteria }])
 * verdicts[0] // { criterionId: 'answer', met: true, source: 'rule' }
 */
export const arithmeticTask = (
  problems: Problems<ArithmeticProblem> = {},
  outcomes = true,
): TaskWith<ArithmeticProblem, 'thinking' | 'rubricator'> => {
  let correlations: ReturnType<typeof scriptedCorrelations> | null = null
  return {
    ...{ train: [], tests: {}, ...problems },
    label: 'arithmetic problems',
    id: ({ id }) => id,
    question: arithmeticQuestionText,
    prompt: reasonerPrompt,
    show: tokens => ARITHMETIC_PIECES.decode(tokens),
    rubric: () => ANSWERS,
    isBinary: true,
    grade: async items =>
      items.map(({ problem, tokens }) => {
        const response = readResponse(tokens)
        return { verdicts: verdictsOn(problem, response), wellFormed: answeredDigit(response) !== null }
      }),
    shows: ({ text }) => ARITHMETIC_GRAMMAR.read(text) !== null,
    thinking: {
      read: readResponse,
      exact: arithmeticVerifier(outcomes),
      assertExecutes: assertSentence,
      stepVerdicts: async items =>
        items.map(({ problem, response }) =>
          readThinking(problem, response.thinking).steps.map(step => !step.jump && isRightCalculation(step)),
        ),
      oracle: ORACLE,
      bank: BANK,
      heldOutRubric: HELD_OUT,
      hinted: 'thinking',
    },
    rubricator: {
      masked: (_, response) => ({ ...response, text: response.thinking, answer: '' }),
      prompt: rubricatorPrompt,
      text: tokens => ARITHMETIC_PIECES.decode(tokens),
      automaton: criteria => rubricAutomaton({ criteria, outcomes }),
      worth: own => {
        correlations ??= scriptedCorrelations()
        return worthOf(own, correlations)
      },
    },
    stopTokens: [ARITHMETIC_TOKENS.eos],
    notes: [],
  }
}
