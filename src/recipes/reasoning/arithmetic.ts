/** @file The arithmetic task for recipes that judge thinking: prompts, answers, and criteria that are executed exactly. */

import type { ModelConfig } from '../../model/config.ts'
import type { ModelSource } from '../../policy/local/model-source.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import {
  ARITHMETIC_GRAMMAR,
  ARITHMETIC_TOKENS,
  ARITHMETIC_VOCABULARY,
  type ArithmeticProblem,
  answerIn,
  answerOf,
  arithmeticTokenizer,
  decodeText,
  type Evidence,
  evidenceOf,
  isSound,
  questionText,
  readResponse,
  readThinking,
  reasonerPrompt,
  rubricatorPrompt,
} from '../../tasks/arithmetic/index.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import type { RubricatorTask, ThoughtItem, ThoughtResponse } from '../../tasks/thinking.ts'
import type { ModelShape } from '../../train/config.ts'
import { miniatureShape } from '../common/miniature.ts'
import { GrammarVerifier } from './grammar-verifier.ts'

/** A Llama of the given shape over the pieces of arithmetic. @throws ConfigError for heads that do not divide the width. */
export const arithmeticModelConfig = (shape: ModelShape): ModelConfig =>
  miniatureShape(shape, {
    vocabSize: ARITHMETIC_VOCABULARY.length,
    bosTokenId: ARITHMETIC_TOKENS.bos,
    eosTokenIds: [ARITHMETIC_TOKENS.eos],
  })

/** Fresh weights with the tokenizer files that make the saved checkpoint complete. */
export const freshArithmeticModel = (shape: ModelShape, seed: number | string): ModelSource => ({
  init: {
    config: arithmeticModelConfig(shape),
    seed,
    embeddingStd: shape.embeddingStd,
    files: arithmeticTokenizer(shape.maxPositions),
  },
})

/** Chains of operations with shown steps; thinking ends with `</think>`, and the answer is one digit. */
export class ArithmeticTask implements RubricatorTask<ArithmeticProblem> {
  readonly stopTokens = [ARITHMETIC_TOKENS.eos]

  name(problem: ArithmeticProblem): string {
    return problem.id
  }

  question(problem: ArithmeticProblem): string {
    return questionText(problem)
  }

  prompt(problem: ArithmeticProblem, hints?: readonly Criterion[]): TokenIds {
    return reasonerPrompt(problem, hints)
  }

  read(tokens: ArrayLike<number>): ThoughtResponse {
    return readResponse(tokens)
  }

  /** Right or wrong, and whether the thinking gets there step by step: verdicts `answer` and `sound`. */
  async gradeAnswers(items: readonly ThoughtItem<ArithmeticProblem>[]): Promise<ScoredResponse[]> {
    return items.map(({ problem, response }) => {
      const given = answerIn(response)
      const right = given === answerOf(problem)
      const sound = right && isSound(problem, readThinking(problem, response.thinking))
      const verdicts: Verdict[] = [
        { criterionId: 'answer', met: right, source: 'rule' },
        { criterionId: 'sound', met: sound, source: 'rule' },
      ]
      return { score: Number(right), verdicts, wellFormed: given !== null }
    })
  }

  masked(_problem: ArithmeticProblem, response: ThoughtResponse): ThoughtResponse {
    return { ...response, text: response.thinking, answer: '' }
  }

  rubricatorPrompt(problem: ArithmeticProblem, response: ThoughtResponse): TokenIds {
    return rubricatorPrompt(problem, response)
  }

  rubricatorText(tokens: ArrayLike<number>): string {
    return decodeText(tokens)
  }
}

/** Executes the sentences of the grammar; what is no sentence of it has no verdict. */
export class ArithmeticVerifier extends GrammarVerifier<ArithmeticProblem, Evidence> {
  constructor() {
    super(ARITHMETIC_GRAMMAR, (problem, response) =>
      evidenceOf(problem, response.thinking, answerIn(response)),
    )
  }
}
