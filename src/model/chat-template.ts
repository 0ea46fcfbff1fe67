/** @file Conversations as prompt text: the Jinja chat template that comes with a checkpoint. */

import { join } from 'node:path'
import { CheckpointError, DataError } from '../util/errors.ts'
import { readText as readGivenText } from '../util/text-file.ts'
import { BoundedTemplate } from './bounded-template.ts'
import { hasModelFile, readModelJson, readModelText } from './model-files.ts'

/** One turn. Templates of models that use tools read more fields (`tool_calls`); they are passed on. */
export interface ChatTurn {
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
  readonly #withTools: BoundedTemplate
  readonly #specials: Readonly<Record<string, string>>
  readonly #place: string

  /**
   * @param place names its file
   * @param toolSource the template for conversations with tools, where that is another one
   * @throws CheckpointError when a source is not a Jinja template
   */
  constructor(
    source: string,
    specials: Readonly<Record<string, string>> = {},
    place = 'chat_template',
    toolSource = source,
  ) {
    this.source = source
    this.#specials = specials
    this.#place = place
    this.#template = parsed(source, place)
    this.#withTools = toolSource === source ? this.#template : parsed(toolSource, place)
  }

  /**
   * The prompt text of a conversation, special tokens written out (encode it without adding any).
   * @throws DataError when the template refuses the messages, for example roles that do not alternate, or does more than
   * writing them can need (`bounded-template.ts`).
   */
  render(messages: readonly ChatTurn[], options: RenderOptions = {}): string {
    const { addGenerationPrompt = false, tools, variables } = options
    const template = tools == null ? this.#template : this.#withTools
    try {
      return template.render({
        documents: null,
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

const parsed = (source: string, place: string): BoundedTemplate => {
  try {
    return new BoundedTemplate(source)
  } catch (error) {
    throw new CheckpointError(`${place}: not a Jinja template: ${(error as Error).message}`, { cause: error })
  }
}

const templateFile = 'chat_template.jinja'
const configFile = 'tokenizer_config.json'

/**
 * The chat template of a checkpoint folder: `chat_template.jinja`, else the field of `tokenizer_config.json` (the one
 * named `default` where there are several, and `tool_use` for conversations with tools). Null when the checkpoint has none.
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
  const place = fromFile ? path : configPath
  const toolSource = fromFile ? undefined : entryOf(config.chat_template, 'tool_use')
  return source === null ? null : new ChatTemplate(source, specialTokens(config), place, toolSource)
}

/** The template of a name, where there are several. */
const entryOf = (field: unknown, name: string): string | undefined => {
  const named = Array.isArray(field) ? (field as { name?: unknown; template?: unknown }[]) : []
  const template = named.find(entry => entry?.name === name)?.template
  return typeof template === 'string' ? template : undefined
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

/** `SPECIAL_TOKENS_ATTRIBUTES` of the transformers library, which a template sees. */
const specialNames = ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask'].map(name => `${name}_token`)

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
