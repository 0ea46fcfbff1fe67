/** @file The chat model's tokens: any text, and what a judge is always asked in one token each. */

import { REPLIES } from '../../grade/index.ts'
import { bytePairTokenizerFiles } from '../../model/byte-pair-tokenizer.ts'
import { countEach } from '../../util/descriptive.ts'
import { Rng } from '../../util/rng.ts'
import { drawDialogue } from './dialogue.ts'
import { drawJudgement } from './judged.ts'

export const TOKENS = {
  pad: '<|pad|>',
  start: '<|begin|>',
  end: '<|end|>',
  system: '<|system|>',
  user: '<|user|>',
  assistant: '<|assistant|>',
} as const

/** A turn is its role, its text, the end; roles that are not known are refused. */
export const CHAT_TEMPLATE = [
  `{{ '${TOKENS.start}' }}`,
  '{% for message in messages %}',
  "{% if message.role not in ['system', 'user', 'assistant'] %}",
  "{{ raise_exception('expected the roles system, user and assistant, got ' + message.role) }}",
  '{% endif %}',
  "{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}",
  '{% endfor %}',
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}",
].join('')

const sampleCriterion = (points: number) => ({ id: 'any', text: 'any', points })

/** The instructions of a judge, thousands of characters, and the sentences around what it is shown. */
export const JUDGE_TEXTS: readonly string[] = (() => {
  const merit = sampleCriterion(1)
  const template = REPLIES.one(REPLIES.scaleOf(merit, 'yes-no'))
  // With a mark in place of what is quoted, what is left between the marks always stands there.
  const mark = '\u0001'
  const quote = () => mark
  const shown = REPLIES.subject({ prompt: [{ role: 'user', content: '' }], response: '' }, {}, quote)
  const questions = [merit, sampleCriterion(-1)].map(criterion => template.question([criterion], quote))
  const constant = [shown, ...questions].flatMap(text => text.split(mark).map(part => part.trim()))
  return [template.system, ...new Set(constant.filter(text => text !== ''))]
})()

/**
 * Quotations are named by a hash of what they hold; what they hold can never close them, so the hash tells nothing here. Only after a
 * letter: what is left must not spell a special token.
 */
const QUOTATION_ID = { pattern: '(?<=[a-z])-[0-9a-f]{12}>', content: '>' }

const TEXTS = 4000

/** What the tokenizer is learnt from: conversations, and questions to a judge. */
const sampleTexts = (): Map<string, number> => {
  const id = new RegExp(QUOTATION_ID.pattern, 'g')
  const texts = Array.from({ length: TEXTS }, (_, i) => {
    const rng = new Rng(`chat tokenizer/${i}`)
    const { messages, answer } = i % 4 === 0 ? drawJudgement(rng) : drawDialogue(rng)
    return [...messages.map(({ content }) => content.replace(id, QUOTATION_ID.content)), answer]
  })
  return countEach(texts.flat())
}

/** Tokenizer files with the chat template. @param size tokens in all @param maxLength context of the model, tokens */
export const chatTokenizer = (size: number, maxLength: number): Record<string, string> =>
  bytePairTokenizerFiles(
    {
      texts: sampleTexts(),
      size,
      special: Object.values(TOKENS),
      whole: JUDGE_TEXTS,
      replaced: [QUOTATION_ID],
    },
    { maxLength, chatTemplate: CHAT_TEMPLATE },
  )
