/** @file What Ollama is told of a GGUF file: its `Modelfile`, with the model's conversations as a Go template. */

import type { ChatTemplate } from '../chat-template.ts'

/** A way of writing conversations that is known in both template languages. */
interface KnownFormat {
  /** A user's turn and the opening of the answer, as the model's template writes them. */
  asked: string
  /** A system message before it; null where the format has none. */
  system: ((text: string) => string) | null
  template: string
}

const USER = 'What is the tide?'

// The Go templates say the same as ollama/ollama, docs/template.md, does for ChatML and Llama 3.
const FORMATS: readonly KnownFormat[] = [
  {
    asked: `<|im_start|>user\n${USER}<|im_end|>\n<|im_start|>assistant\n`,
    system: text => `<|im_start|>system\n${text}<|im_end|>\n`,
    template: `{{- range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
`,
  },
  {
    asked: `<|start_header_id|>user<|end_header_id|>\n\n${USER}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n`,
    system: text => `<|start_header_id|>system<|end_header_id|>\n\n${text}<|eot_id|>`,
    template: `{{- range .Messages }}<|start_header_id|>{{ .Role }}<|end_header_id|>

{{ .Content }}<|eot_id|>
{{- end }}<|start_header_id|>assistant<|end_header_id|>

`,
  },
  {
    asked: `<start_of_turn>user\n${USER}<end_of_turn>\n<start_of_turn>model\n`,
    system: null,
    template: `{{- range .Messages }}<start_of_turn>{{ if eq .Role "assistant" }}model{{ else }}user{{ end }}
{{ .Content }}<end_of_turn>
{{ end }}<start_of_turn>model
`,
  },
]

const rendered = (template: ChatTemplate): string | null => {
  try {
    return template.render([{ role: 'user', content: USER }], { addGenerationPrompt: true })
  } catch {
    return null
  }
}

/** The system message that a template writes where a conversation has none. */
const ownSystem = ({ asked, system }: KnownFormat, text: string): string | null => {
  const [before, after] = system?.('\0').split('\0') ?? []
  const start = before === undefined ? -1 : text.indexOf(before)
  if (start < 0 || !text.endsWith(`${after}${asked}`)) return null
  return text.slice(start + before.length, text.length - asked.length - after.length)
}

/** Ollama's quotes: three, which no text within may hold, nor may one at its end be taken for a part of them. */
const quoted = (text: string): string => `"""${text.replace(/"{3,}/g, '""').replace(/"$/, '" ')}"""`

export interface ModelfileContent {
  /** The GGUF file, in the same folder. */
  file: string
  chatTemplate: ChatTemplate | null
  /** Texts of the tokens that end a response. */
  stops: readonly string[]
  maxPositions: number
}

/** Whether the Modelfile of these has a template of its own, or leaves it to Ollama. */
export const hasOwnTemplate = (template: ChatTemplate | null): boolean => formatOf(template) !== null

const formatOf = (template: ChatTemplate | null): { format: KnownFormat; text: string } | null => {
  const text = template && rendered(template)
  const format = text && FORMATS.find(({ asked }) => text.endsWith(asked))
  return format ? { format, text } : null
}

/** Tokens that Ollama sets aside for a conversation: what fits a laptop, where a model could take more. */
const CONTEXT = 8192

/** The text of a `Modelfile`. */
export const modelfileOf = ({ file, chatTemplate, stops, maxPositions }: ModelfileContent): string => {
  const known = formatOf(chatTemplate)
  const system = known && ownSystem(known.format, known.text)
  const lines = [
    `# ollama create NAME -f Modelfile`,
    `FROM ./${file}`,
    known
      ? `TEMPLATE ${quoted(known.format.template)}`
      : chatTemplate
        ? "# No TEMPLATE: this model's is none that is known in Ollama's language. Ollama looks at tokenizer.chat_template of the GGUF file."
        : 'TEMPLATE "{{ .Prompt }}"',
    ...(system ? [`SYSTEM ${quoted(system)}`] : []),
    ...stops.map(stop => `PARAMETER stop ${JSON.stringify(stop)}`),
    `PARAMETER num_ctx ${Math.min(CONTEXT, maxPositions)}`,
  ]
  return `${lines.join('\n')}\n`
}
