/** @file Who answers the problems of `gradus eval`: a checkpoint here, or a model on a server, by tokens or by words. */

import { judgeFleet } from '../../chat/index.ts'
import { modelAddress } from '../../chat/model-address.ts'
import { hasTokenizer } from '../../model/tokenizer.ts'
import { openPolicy, policySchema } from '../../policy/open.ts'
import {
  assertLogicVocabulary,
  existingModel,
  hasLogicTokenizer,
} from '../../recipes/common/starting-model.ts'
import { chatAnswers } from '../../recipes/logic/chat-answers.ts'
import { type Answerer, policyAnswers } from '../../recipes/logic/evaluate.ts'
import {
  formatFor,
  type LogicFormat,
  type PromptKind,
  type ShownFormulas,
} from '../../recipes/logic/format.ts'
import { UsageError } from '../../util/errors.ts'
import { identityOf, isServed, openServed, type ServedIdentity, type ServedModelOptions } from './served.ts'

export interface AnsweringOptions extends ServedModelOptions, ShownFormulas {
  threads: number
}

export interface Answering {
  answer: Answerer
  /** Of a model on a server. */
  served?: ServedIdentity
  close(): Promise<void>
}

/** Who answers, checked and not yet there. */
export interface Candidate {
  prompt: PromptKind
  /** @throws what loading a checkpoint throws, or ServedError */
  open(): Promise<Answering>
}

const DEFAULT_CONCURRENCY = 32
/** An answer of a thousand tokens from a busy server. */
const CHAT_TIMEOUT_MS = 600_000

/** The word-level prompt of the small model, or a chat prompt for any other tokenizer. */
const promptKind = (folder: string): PromptKind =>
  hasTokenizer(folder) && !hasLogicTokenizer(folder) ? 'chat' : 'miniature'

/** @throws CheckpointError, UsageError for a folder whose tokens the task cannot use */
const formatIn = (folder: string, shown: ShownFormulas): { prompt: PromptKind; format: LogicFormat } => {
  const prompt = promptKind(folder)
  if (prompt === 'miniature') assertLogicVocabulary(folder)
  if (prompt === 'miniature' && shown.formulas === 'shown')
    throw new UsageError('--formulas: the small model reads sentences alone', {
      hint: 'leave --formulas out',
    })
  return { prompt, format: formatFor(prompt, folder, shown) }
}

/**
 * Checks the options that say who answers.
 * @throws UsageError, CheckpointError before anything is opened
 */
export const whoAnswers = (options: AnsweringOptions): Candidate => {
  if (!isServed(options, '--model-api-key-env')) return checkpointAnswers(options)
  const { tokenizer } = options
  return tokenizer === undefined ? chatCandidate(options) : tokenCandidate(options, tokenizer)
}

const checkpointAnswers = (options: AnsweringOptions): Candidate => {
  const folder = existingModel(options.model, '--model')
  const { prompt, format } = formatIn(folder, options)
  return {
    prompt,
    async open() {
      const policy = await openPolicy(policySchema.parse({ threads: options.threads }), { folder })
      return { answer: policyAnswers(policy, format), close: () => policy.close() }
    },
  }
}

/** Exactly what a checkpoint here would be shown: prompts in tokens of ours, answers read from the tokens that come back. */
const tokenCandidate = (options: AnsweringOptions, tokenizer: string): Candidate => {
  const { prompt, format } = formatIn(existingModel(tokenizer, '--tokenizer'), options)
  return {
    prompt,
    async open() {
      const model = await openServed({ concurrency: DEFAULT_CONCURRENCY, ...options })
      return {
        answer: policyAnswers(model, format),
        served: identityOf(model, 'tokens'),
        close: () => model.close(),
      }
    },
  }
}

/** Any server with chat completions: its own template, its own tokens. */
const chatCandidate = (options: AnsweringOptions): Candidate => ({
  prompt: 'chat',
  async open() {
    const { apiKeyEnv, concurrency = DEFAULT_CONCURRENCY } = options
    // The name, and whether it is there at all.
    const listed = await openServed(options)
    await listed.close()
    const endpoint = { url: modelAddress(options.model, '--model').url, model: listed.name, concurrency }
    const fleet = judgeFleet({
      endpoints: [
        { ...endpoint, attemptTimeoutMs: CHAT_TIMEOUT_MS, ...(apiKeyEnv !== undefined && { apiKeyEnv }) },
      ],
      deadlineMs: 3 * CHAT_TIMEOUT_MS,
    })
    return {
      answer: chatAnswers(fleet, concurrency, options),
      served: identityOf(listed, 'chat'),
      close: async () => fleet.close?.(),
    }
  },
})
