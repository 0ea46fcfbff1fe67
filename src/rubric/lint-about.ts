/** @file Criteria of a rubric of thinking that are about what comes after it: a judge of the thinking alone cannot see that. */

import type { Criterion } from './criterion.ts'
import { type Finding, nameOf } from './lint-finding.ts'
import { withoutAside } from './statement.ts'
import { MOST_READ } from './wording.ts'

const THING =
  '(?:answer|response|reply|output|result|conclusion|solution|value|verdict|label|choice|option|number)s?'
const RIGHT = '(?:correct|right|wrong|incorrect|accurate|true|expected|reference|gold(?:en)?|ground[- ]truth)'

// What is said of the end of a response: its last answer, in so many words, or an answer that is right or wrong.
const OUTCOME: readonly RegExp[] = [
  new RegExp(`\\b(?:final|last|closing|submitted) ${THING}\\b`, 'i'),
  new RegExp(
    `\\b${RIGHT} (?:final |numerical |last )?(?:answer|response|reply|output|conclusion|verdict|label)s?\\b`,
    'i',
  ),
  new RegExp(
    `\\b(?:reaches|arrives at|obtains|gets|ends (?:up )?(?:with|in|at|on)|concludes with|returns|yields|comes to|finishes with) (?:the |a |an )?${RIGHT} ${THING}\\b`,
    'i',
  ),
  /\\boxed\b|<\/think>|\bafter the (?:thinking|reasoning)\b/i,
  new RegExp(
    `\\b(?:answer|response|reply|output) (?:is|was|are|matches|equals|agrees with|must be|should be) (?:not )?(?:\\w+ )?(?:${RIGHT}|the (?:reference|gold|expected|key))\\b`,
    'i',
  ),
]

// The response as the one who does something: "The response states ...", "The answer names ...".
const SUBJECT = /^\s*(?:the |a |an |its )?(?:\w+ )?(?:response|answer|reply|output)\b/i

/** Work on an answer before it is given is thinking: "checks the final answer by ...". */
const WORK =
  /\b(?:(?:double-|re-?)?checks?(?:ing)?|verif(?:y|ies|ying)|validat(?:es?|ing)|confirm(?:s|ing)?|tests?(?:ing)?|substitut(?:es?|ing)|re-?(?:comput|deriv|calculat|examin|consider|visit)\w*|doubts?|question(?:s|ing)?|compar(?:es?|ing)|estimat(?:es?|ing)|revis(?:es?|ing)|plans?|outlin(?:es?|ing)|weighs?|before (?:\w+ ){0,3})\b[^.;]*$/i

/** How sure it is that a criterion is about the answer. */
export interface AboutAnswer {
  /** The words that say so. */
  words: string
  /** False where it only speaks of "the response" as if it were the thinking. */
  isOutcome: boolean
}

/**
 * Whether a criterion is about the answer and not about the thinking before it; null where it is not. Knows English. Work on an
 * answer (checking, comparing, estimating it) is thinking.
 */
export const aboutAnswer = (criterion: string): AboutAnswer | null => {
  const text = withoutAside(criterion.slice(0, MOST_READ))
  for (const pattern of OUTCOME) {
    const match = pattern.exec(text)
    if (match && !WORK.test(text.slice(0, match.index))) return { words: match[0].trim(), isOutcome: true }
  }
  const subject = SUBJECT.exec(text)
  return subject ? { words: subject[0].trim(), isOutcome: false } : null
}

/** Findings about criteria of a rubric of thinking that ask for something in the answer. */
export const lintAbout = (criteria: readonly Criterion[]): Finding[] =>
  criteria.flatMap((criterion): Finding[] => {
    const found = aboutAnswer(criterion.text)
    if (found === null) return []
    const { words, isOutcome } = found
    return [
      {
        rule: 'about-answer',
        severity: isOutcome ? 'error' : 'warning',
        criterionIds: [criterion.id],
        message: isOutcome
          ? `${nameOf(criterion)} is about the answer ("${words}"): who judges the thinking alone cannot see it, and what it rewards is being right`
          : `${nameOf(criterion)} speaks of "${words}", but only the thinking is judged by it`,
        fix: isOutcome
          ? `say in ${criterion.id} how the thinking goes about it, or move it to the rubric of the answer`
          : `say in ${criterion.id} what the thinking does`,
      },
    ]
  })
