/** @file The thread that makes tokens of long prompts. */

import { openWords, type WordsPlace } from '../../policy/chat/words.ts'
import { serveWork, workData } from '../../util/work-serve.ts'
import { giveWay } from '../http/give-way.ts'
import { type PromptReply, type PromptRequest, promptTokens } from './prompts.ts'

giveWay()
const words = openWords(workData() as WordsPlace)
serveWork<PromptRequest, PromptReply>(request => {
  try {
    return promptTokens(words, request)
  } catch (error) {
    return { refused: (error as Error).message }
  }
})
