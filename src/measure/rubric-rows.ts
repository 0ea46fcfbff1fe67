/** @file Rows of prompt and criteria, as trainings read them, and a rubric for all of them. */

import { withoutThinking } from '../model/chat-format.ts'
import { signedScore } from '../rubric/linear.ts'
import { namesOf, readConversations, sharedRubric } from '../tasks/conversation/rows.ts'
import { kindOf } from '../tasks/conversation/task.ts'
import type { MeasuredTask } from './task.ts'

/** The score is RuscaRL's (Eq. 4): points of the criteria met over all that can be had. Verdicts that are missing are left out. */
export const rubricRows = (rubric: string | null): MeasuredTask => ({
  name: 'rows',
  about:
    'Rows of prompt and criteria. The score is the points of the criteria that are met, over the points that can be had.',
  maxTokens: 512,
  primary: 'score',
  scores: {
    score: {
      words: 'rubric score',
      count: (problem, verdicts) => ({ value: signedScore(problem.rubric, verdicts).score }),
    },
  },
  read: withoutThinking,
  problems(file) {
    const rows = readConversations(file, sharedRubric({ rubric }))
    const named = namesOf(rows)
    return rows.map(row => ({
      ...row,
      rates: new Map(row.rubric.criteria.map(criterion => [criterion.id, kindOf(criterion, named)])),
    }))
  },
})
