/**
 * @file How logic problems are shown to a policy and its tokens read back: the miniature's words, or prompts of our own words through
 * a chat model's template.
 */

import type { ChatMessage } from '../../chat/chat-model.ts'
import { printFormula } from '../../grade/logic/formula.ts'
import type { ChatFormat, TokenText } from '../../model/chat-format.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { LogicTaskExample } from './example.ts'
import { decodeLogicWithOffsets, encodePrompt, encodeResponse } from './format.ts'
import { LOGIC_TOKENS, WORD_COUNT } from './vocabulary.ts'

const OUTPUT_RULES = `Work in numbered steps, one statement a line, each step following from the premises alone.
Write a step either as a plain sentence or as a formula with forall, exists, &, |, ->, <-> and ~.
After a step you may name the rule in brackets, with what it uses: [mp; p2, s1].
Known rules: premise, mp (modus ponens), mt (modus tollens), ui (universal instantiation), and-i, and-e, or-i, or-e, ds, hs, contra, dneg.

Answer in exactly this form:
<reasoning>
1. first step
2. second step
</reasoning>
<answer>LABEL</answer>`

/** Task, labels and the step grammar. */
export const SYSTEM_PROMPT = `You decide whether a conclusion follows from premises.
True: it follows. False: its opposite follows. Unknown: neither does.
LABEL is True, False or Unknown.

${OUTPUT_RULES}`

type Shown = Pick<LogicTaskExample, 'premises' | 'conclusion'>
type ShownFormally = Shown & Pick<LogicTaskExample, 'premisesFol' | 'conclusionFol'>

const problemPrompt = ({ premises, conclusion }: Shown, head: string, below: (i: number) => string[]) =>
  [
    head,
    ...premises.flatMap((premise, i) => [`p${i + 1}. ${premise}`, ...below(i)]),
    '',
    `Conclusion: ${conclusion}`,
    ...below(premises.length),
  ].join('\n')

/** The premises, numbered so that steps can cite them, and the conclusion. */
export const premisesPrompt = (problem: Shown): string => problemPrompt(problem, 'Premises:', () => [])

/** The same with the formula of each sentence below it, so that steps can be written in their names. */
const userPromptWithFormulas = (problem: ShownFormally): string => {
  const formulas = [...problem.premisesFol, problem.conclusionFol]
  return problemPrompt(problem, 'Premises, each with its formula:', i =>
    formulas[i] === null ? [] : [`    ${printFormula(formulas[i])}`],
  )
}

/** The two directions between a problem and a policy's tokens. */
export interface LogicFormat {
  prompt(problem: LogicTaskExample): TokenIds
  /** The prompt as a person reads it. */
  show(problem: LogicTaskExample): string
  read(tokens: ArrayLike<number>): TokenText
  /** Tokens of the gold response; null or absent where that is not known. */
  goldTokens?(problem: LogicTaskExample): number | null
  stopTokens: readonly number[]
}

/** Word-level tokens of the small model. @param vocabulary how many of them it has */
export const miniatureFormat = (vocabulary = WORD_COUNT): LogicFormat => ({
  prompt: problem => encodePrompt(problem, vocabulary),
  goldTokens: problem => (problem.proof ? encodeResponse(problem, vocabulary).length : null),
  show: ({ context, conclusion }) => `${context}\nQuestion: ${conclusion}`,
  read: tokens => decodeLogicWithOffsets(tokens),
  stopTokens: [LOGIC_TOKENS.eos],
})

/** What a chat model is told of a problem: our system prompt, and the problem as the user's turn. */
const logicMessages = (problem: LogicTaskExample, { formulas }: ShownFormulas = {}): ChatMessage[] => [
  { role: 'system', content: SYSTEM_PROMPT },
  { role: 'user', content: (formulas === 'shown' ? userPromptWithFormulas : premisesPrompt)(problem) },
]

/** A pretrained chat model: our system prompt, the problem as the user's turn, the model's own template. */
export const chatLogicFormat = (
  { encode, read, stopTokens }: ChatFormat,
  shown: ShownFormulas,
): LogicFormat => ({
  prompt: problem => encode(logicMessages(problem, shown)),
  show: problem => logicMessages(problem, shown)[1].content,
  read,
  stopTokens,
})

/** Whether a chat prompt shows formulas beside the sentences; absent: hidden. */
export interface ShownFormulas {
  formulas?: 'hidden' | 'shown'
}

/** How a problem is shown: the small model's word-level tokens, or a chat prompt through the model's own template. */
export type PromptKind = 'miniature' | 'chat'
