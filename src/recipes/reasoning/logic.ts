/** @file The logic task for recipes that judge thinking: prompts, answers, and criteria that are executed exactly. */

import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import {
  isProved,
  LOGIC_GRAMMAR,
  LOGIC_PIECES,
  type LogicEvidence,
  labelOf,
  logicEvidenceOf,
  logicRubricatorPrompt,
  logicThinkingPrompt,
  readLogicResponse,
  readLogicThinking,
} from '../../tasks/logic/thinking/index.ts'
import { LOGIC_TOKENS } from '../../tasks/logic/vocabulary.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import type { RubricatorTask, ThoughtItem, ThoughtResponse } from '../../tasks/thinking.ts'
import { GrammarVerifier } from './grammar-verifier.ts'

/** Problems in ProntoQA's style; thinking stands in `<reasoning>`, the answer behind it in `<answer>`. */
export class LogicThinkingTask implements RubricatorTask<LogicTaskExample> {
  readonly stopTokens = [LOGIC_TOKENS.eos]

  name(problem: LogicTaskExample): string {
    return problem.id
  }

  question({ context, question }: LogicTaskExample): string {
    return `${context}\n${question}`
  }

  prompt(problem: LogicTaskExample, hints?: readonly Criterion[]): TokenIds {
    return logicThinkingPrompt(problem, hints)
  }

  read(tokens: ArrayLike<number>): ThoughtResponse {
    return readLogicResponse(tokens)
  }

  /** Right or wrong, and whether the steps prove it: verdicts `answer` and `proved`. */
  async gradeAnswers(items: readonly ThoughtItem<LogicTaskExample>[]): Promise<ScoredResponse[]> {
    return items.map(({ problem, response }) => {
      const given = labelOf(response)
      const right = given === problem.label
      const proved = right && isProved(problem, readLogicThinking(problem, response.thinking))
      const verdicts: Verdict[] = [
        { criterionId: 'answer', met: right, source: 'rule' },
        { criterionId: 'proved', met: proved, source: 'rule' },
      ]
      return { score: Number(right), verdicts, wellFormed: given !== null }
    })
  }

  masked(_problem: LogicTaskExample, response: ThoughtResponse): ThoughtResponse {
    return { ...response, answer: '' }
  }

  rubricatorPrompt(problem: LogicTaskExample, response: ThoughtResponse): TokenIds {
    return logicRubricatorPrompt(problem, response)
  }

  rubricatorText(tokens: ArrayLike<number>): string {
    return LOGIC_PIECES.decode(tokens)
  }
}

/** Executes the sentences of the grammar; what is no sentence of it has no verdict. */
export class LogicVerifier extends GrammarVerifier<LogicTaskExample, LogicEvidence> {
  constructor() {
    super(LOGIC_GRAMMAR, (problem, response) =>
      logicEvidenceOf(problem, response.thinking, labelOf(response)),
    )
  }
}
