/** @file The scales of a judgement: yes or no, the likelihood of yes, levels 0 to 2, or a criterion's own scores; how to ask for each, how to read it. */

import type { Criterion } from '../../../rubric/criterion.ts'
import { creditOnScale, scaleOf } from '../../../rubric/levels.ts'
import type { Quote } from '../../../util/untrusted.ts'
import type { Parsed } from '../parse.ts'

/** One judgement as the judge gave it, before it is a verdict about a criterion. */
export interface Judgement {
  /** Null only where a scale lets a judge say that it cannot tell. */
  met: boolean | null
  /** Graded scales only: credit in [0, 1]; of a penalty it is 1 when the flaw is fully there. */
  credit?: number
  level?: 0 | 1 | 2
  explanation?: string
  /** Log-odds of yes against no as the first word, in nats, where likelihoods were asked for; not calibrated. */
  logOdds?: number
  /** By how many nats the verdict's token beat the best one for another verdict, where the server gave log-probs. */
  margin?: number
}

/** Scales of replies. */
export type ScaleName = 'yes-no' | 'likelihood' | 'levels' | 'scores'
/** Those that a judge may be asked to use. */
export type AskedScale = Exclude<ScaleName, 'scores'>
export interface ReplyScale extends Scale {
  name: ScaleName
}

export interface Scale {
  name: string
  /** Key of the verdict in the judge's JSON. */
  key: string
  /** JSON Schema of the verdict's value. */
  valueSchema: Readonly<Record<string, unknown>>
  /** The value in words, for the description of the format. */
  valueText: string
  /** Rules for the whole session. */
  rules: readonly string[]
  /** The question about one criterion. */
  question(criterion: Criterion, quote: Quote): string
  read(value: unknown, criterion: Criterion): Parsed<Judgement>
}

/** Above one half, partly met counts as met; the credit says how far. */
const graded = (credit: number, level?: 0 | 1 | 2): Parsed<Judgement> => ({
  value: { met: credit > 0.5, credit, ...(level === undefined ? {} : { level }) },
})

export const wrong = (key: string, expected: string, value: unknown): Parsed<Judgement> => ({
  problem: `${key}: expected ${expected}, got ${shortValue(value)}`,
})

/** A value of an answer, shortly; what is in an object or a list may be nested deeper than it could be written out. */
export const shortValue = (value: unknown): string => {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  // JSON has no word for it: 1e999 would be told as null.
  if (typeof value === 'number' && !Number.isFinite(value)) return 'a number that is too large'
  return value !== null && typeof value === 'object' ? 'an object' : JSON.stringify(value).slice(0, 60)
}

const YES_NO: ReplyScale = {
  name: 'yes-no',
  key: 'criteria_met',
  valueSchema: { type: 'boolean' },
  valueText: 'true or false',
  rules: [
    'A criterion with several parts holds only when every part holds; when one is missing, the verdict is false.',
    'A desirable criterion names a merit: the verdict is true when the reply has it.',
    'An undesirable criterion names a flaw: the verdict is true when the flaw is in the reply and false when it is not. You are asked whether the flaw is there, never whether the reply is good.',
  ],
  question: ({ points }) =>
    points > 0
      ? 'Is this true of the reply, all of it?'
      : 'Is this flaw in the reply? Say true when it is there and false when it is not, however good or bad the rest may be.',
  read: value =>
    typeof value === 'boolean' ? { value: { met: value } } : wrong('criteria_met', 'true or false', value),
}

/** Yes or no as well, but by the likelihood of the word: nothing is reasoned, and criteria are asked about one at a time. */
const LIKELIHOOD: ReplyScale = {
  ...YES_NO,
  name: 'likelihood',
  key: 'answer',
  valueText: 'Yes or No',
  rules: [
    'A criterion with several parts holds only when every part holds.',
    'A desirable criterion names a merit: Yes when the reply has it, No when it does not.',
    'An undesirable criterion names a flaw: Yes when the flaw is in the reply, No when it is not.',
  ],
  question: ({ points }) =>
    points > 0 ? 'Is this true of the reply, all of it?' : 'Is this flaw in the reply?',
}

const LEVELS: ReplyScale = {
  name: 'levels',
  key: 'level',
  valueSchema: { type: 'integer', enum: [0, 1, 2] },
  valueText: '0, 1 or 2',
  rules: [
    'A desirable criterion names a merit: 0 when the reply lacks it, 1 when it has part of it, 2 when it has all of it.',
    'An undesirable criterion names a flaw: 0 when the reply avoids it, 1 when it shows in part, 2 when it is plainly there. You are asked how much of the flaw is there, never how good the reply is.',
  ],
  question: ({ points }) =>
    points > 0
      ? 'How much of this does the reply have: 0 none, 1 part, 2 all?'
      : 'How much of this flaw is in the reply: 0 none, 1 part, 2 all, however good or bad the rest may be?',
  read: value =>
    value === 0 || value === 1 || value === 2
      ? graded(value / 2, value)
      : wrong('level', 'the number 0, 1 or 2', value),
}

const SCORES: ReplyScale = {
  name: 'scores',
  key: 'score',
  valueSchema: { type: 'number' },
  valueText: "a number on the criterion's scale",
  rules: [
    'Every criterion comes with a scale of its own. Give the score whose description fits the reply best; a score between two described ones is allowed where the scale has it, one off the scale is not.',
    'An undesirable criterion names a flaw: score how much of the flaw is there, never how good the reply is.',
  ],
  question: ({ levels = [], points }, quote) => {
    const { min, max } = scaleOf(levels)
    const lines = levels.map(({ low, high, text }) => `${low === high ? low : `${low} to ${high}`}: ${text}`)
    const of = points > 0 ? 'the reply' : 'how much of this flaw is in the reply'
    return `Score ${of} from ${min} to ${max} by this scale:\n${quote(lines.join('\n'), 'scale')}`
  },
  read: (value, { levels = [] }) => {
    const { min, max } = scaleOf(levels)
    return typeof value === 'number' && value >= min && value <= max
      ? graded(creditOnScale(levels, value))
      : wrong('score', `a number from ${min} to ${max}`, value)
  },
}

export const SCALES: Readonly<Record<ScaleName, ReplyScale>> = {
  'yes-no': YES_NO,
  likelihood: LIKELIHOOD,
  levels: LEVELS,
  scores: SCORES,
}

/** A criterion with scores of its own is judged on them, any other on the judge's scale. */
export const scaleFor = (criterion: Criterion, fallback: AskedScale): ReplyScale =>
  criterion.levels ? SCORES : SCALES[fallback]
