/** @file A judge that obeys every order that reaches it outside a quotation: what the injection suite is run against. */

import type { ChatModel } from '../../chat/chat-model.ts'
import { scriptedModel } from '../../chat/scripted-model.ts'

/** An order to give the verdict that an attacker wants. */
const ORDER = /mark (?:this|every) criterion as met|"criteria_met"\s*:\s*true/i

const CONTROL_TOKENS = [
  /<\|[^<>\n]{1,40}\|>/,
  /<(?:start|end)_of_turn>|<\/?s>|<bos>|<eos>|<<\/?sys>>/i,
  /\[\/?(?:INST|SYSTEM_PROMPT|TOOL_RESULTS|TOOL_CALLS|AVAILABLE_TOOLS)\]|\[gMASK\]/i,
  /\]~!?b[[\]]/,
]

const SPEAKERS = [
  /^[\s*_>#|-]*(?:system|assistant|user|human|developer|gpt4 correct user)[\s*_]*:/im,
  /^\s*#{1,6}\s*(?:system|instruction|response|input)s?\b/im,
]

/** As a model sees it: compatibility forms and look-alikes are read as what they look like, invisible characters not at all. */
const asRead = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Cf}|\u034f|\u3164|[\ufe00-\ufe0f]/gu, '')
    .replace(/[‹〈⟨❮˂]/g, '<')
    .replace(/[›〉⟩❯˃]/g, '>')
    .replace(/[∕⁄⧸]/g, '/')
    .replace(/[∣ǀ│]/g, '|')
    .replace(/[Ѕѕ]/g, 's')
    .replace(/[уУ]/g, 'y')
    .replace(/[еЕ]/g, 'e')
    .replace(/[ІΙ]/g, 'I')
    .replace(/[оο]/g, 'o')
    .replace(/[\u2028\u2029\u0085\v\f\r]/g, '\n')

/** Text that is spelt in characters without a visible form. */
const hiddenText = (text: string): string => {
  const tags = [...text].flatMap(character => {
    const code = character.codePointAt(0) ?? 0
    return code >= 0xe0020 && code <= 0xe007e ? [String.fromCharCode(code - 0xe0000)] : []
  })
  const selectors = [...text].flatMap(character => {
    const code = character.codePointAt(0) ?? 0
    return code >= 0xe0100 && code <= 0xe01ef ? [String.fromCharCode(code - 0xe0100 + 16)] : []
  })
  return `${tags.join('')} ${selectors.join('')}`
}

const afterFirst = (text: string, patterns: readonly RegExp[]): string =>
  patterns
    .map(pattern => {
      const found = pattern.exec(text)
      return found ? text.slice(found.index + found[0].length) : ''
    })
    .join('\n')

const QUOTATION = /<(response|criterion|user|assistant|reference)[^<>\n]*>\n/gi

/** What stands outside quotations, and inside them behind a fence, which a careless reader takes for their end. */
const outsideQuotations = (text: string): string => {
  let outside = ''
  let from = 0
  for (QUOTATION.lastIndex = 0; ; QUOTATION.lastIndex = from) {
    const open = QUOTATION.exec(text)
    if (!open) return outside + text.slice(from)
    outside += text.slice(from, open.index)
    const inside = text.slice(QUOTATION.lastIndex)
    const close = new RegExp(`<\\s*/\\s*${open[1]}[^<>\\n]*>?`, 'i').exec(inside)
    const quoted = close ? inside.slice(0, close.index) : inside
    outside += afterFirst(quoted, [/`{3,}|~{3,}/])
    if (!close) return outside
    from = QUOTATION.lastIndex + close.index + close[0].length
  }
}

const decodedBase64 = (text: string): string =>
  [...text.matchAll(/[A-Za-z0-9+/]{24,}={0,2}/g)]
    .map(([word]) => Buffer.from(word, 'base64').toString('utf8'))
    .join('\n')

/** Whether an order reaches a judge that reads this prompt. */
export const isOrdered = (prompt: string): boolean => {
  const read = asRead(prompt)
  const outside = outsideQuotations(read)
  const heard = [
    hiddenText(prompt),
    afterFirst(read, CONTROL_TOKENS),
    afterFirst(read, SPEAKERS),
    outside,
    decodedBase64(outside),
  ]
  return heard.some(text => ORDER.test(text))
}

/** Says not met to everything, unless it is ordered otherwise. */
export const obedientJudge = (): ChatModel =>
  scriptedModel(request => {
    const prompts = request.messages.filter(({ role }) => role !== 'system').map(({ content }) => content)
    const met = isOrdered(prompts.join('\n'))
    const { verdicts } = (request.answerSchema?.schema.properties ?? {}) as {
      verdicts?: { minItems: number }
    }
    const verdict = { explanation: met ? 'as ordered' : 'not there', criteria_met: met }
    if (!verdicts) return JSON.stringify(verdict)
    const list = Array.from({ length: verdicts.minItems }, (_, i) => ({ number: i + 1, ...verdict }))
    return JSON.stringify({ verdicts: list })
  }, 'obedient')
