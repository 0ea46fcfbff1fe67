/** @file The format of logic problems for the model in a folder, and whether they leave it room for an answer. */

import { chatFormatOf } from '../../model/chat-format.ts'
import type { ModelConfig } from '../../model/config.ts'
import { assertRoom } from '../../policy/local/sample-request.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { TEN_KINDS_HOPS } from '../../tasks/logic/generator.ts'
import {
  chatLogicFormat,
  type LogicFormat,
  miniatureFormat,
  type PromptKind,
  type ShownFormulas,
} from '../../tasks/logic/prompts.ts'
import { ConfigError } from '../../util/errors.ts'
import { logicTokensOf } from '../common/starting-model.ts'

/**
 * The format of a kind of prompt for the model in a folder.
 * @throws CheckpointError when a chat model lacks its tokenizer or its template.
 */
export const formatFor = (prompt: PromptKind, folder: string, shown: ShownFormulas = {}): LogicFormat =>
  prompt === 'miniature'
    ? miniatureFormat(logicTokensOf(folder))
    : chatLogicFormat(chatFormatOf(folder, 'task.prompt "chat"'), shown)

/**
 * Refuses problems that leave no room for an answer.
 * @param maxTokens most tokens of an answer
 * @param section where that is set, with a dot behind it
 * @throws DataError as sampling does; ConfigError where an answer has less room than the gold proof takes
 */
export const assertProblemsFit = (
  problems: readonly LogicTaskExample[],
  format: Pick<LogicFormat, 'prompt' | 'goldTokens'>,
  maxTokens: number,
  { maxPositions }: Pick<ModelConfig, 'maxPositions'>,
  section = '',
): void => {
  for (const problem of problems) {
    assertProofFits(problem, format, maxTokens, section)
    assertRoom(`problem ${problem.id}`, format.prompt(problem).length, maxTokens, maxPositions)
  }
}

/** Of short problems any limit is taken: who wants to see them cut may. */
const assertProofFits = (
  problem: LogicTaskExample,
  format: Pick<LogicFormat, 'goldTokens'>,
  maxTokens: number,
  section: string,
): void => {
  const { hops = 0, label, id } = problem
  if (hops <= TEN_KINDS_HOPS || label === 'Unknown') return
  const needed = format.goldTokens?.(problem) ?? null
  if (needed !== null && needed > maxTokens)
    throw new ConfigError(
      `${section}maxTokens: expected at least ${needed}, which the proof of problem ${id} takes with its ${hops} hops, got ${maxTokens}`,
      {
        hint: 'a proof of h hops and its answer take up to 11 h + 11 tokens; one that states the properties it passes, 18 h + 1',
      },
    )
}
