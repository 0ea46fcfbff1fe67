/** @file Logic as a task whose thinking is judged: proofs in `<reasoning>`, answers in `<answer>`, criteria that are executed. */

import type { Rubric } from '../../../rubric/criterion.ts'
import type { Problems, TaskWith } from '../../task.ts'
import type { ThinkingVerifier } from '../../thinking.ts'
import { grammarVerifier } from '../../thinking-grammar/grammar.ts'
import type { LogicTaskExample } from '../example.ts'
import { LOGIC_TOKENS } from '../vocabulary.ts'
import { LOGIC_GRAMMAR, logicEvidenceOf } from './predicates.ts'
import { isProved, readLogicThinking } from './steps.ts'
import {
  LOGIC_PIECES,
  labelOf,
  logicRubricAutomaton,
  logicRubricatorPrompt,
  logicThinkingPrompt,
  readLogicResponse,
} from './text.ts'

const ANSWERS: Rubric = {
  id: 'answer',
  criteria: [{ id: 'answer', text: 'The answer is right', points: 1 }],
}

/** Executes the sentences of the grammar. @param outcomes also those that read the answer */
const logicVerifier = (outcomes = true): ThinkingVerifier<LogicTaskExample> =>
  grammarVerifier(
    LOGIC_GRAMMAR,
    (problem, response) => logicEvidenceOf(problem, response.thinking, labelOf(response)),
    outcomes,
  )

/** Problems in ProntoQA's style. @param outcomes whether criteria that read the answer can be decided, and written */
export const logicThinkingTask = (
  problems: Problems<LogicTaskExample> = {},
  outcomes = true,
): TaskWith<LogicTaskExample, 'thinking' | 'rubricator'> => ({
  ...{ train: [], tests: {}, ...problems },
  label: 'logic problems',
  id: ({ id }) => id,
  question: ({ context, question }) => `${context}\n${question}`,
  prompt: logicThinkingPrompt,
  show: tokens => LOGIC_PIECES.decode(tokens),
  rubric: () => ANSWERS,
  isBinary: true,
  /** Right or wrong, and whether the steps prove it: verdicts `answer` and `proved`. */
  grade: async items =>
    items.map(({ problem, tokens }) => {
      const response = readLogicResponse(tokens)
      const given = labelOf(response)
      const right = given === problem.label
      const proved = right && isProved(problem, readLogicThinking(problem, response.thinking))
      const verdicts = [
        { criterionId: 'answer', met: right, source: 'rule' as const },
        { criterionId: 'proved', met: proved, source: 'rule' as const },
      ]
      return { verdicts, wellFormed: given !== null }
    }),
  shows: ({ text }) => LOGIC_GRAMMAR.read(text) !== null,
  thinking: { read: readLogicResponse, exact: logicVerifier(outcomes), hinted: 'thinking' },
  rubricator: {
    masked: (_, response) => ({ ...response, answer: '' }),
    prompt: logicRubricatorPrompt,
    text: tokens => LOGIC_PIECES.decode(tokens),
    automaton: criteria => logicRubricAutomaton({ criteria, outcomes }),
  },
  stopTokens: [LOGIC_TOKENS.eos],
  notes: [],
})
