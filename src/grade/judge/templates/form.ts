/** @file What is put to a judge and in whose words: how the subject is shown, and the templates that ask about criteria. */

import type { Criterion } from '../../../rubric/criterion.ts'
import type { Quote } from '../../../util/untrusted.ts'
import type { GradeItem } from '../../grader.ts'
import { manyCriteria, oneCriterion } from './many-criteria.ts'
import { oneWord } from './one-word.ts'
import { type AskedScale, type ReplyScale, SCALES, type Scale, type ScaleName, scaleFor } from './scale.ts'
import { type JudgeTemplate, renderSubject, type SubjectOptions } from './template.ts'

/** One way to put something to a judge. Verdicts of two forms are never mixed up: a template's name is part of their keys. */
export interface JudgeForm {
  /** The part of the prompt that all calls about an item share; it stands first. */
  subject(item: GradeItem, options: SubjectOptions, quote: Quote): string
  /** Criteria of one call share a scale. */
  scaleOf(criterion: Criterion, levels: AskedScale): Scale
  /** The template of a call about a single criterion, where calls are made so. The same object for the same scale. */
  one(scale: Scale): JudgeTemplate
  /** The template of a call about several; of one criterion, where it reads likelihoods. */
  many(scale: Scale): JudgeTemplate
}

const byScale = (make: (scale: ReplyScale) => JudgeTemplate) =>
  Object.fromEntries(Object.values(SCALES).map(scale => [scale.name, make(scale)])) as Record<
    ScaleName,
    JudgeTemplate
  >

/** A list has no first word that would be a verdict: of several criteria each is asked about alone. */
const likelihood = oneWord(SCALES.likelihood)
const ONE = { ...byScale(oneCriterion), likelihood }
const MANY = { ...byScale(manyCriteria), likelihood }

/** Replies in a conversation, judged on any scale. */
export const REPLIES: JudgeForm = {
  subject: renderSubject,
  scaleOf: scaleFor,
  one: ({ name }) => ONE[name as ScaleName],
  many: ({ name }) => MANY[name as ScaleName],
}
