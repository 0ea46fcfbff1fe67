/** @file Whether the answer of a response is the right one, by the kind of its question. */

import { labelIn } from '../../grade/logic/answer.ts'
import { gradeMath } from '../../grade/math/index.ts'
import { announcedAnswer, choiceOf, normaliseAnswer } from '../../grade/rules/answers.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import { letterOf, type Question } from './question.ts'

/** Id of the verdict on a question that has one right answer. */
const ANSWER_CRITERION = 'answer'

/** What a response gave, and whether it is right; null where the two could not be compared. */
interface Given {
  answer: string | null
  right: boolean | null
}

const TEX_TEXT = /\\(?:text|textbf|textit|mathrm|mathbf)\s*\{([^{}]*)\}/g

/** Without the commands that set a text in TeX. */
export const plainText = (text: string): string => text.replace(TEX_TEXT, '$1')

/** The letter that an answer names, or of the option that it repeats; null for none. A letter alone is one, also where options are letters. */
const chosenLetter = (options: readonly string[], given: string): string | null => {
  const text = normaliseAnswer(plainText(given))
  const named = choiceOf(text)?.toUpperCase()
  const letter = options.map((_, at) => letterOf(at)).find(own => own === named) ?? null
  const place = options.findIndex(option => normaliseAnswer(option) === text)
  return place >= 0 && letter !== text.toUpperCase() ? letterOf(place) : letter
}

const YES_NO: Readonly<Record<string, string>> = { True: 'yes', False: 'no' }

const READ: Record<Exclude<Question['kind'], 'open'>, (question: Question, text: string) => Given> = {
  math: ({ gold = '' }, text) => {
    const { equal, answer } = gradeMath(gold, text)
    return { answer, right: equal }
  },
  choice: ({ gold, options = [] }, text) => {
    const given = announcedAnswer(text)
    const answer = given === null ? null : chosenLetter(options, given)
    return { answer, right: answer === gold }
  },
  'yes-no': ({ gold }, text) => {
    const label = labelIn(plainText(announcedAnswer(text) ?? ''))
    const answer = label === null ? null : (YES_NO[label] ?? label)
    return { answer, right: answer === gold }
  },
}

const SHOWN_CHARACTERS = 100

/**
 * The verdict on a text that holds the answer. A choice or a label has to be announced: boxed, tagged, or behind "answer is".
 * An answer that could not be compared with the right one has no verdict.
 * @param text null where there is no answer, which is wrong
 */
export const answerVerdict = (question: Question, text: string | null): Verdict => {
  const verdict = { criterionId: ANSWER_CRITERION, source: 'rule' as const }
  if (question.kind === 'open' || text === null)
    return { ...verdict, met: false, explanation: 'there is no answer' }
  const { answer, right } = READ[question.kind](question, text)
  const explanation =
    answer === null
      ? 'no answer found'
      : `answered ${answer.slice(0, SHOWN_CHARACTERS)}, not ${question.gold}`
  return right === true ? { ...verdict, met: true } : { ...verdict, met: right, explanation }
}
