/** @file Forms of judging thinking: a question and a text of one kind, quoted, and one template whatever a call holds. */

import type { GradeItem } from '../grader.ts'
import type { JudgeForm } from '../judge/templates/form.ts'
import { type SubjectOptions, shownMessages } from '../judge/templates/subject.ts'
import type { JudgeTemplate } from '../judge/templates/template.ts'
import type { Quote } from '../judge/untrusted.ts'

/** What the two quoted parts of a subject are called, for people and as tags. */
export interface SubjectWording {
  question: string
  /** Null: nothing but the question is shown. */
  judged: { heading: string; tag: string } | null
}

/** The conversation that is asked about; a lone question is called so. */
export const questionParts = (item: GradeItem, options: SubjectOptions, quote: Quote): string[] => {
  const messages = shownMessages(item, options)
  const lone = messages.length === 1 && messages[0].role === 'user'
  return messages.map(({ role, content }) => quote(content, lone ? 'question' : role))
}

/** A form with one template for all calls: all criteria are on its scale. */
export const oneTemplateForm = (
  template: JudgeTemplate,
  { question, judged }: SubjectWording,
): JudgeForm => ({
  subject: (item, options, quote) => {
    const parts = [question, ...questionParts(item, options, quote)]
    if (judged !== null) parts.push(judged.heading, quote(item.response, judged.tag))
    return parts.join('\n')
  },
  scaleOf: () => template.scale,
  one: () => template,
  many: () => template,
})
