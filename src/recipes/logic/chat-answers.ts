/** @file Answers to logic problems by a chat model that has words alone: no tokens, no template of ours. */

import pMap from 'p-map'
import type { ChatModel } from '../../chat/chat-model.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { logicMessages, type ShownFormulas } from '../../tasks/logic/prompts.ts'
import { seedNumber } from '../../util/rng.ts'
import type { Answerer } from './evaluate.ts'

/** Beyond what the model is asked at a time no request waits inside it. */
const WAITING = 2

/**
 * Each answer is a call of its own, greedy ones too. @param concurrency calls that the model is asked at a time
 * @throws JudgeError where there is no answer to be had
 */
export const chatAnswers =
  (model: ChatModel, concurrency: number, shown: ShownFormulas): Answerer =>
  (problems, count, { maxTokens, temperature, topP, seed }) => {
    const calls = problems.flatMap((problem, p) =>
      Array.from({ length: count }, (_, index) => ({ problem, name: `${seed}/${p}/${index}` })),
    )
    const ask = async ({ problem, name }: { problem: LogicTaskExample; name: string }) => {
      const messages = logicMessages(problem, shown)
      const own = { messages, maxTokens, temperature, topP, seed: seedNumber(name) }
      return (await model.complete(own)).text
    }
    return pMap(calls, ask, { concurrency: WAITING * concurrency })
  }
