/** @file A chat model as whoever asks it sees it: messages in; text, usage and why it ended out. */

/** A message of a conversation. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** A JSON Schema that the answer must follow, where the server can enforce it. */
export interface AnswerSchema {
  name: string
  schema: Readonly<Record<string, unknown>>
}

export interface ChatRequest {
  messages: readonly ChatMessage[]
  maxTokens?: number
  temperature?: number
  topP?: number
  topK?: number
  presencePenalty?: number
  seed?: number
  stop?: readonly string[]
  answerSchema?: AnswerSchema
  /** Asks for the log-probs of the generated tokens, with so many alternatives each. */
  topLogprobs?: number
  signal?: AbortSignal
}

/** Tokens of a call; null where the server does not say. */
export interface ChatUsage {
  promptTokens: number | null
  completionTokens: number | null
  /** Of the prompt, served from the server's prefix cache. */
  cachedTokens: number | null
}

export interface TokenLogprob {
  token: string
  logprob: number
  top: readonly { token: string; logprob: number }[]
}

export interface ChatResponse {
  text: string
  /** As the server spells it: `stop`, `length`, `content_filter`, ... */
  finishReason: string
  usage: ChatUsage
  logprobs?: readonly TokenLogprob[]
  /** The model that really answered, where the server says so. */
  model?: string
  /** Attempts that it took; absent: one. */
  attempts?: number
  /** By the prices of the endpoint that answered; absent where these or its tokens are not known. */
  cost?: number
}

/** Anything that answers a conversation. A test's own takes five lines. */
export interface ChatModel {
  /** Name of the model: part of every cache key, so two models must never share one. */
  readonly name: string
  /**
   * What changes its answers besides its name and the request: settings that it adds to every request or leaves out of it, as
   * text that is the same for the same settings. Part of every cache key, so never a secret. Absent or empty: nothing.
   */
  readonly variant?: string
  /** @throws JudgeError (see errors) when there is no answer to be had after all attempts. */
  complete(request: ChatRequest): Promise<ChatResponse>
  close?(): Promise<void>
}
