/** @file Labelled verdicts as demonstrations: what a judge by likelihood is asked, and the word that would have been right. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import { DataError } from '../../util/errors.ts'
import { quoteUntrusted } from '../../util/untrusted.ts'
import type { LabelledCase } from './calibration.ts'
import { REPLIES } from './templates/form.ts'
import { judgeMessages } from './templates/template.ts'

/**
 * A labelled verdict as a row for supervised learning: the very messages that a judge with `levels: likelihood` is asked with, and
 * Yes or No. A model that learns such rows is asked with the same words when it judges.
 * @throws DataError for a criterion with scores of its own, which no single word answers
 * @example
 * const criterion = { id: 'dose', text: 'Names a dose.', points: 1 }
 * const { messages } = verdictDemonstration({ prompt: [], response: 'Take 100 mg.', criterion, label: true })
 * messages.at(-1) // { role: 'assistant', content: 'Yes' }
 */
export const verdictDemonstration = ({
  label,
  criterion,
  ...item
}: LabelledCase): { messages: ChatMessage[] } => {
  const scale = REPLIES.scaleOf(criterion, 'likelihood')
  if (scale.name !== 'likelihood')
    throw new DataError(`${criterion.id}: expected a criterion answered by yes or no, got one with levels`)
  const subject = REPLIES.subject(item, {}, quoteUntrusted)
  const asked = judgeMessages(REPLIES.one(scale), subject, [criterion], quoteUntrusted)
  return { messages: [...asked, { role: 'assistant', content: label ? 'Yes' : 'No' }] }
}
