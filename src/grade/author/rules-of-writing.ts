/** @file What every prompt that asks for criteria says about how to write them. */

/** Lines about single criteria; `subject` is what they are about: the answer, the reasoning. */
export const writingRules = (subject: string, maxPoints: number): string[] => [
  `- A criterion is one sentence that is plainly true or plainly false of ${subject}. A grader who knows nothing else must be able to decide it by reading.`,
  '- One claim a criterion. Where two things are wanted, write two criteria.',
  '- Name what must be there: the value, the term, the step. Words such as good, clear, appropriate or sufficient decide nothing.',
  `- What is wanted earns 1 to ${maxPoints} points and is worded as a merit ("States that ..."). What does harm costs points, -${maxPoints} to -1, and is worded as the flaw itself ("Claims that ..."), never as what should have been done.`,
  '- The more depends on it, the more points it gets. No single criterion may outweigh all the others.',
  '- No two criteria ask for the same, none denies another, and nothing is both rewarded and its absence penalised.',
  '- Describe what is graded; never address the grader or tell it what to decide.',
]
