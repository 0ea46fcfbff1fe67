/** @file Conversations as prompt text: the Jinja chat template that comes with a checkpoint. */

import { join } from 'node:path'
import { CheckpointError, DataError } from '../util/errors.ts'
import { readText as readGivenText } from '../util/text-file.ts'
import { BoundedTemplate } from './bounded-template.ts'
import { hasModelFile, readModelJson, readModelText } from './model-files.ts'

/** One turn. Templates of models that use tools read more fields (`tool_calls`); they are passed on. */
export interface ChatMessage {
  role: string
  content: string
  [field: string]: unknown
}

export interface RenderOptions {
  /** End with the opening of the assistant's turn, so that the model answers. */
  addGenerationPrompt?: boolean
  /** Function signatures offered to the model. */
  tools?: readonly unknown[]
  /** Further variables that a template asks for (`enable_thinking`). */
  variables?: Readonly<Record<string, unknown>>
}

/** A parsed chat template with the special tokens that it may write. */
export class ChatTemplate {
  readonly source: string
  readonly #template: BoundedTemplate
  readonly #specials: Readonly<Record<string, string>>
  readonly #place: string

  /** @throws CheckpointError when the source is not a Jinja template. `place` names its file. */
  constructor(source: string, specials: Readonly<Record<string, string>> = {}, place = 'chat_template') {
    this.source = source
    this.#specials = specials
    this.#place = place
    try {
      this.#template = new BoundedTemplate(source)
    } catch (error) {
      throw new CheckpointError(`${place}: not a Jinja template: ${(error as Error).message}`, {
        cause: error,
      })
    }
  }

  /**
   * The prompt text of a conversation, special tokens written out (encode it without adding any).
   * @throws DataError when the template refuses the messages, for example roles that do not alternate, or does more than
   * writing them can need (`bounded-template.ts`).
   */
  render(messages: readonly ChatMessage[], options: RenderOptions = {}): string {
    const { addGenerationPrompt = false, tools, variables } = options
    try {
      return this.#template.render({
        ...this.#specials,
        ...variables,
        messages,
        tools: tools ?? null,
        add_generation_prompt: addGenerationPrompt,
      })
    } catch (error) {
      throw new DataError(`${this.#place}: chat template: ${(error as Error).message}`, {
        hint: `roles were ${messages.map(message => message.role).join(', ') || 'none'}`,
        cause: error,
      })
    }
  }
}

const templateFile = 'chat_template.jinja'
const configFile = 'tokenizer_config.json'

/**
 * The chat template of a checkpoint folder: `chat_template.jinja`, else the field of `tokenizer_config.json` (the one
 * named `default` where there are several). Null when the checkpoint has none.
 * @param file a template that is taken instead, with the special tokens of the checkpoint
 * @throws CheckpointError for a damaged file or template.
 */
export const loadChatTemplate = (dir: string, file?: string): ChatTemplate | null => {
  const configPath = join(dir, configFile)
  const config = hasModelFile(dir, configFile) ? toRecord(readModelJson(dir, configFile), configPath) : {}
  const path = file ?? join(dir, templateFile)
  const fromFile = file !== undefined || hasModelFile(dir, templateFile)
  const own = () =>
    fromFile ? readModelText(dir, templateFile) : templateOf(config.chat_template, configPath)
  const source = file === undefined ? own() : readGivenText(file)
  return source === null
    ? null
    : new ChatTemplate(source, specialTokens(config), fromFile ? path : configPath)
}

const toRecord = (value: unknown, path: string): Record<string, unknown> => {
  if (value !== null && typeof value === 'object' && !Array.isArray(value))
    return value as Record<string, unknown>
  throw new CheckpointError(`${path}: expected an object`)
}

const templateOf = (field: unknown, path: string): string | null => {
  if (field === undefined || field === null) return null
  if (typeof field === 'string') return field
  const named = Array.isArray(field) ? (field as { name?: unknown; template?: unknown }[]) : []
  const chosen = named.find(entry => entry?.name === 'default') ?? named[0]
  if (typeof chosen?.template === 'string') return chosen.template
  throw new CheckpointError(
    `${path}: chat_template: expected a template or a list of {name, template}, got ${typeof field}`,
  )
}

const specialNames = ['bos_token', 'eos_token', 'pad_token', 'unk_token'] as const

/** Templates write `bos_token` and its like by name; configs store them as text or as an object with `content`. */
const specialTokens = (config: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    specialNames.flatMap(name => {
      const value = config[name]
      const text =
        typeof value === 'string' ? value : (value as { content?: unknown } | null | undefined)?.content
      return typeof text === 'string' ? [[name, text]] : []
    }),
  )
