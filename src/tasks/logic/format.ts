/** @file Problems and proofs as tokens of the small model, and tokens as text with the place of each. */

import type { LogicLabel } from '../../grade/logic/problem.ts'
import type { TokenText } from '../../model/chat-format.ts'
import type { TokenSpan } from '../../rl/datum.ts'
import { DataError } from '../../util/errors.ts'
import { remembered } from '../../util/remembered.ts'
import { describeValue } from '../../util/schema.ts'
import { SPECIAL } from '../small-vocabulary.ts'
import type { LogicTaskExample } from './example.ts'
import {
  hasPhrases,
  LOGIC_TOKENS,
  LONG_LOGIC_VOCABULARY,
  PHRASES,
  tokenId,
  WORD_COUNT,
} from './vocabulary.ts'

/** What encoding reads of a problem. */
export type EncodableProblem = Pick<LogicTaskExample, 'id' | 'premises' | 'conclusion'>

const wordTokens = (word: string): number[] | undefined => {
  const whole = tokenId(` ${word}`)
  if (whole !== undefined) return [whole]
  const stem = word.endsWith('puses') ? tokenId(` ${word.slice(0, -2)}`) : undefined
  return stem === undefined ? undefined : [stem, tokenId('es')!]
}

/** Tokens of one sentence without its full stop; null when it has a word that the vocabulary lacks. */
const wordsOf = (sentence: string): readonly number[] | null => {
  const tokens: number[] = []
  for (const word of sentence.trim().replace(/\.$/, '').toLowerCase().split(/\s+/)) {
    const found = wordTokens(word)
    if (!found) return null
    tokens.push(...found)
  }
  return tokens
}

/** Phrases by the words that they are made of, those of most words first. */
const PHRASE_WORDS = PHRASES.map(phrase => ({
  token: tokenId(phrase)!,
  words: phrase.match(/ ?[a-z]+/g)!.map(word => tokenId(word)!),
})).sort((a, b) => b.words.length - a.words.length)

/** The same text with phrases in place of their words. */
const phrased = (tokens: readonly number[]): readonly number[] => {
  const found: number[] = []
  for (let i = 0; i < tokens.length; ) {
    const phrase = PHRASE_WORDS.find(({ words }) => words.every((word, j) => tokens[i + j] === word))
    found.push(phrase?.token ?? tokens[i])
    i += phrase?.words.length ?? 1
  }
  return found
}

// Generated and ProntoQA sentences are few thousand different ones; others are refused.
const MOST_KNOWN = 20_000
const inWords = remembered(wordsOf, MOST_KNOWN)
const inPhrases = remembered(sentence => {
  const words = wordsOf(sentence)
  return words && phrased(words)
}, MOST_KNOWN)

const spell = (sentence: string, id: string, vocabulary: number): readonly number[] => {
  const tokens = (hasPhrases(vocabulary) ? inPhrases : inWords)(sentence)
  if (tokens) return tokens
  throw new DataError(`${id}: ${describeValue(sentence)} has a word that the logic vocabulary lacks`, {
    hint: 'the small model reads ProntoQA sentences only; use a tokenizer of a pretrained model for other texts',
  })
}

/** @throws DataError for a word that is in no vocabulary, or that this model lacks */
const encodeSentence = (sentence: string, id: string, vocabulary: number): readonly number[] => {
  const tokens = spell(sentence, id, vocabulary)
  const beyond = tokens.find(token => token >= vocabulary)
  if (beyond === undefined) return tokens
  const word = LONG_LOGIC_VOCABULARY[beyond].trim()
  throw new DataError(
    `${id}: expected words of the model's ${vocabulary} tokens, got ${describeValue(word)}`,
    { hint: 'start from a model of `task.vocabulary: long` (logic-cold-start), or set kinds to 10' },
  )
}

/** Whether every word of the problem is in a small model's vocabulary. @param vocabulary how many tokens that has */
export const isEncodable = (problem: EncodableProblem, vocabulary = WORD_COUNT): boolean =>
  [...problem.premises, problem.conclusion].every(sentence => {
    const words = wordsOf(sentence)
    return words?.every(word => word < vocabulary) ?? false
  })

/** The premises of a prompt: `<bos>`, then each with its full stop. @throws DataError for a word outside the vocabulary */
export const encodePremises = (
  { id, premises }: Pick<EncodableProblem, 'id' | 'premises'>,
  vocabulary = WORD_COUNT,
): number[] => [
  LOGIC_TOKENS.bos,
  ...premises.flatMap(premise => [...encodeSentence(premise, id, vocabulary), LOGIC_TOKENS.period]),
]

/**
 * The prompt: `<bos>`, each premise with its full stop, the question mark token, the statement with its full stop.
 * Text: ` every tumpus is not angry. [...] stella is a yumpus.\nquestion: stella is bright.`
 * @param vocabulary how many tokens the model has: with all of the long vocabulary phrases are one token each
 * @throws DataError for a word outside the vocabulary.
 */
export const encodePrompt = (problem: EncodableProblem, vocabulary = WORD_COUNT): number[] => {
  const { question, period } = LOGIC_TOKENS
  return [
    ...encodePremises(problem, vocabulary),
    ...[question, ...encodeSentence(problem.conclusion, problem.id, vocabulary), period],
  ]
}

/**
 * Statements as the steps of a response that goes on: `<reasoning>`, numbered steps without full stops (the next number ends
 * a step).
 * @throws DataError for a word outside the vocabulary or more steps than there are numbers.
 */
export const encodeStatements = (
  steps: readonly string[],
  id = 'response',
  vocabulary = WORD_COUNT,
): number[] => {
  const numbers = LOGIC_TOKENS.steps.filter(token => token < vocabulary).length
  if (steps.length > numbers)
    throw new DataError(`${id}: expected at most ${numbers} steps, got ${steps.length}`)
  return [
    LOGIC_TOKENS.reasoningOpen,
    ...steps.flatMap((step, index) => [LOGIC_TOKENS.steps[index], ...encodeSentence(step, id, vocabulary)]),
  ]
}

/**
 * The response that states `steps` and answers `label`: its statements, `</reasoning>`, the answer in its tags, `<eos>`.
 * @throws DataError as `encodeStatements` does.
 */
export const encodeSteps = (
  steps: readonly string[],
  label: LogicLabel,
  id = 'response',
  vocabulary = WORD_COUNT,
): number[] => {
  const { reasoningClose, answerOpen, answerClose, eos } = LOGIC_TOKENS
  return [
    ...encodeStatements(steps, id, vocabulary),
    ...[reasoningClose, answerOpen, LOGIC_TOKENS.answers[label], answerClose, eos],
  ]
}

/**
 * The gold response of a problem.
 * @throws DataError when the problem carries no proof, or as `encodeSteps` does.
 */
export const encodeResponse = (
  problem: Pick<LogicTaskExample, 'id' | 'proof' | 'label'>,
  vocabulary = WORD_COUNT,
): number[] => {
  if (!problem.proof) {
    throw new DataError(`${problem.id}: has no gold proof to encode`, {
      hint: 'only generated and ProntoQA problems carry one',
    })
  }
  return encodeSteps(problem.proof, problem.label, problem.id, vocabulary)
}

const SPECIALS = new Set<string>(SPECIAL)
/** Decoded text by token id; special tokens are silent. */
const PIECES: readonly string[] = LONG_LOGIC_VOCABULARY.map(token => (SPECIALS.has(token) ? '' : token))

/**
 * The text of tokens: their pieces one after another. Special tokens are left out, and so are ids past the last token, which a
 * model has whose table is padded. Same as the saved tokenizer's decoding with `skip_special_tokens`.
 */
export const decodeTokens = (tokens: ArrayLike<number>): string => decodeLogicWithOffsets(tokens).text

/** `decodeTokens` with the place of every token in the text, to map character spans (a step, the answer) back to tokens. */
export const decodeLogicWithOffsets = (tokens: ArrayLike<number>): TokenText => {
  const ends = new Int32Array(tokens.length)
  let text = ''
  for (let i = 0; i < tokens.length; i++) {
    text += PIECES[tokens[i]] ?? ''
    ends[i] = text.length
  }
  return { text, ends }
}

/**
 * The tokens [start, end) that share a character with the text's [from, to) span; null when none does. Pass a span
 * without the line break before a step: the step's number token then is its first.
 */
export const tokenSpan = ({ ends }: Pick<TokenText, 'ends'>, from: number, to: number): TokenSpan | null => {
  let start = -1
  let end = -1
  for (let i = 0; i < ends.length; i++) {
    const begin = i === 0 ? 0 : ends[i - 1]
    if (Math.min(ends[i], to) <= Math.max(begin, from)) continue
    if (start < 0) start = i
    end = i + 1
  }
  return start < 0 ? null : { start, end }
}
