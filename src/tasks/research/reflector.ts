/**
 * @file What a reflector is asked: to look back at one attempt of its own, of which it sees the question and the trajectory and
 * nothing else (content of RubricEM; our words).
 */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { StagedRollout } from '../../grade/evolving/index.ts'
import { excerpt, renderParts, shownParts } from '../../grade/evolving/render.ts'
import { QUOTING_NOTE, quoteUntrusted } from '../../util/untrusted.ts'

const INSTRUCTIONS = [
  'You look back at an attempt at a research question, as a strict editor who writes the notes that the next attempt will work by. The attempt planned, researched with tools, reviewed what it had found, and answered. You are told nothing of how it was judged: judge by what you can see.',
  [
    'How to go about it:',
    ...[
      'Read the final answer first: is it right, and as sure of itself as its evidence allows? Does it cover what was asked? Was the research good enough for it? Is it brought together into one line, and easy to follow?',
      'Pick the two to four strengths or weaknesses that mattered most. Leave out the rest.',
      'Follow each of them back through the trajectory to where it began: the line of the plan, the call, the reading of a result, the check that was made or left out.',
      'Say only what the trajectory shows. What you cannot point at there, do not claim.',
      'A lesson must help with other questions of the kind, and say what to do when. Advice that fits everything ("be thorough") is no lesson.',
      'Do not write the answer anew, do not go on with the research, and call no tools.',
    ].map(line => `- ${line}`),
  ].join('\n'),
  [
    'Write exactly these two blocks, in this order, and nothing before, between or after them:',
    '<reflection_rubrics>',
    'What a good answer to this very question has to meet. Critical requirement: ... Analytical approach: ... Communication and structure: ... Pitfalls: ... A line or a few for each; leave out what does not matter here.',
    '</reflection_rubrics>',
    '<reflection_takeaways>',
    '- one to four lessons that carry over, a list item each',
    '</reflection_takeaways>',
  ].join('\n'),
]

/**
 * Asks for a reflection on an attempt. What tools said is in it, quoted as strangers' text, as is what the attempt itself wrote.
 * @param shownCharacters of the question and of each part of the trajectory, at most; null: all
 */
export const reflectorMessages = (
  question: string,
  attempt: StagedRollout,
  shownCharacters: number | null = null,
): ChatMessage[] => [
  { role: 'system', content: [...INSTRUCTIONS, QUOTING_NOTE].join('\n\n') },
  {
    role: 'user',
    content: [
      'The question:',
      quoteUntrusted(excerpt(question, shownCharacters), 'question'),
      'The attempt, in order:',
      ...renderParts(shownParts(attempt, shownCharacters), quoteUntrusted),
      'Now write the two blocks.',
    ].join('\n'),
  },
]
