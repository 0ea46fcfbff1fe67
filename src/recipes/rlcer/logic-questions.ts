/** @file The logic miniature as rlcer trains on it. */

import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { LOGIC_GRAMMAR, logicRubricAutomaton } from '../../tasks/logic/thinking/index.ts'
import { LOGIC_RUBRIC_TEST_SEED, logicProblems } from '../logic-rubric-start/problems.ts'
import { LogicThinkingTask, LogicVerifier } from '../reasoning/logic.ts'
import type { RlcerConfig } from './config.ts'
import { grammarQuestions } from './grammar-questions.ts'
import type { Questions } from './questions.ts'
import type { LogicConfig } from './task-config.ts'

/** @throws ConfigError for problems that no generator can hold */
export const logicQuestions = (
  task: LogicConfig,
  config: Pick<RlcerConfig, 'seed' | 'evaluation' | 'rubricator'>,
): Questions<LogicTaskExample> => {
  const miniature = {
    name: 'logic problems',
    task: new LogicThinkingTask(),
    exact: new LogicVerifier(),
    grammar: LOGIC_GRAMMAR,
    automaton: logicRubricAutomaton,
    problemAt: logicProblems(task, `train/${config.seed}`),
    testAt: logicProblems(task, LOGIC_RUBRIC_TEST_SEED),
  }
  return grammarQuestions(task, miniature, config)
}
