/** @file What a text says of a value to take it back: that it is not so, that it may be so, or that it is only a bound. */

import type { AnswerSpan } from './spans.ts'

type Place = Pick<AnswerSpan, 'start' | 'end'>

/** Words that deny what follows, in the languages of which answers are known to be announced. */
const NOT = String.raw`(?<!\p{L})(?:not|cannot|never|neither|nor|nicht|pas|n[ãa]o|non|nie|не)|n['’]t`
const BOUND = String.raw`(?<!\p{L})(?:between|either|below|above|under|over|beyond|exceeds?|except|excluding|other than|far from|ranges? from|(?:more|less|fewer|greater|larger|smaller|higher|lower|bigger) than)`
const WRONG = '(?:wrong|incorrect|false|mistaken|erroneous|naive|tempting)'

const endingIn = (pattern: string): RegExp => new RegExp(`(?:${pattern})[$("'“*]*$`, 'iu')

/** What stands directly before a value that is not the answer. */
const REFUTES = [
  String.raw`(?:${NOT})\s+(?:\p{L}+\s+){0,2}|(?<!\p{L})no\s+(?:es|son)\s+|不是|并非|不等于`,
  // A supposition: `if the answer is 4`, `whether it is 4`.
  String.raw`\b(?:if|whether|assum(?:e|ing)|suppos(?:e|ing))\s+(?:(?:the|that|it|this|my|his|her|our|your|answer|result|value|number)\s+){1,3}(?:is|was|were|be|equals)\s+`,
  String.raw`\b${WRONG}\s+(?:answer|result|solution|value)\s+(?:(?:is|was|of|would be)\s+)?`,
].map(endingIn)

/** What stands before a bound: `less than 4`, `between 4 and 5`, `n > 4`, `≠ 4`. */
const BOUNDS = [
  String.raw`${BOUND}\s+(?:\S{1,30}\s+(?:and|or|to)\s+)?`,
  String.raw`(?:≠|!=|\\neq?(?![a-z])|(?:^|[\s$(])(?:[a-z]\s?)?[<>])\s*`,
].map(endingIn)

/** What stands directly behind one: that it is wrong, or a difference (`4 fewer than 9`). */
const BEHIND = new RegExp(
  String.raw`^[$)"'”*\s]*(?:(?:is|are|was|were|would be|must be|gets?|can be|has to be)\s+(?:\p{L}+ly\s+)?(?:${WRONG}|rejected|discarded|extraneous|excluded|inadmissible|invalid|impossible)\b|(?:\p{L}+\s+)?(?:more|less|fewer|greater|larger|smaller) than\s+\W?\d)`,
  'iu',
)

const before = (text: string, { start }: Place): string => text.slice(Math.max(0, start - 60), start)

/** Whether a text says of a stretch of it that it is not so, or only supposes it. */
export const isRefuted = (text: string, place: Place): boolean =>
  REFUTES.some(pattern => pattern.test(before(text, place))) ||
  BEHIND.test(text.slice(place.end, place.end + 60))

/** The same, or says that it is no more than a bound. */
export const isDenied = (text: string, place: Place): boolean =>
  isRefuted(text, place) || BOUNDS.some(pattern => pattern.test(before(text, place)))

/** A clause that supposes what follows, or has others say it. */
const SUPPOSES = new RegExp(
  String.raw`(?:\b(?:if|whether|assum(?:e|ing)|suppos(?:e|ing)|(?:some|others|people|many|one might|you might)\s+(?:might\s+|may\s+|would\s+)?(?:say|think|claim|believe)s?)\b(?:(?!\bthen\b)[^.,;:!?\n]){0,60}|\b${WRONG}\s+)$`,
  'iu',
)

/** Whether what is announced at a place is only supposed there, or wrong: `If the answer is 4, ...`. */
export const isSupposed = (text: string, at: number): boolean =>
  SUPPOSES.test(text.slice(Math.max(0, at - 100), at))

/** Words before a formula that say that it is not the value, or not one alone. */
const CHANGES = new RegExp(String.raw`(?:(?:${NOT})(?:\s+\p{L}+){0,2}|不是|并非|${BOUND})$`, 'iu')

export const changesWhatFollows = (words: string): boolean => CHANGES.test(words.slice(-60))
