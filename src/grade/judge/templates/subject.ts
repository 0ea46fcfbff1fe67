/** @file What is judged, as the judge sees it: the part of the prompt that all criteria of a response share. */

import type { Quote } from '../../../util/untrusted.ts'
import type { GradeItem } from '../../grader.ts'

export interface SubjectOptions {
  /** System messages usually tell the policy how to answer and would leak the rubric or its hints; default false. */
  showSystem?: boolean
  /** Show the item's reference answer; default false. */
  showReference?: boolean
}

/** Messages of the conversation that the judge sees (RuscaRL's grader leaves system messages out). */
export const shownMessages = (item: GradeItem, { showSystem = false }: SubjectOptions) =>
  showSystem ? item.prompt : item.prompt.filter(({ role }) => role !== 'system')

/**
 * Conversation, reply and reference, each quoted. It stands first in the prompt and is the same for every criterion, so that a
 * server's prefix cache computes it once.
 */
export const renderSubject = (item: GradeItem, options: SubjectOptions, quote: Quote): string => {
  const turns = shownMessages(item, options).map(({ role, content }) => quote(content, role))
  const parts = [
    'The conversation so far:',
    ...turns,
    'The reply to examine:',
    quote(item.response, 'response'),
  ]
  if (options.showReference && item.reference !== undefined)
    parts.push(
      'A reference answer, for facts only; the reply may be worded and ordered differently:',
      quote(item.reference, 'reference'),
    )
  return parts.join('\n')
}
