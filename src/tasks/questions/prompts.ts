/** @file What a policy is asked: to think a question through, and to write a rubric for such thinking (content of spec appendix A, our words). */

import type { ChatMessage } from '../../chat/chat-model.ts'
import { PROPOSAL_CATEGORIES } from '../../grade/proposal/format.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { fillPrompt } from '../../util/prompt-setting.ts'
import { escapeUntrusted, QUOTING_NOTE, quoteUntrusted } from '../../util/untrusted.ts'
import type { RolePrompts } from './config.ts'
import { letterOf, type Question, questionText } from './question.ts'

const BY_STEPS = 'Reason step by step.'

const ANSWER: Record<Question['kind'], (question: Question) => string> = {
  math: () => `${BY_STEPS} Put your final answer inside \\boxed{}.`,
  choice: ({ options = [] }) =>
    `${BY_STEPS} Put the letter of the right option, from A to ${letterOf(options.length - 1)}, inside \\boxed{}.`,
  'yes-no': () => `${BY_STEPS} Put your final answer, yes or no, inside \\boxed{}.`,
  open: () => '',
}

const THINK_FIRST =
  'First think the task through between <think> and </think>. Give your answer after that; it is read without the thinking.'

/** Hints may be a policy's own words: one line each, and no tags or control tokens; `x < 3` stays. */
const hintLine = (text: string): string =>
  escapeUntrusted(text.replace(/\s+/g, ' ').trim()).replace(/&lt;(?=[\s=\d])/g, '<')

const numbered = (criteria: readonly Criterion[]): string =>
  criteria.map(({ text }, index) => `${index + 1}. ${hintLine(text)}`).join('\n')

/** Criteria as guidance, without their points: those to meet, those to avoid (RLCER; content of RuscaRL Box D.2). */
export const hintText = (hints: readonly Criterion[]): string => {
  const meet = hints.filter(({ points }) => points > 0)
  const avoid = hints.filter(({ points }) => points < 0)
  if (meet.length + avoid.length === 0) return ''
  return [
    'Let the following guide how you think about it.',
    ...(meet.length > 0 ? [`DO: good thinking meets these.\n${numbered(meet)}`] : []),
    ...(avoid.length > 0 ? [`AVOID: thinking is worse for any of these.\n${numbered(avoid)}`] : []),
    'Work the way you would without this list: follow it, but do not name it, quote it, or say that you were given guidance.',
  ].join('\n\n')
}

export interface ReasonerOptions {
  /** Say that thinking goes between tags: for models whose template does not see to that. Default false. */
  askToThink?: boolean
  prompts?: RolePrompts
}

/** The question, how to answer it, and hints behind it where there are some (RLCER Fig. 8). */
export const reasonerMessages = (
  question: Question,
  hints: readonly Criterion[] = [],
  { askToThink = false, prompts }: ReasonerOptions = {},
): ChatMessage[] => {
  const [shown, instructions] = [questionText(question), ANSWER[question.kind](question)]
  const parts = [
    ...(prompts?.reasoner === undefined
      ? [shown, instructions]
      : [fillPrompt(prompts.reasoner, { question: shown, instructions })]),
    ...(askToThink ? [THINK_FIRST] : []),
    hintText(hints),
  ]
  return [{ role: 'user', content: parts.filter(part => part !== '').join('\n\n') }]
}

const ABOUT: Record<(typeof PROPOSAL_CATEGORIES)[number], string> = {
  'problem decomposition and planning':
    'is the problem taken apart into parts of a workable size, in a sensible order, with a plan for getting from them to the goal?',
  'backtracking, self-validation and error handling':
    'are results checked on the way, errors noticed and traced, dead ends left and mended instead of carried along?',
  'reasoning clarity and flow':
    'does each step follow from the ones before and lead to the next, in plain terms and with the connections said?',
  'reasoning focus and efficiency':
    'does it keep to the goal, without detours, repetition, or more thinking than the problem needs?',
  'other question-specific aspects':
    'are the methods of the field chosen and used that fit this very question and its structure?',
}

const EXAMPLE = {
  question_domain: 'math/number theory',
  rubrics: [
    { category: PROPOSAL_CATEGORIES[0], criterion: '...', points: 4 },
    { category: PROPOSAL_CATEGORIES[1], criterion: '...', points: 5 },
    { category: PROPOSAL_CATEGORIES[2], criterion: '...', points: 2 },
    { category: PROPOSAL_CATEGORIES[3], criterion: '...', points: -3 },
    { category: PROPOSAL_CATEGORIES[4], criterion: '...', points: -4 },
  ],
  maximum_score: 11,
  minimum_score: -7,
  current_score: 1,
}

const INSTRUCTIONS = [
  'You are an expert in educational assessment who designs rubrics. Below are a question and how one student responded to it. Write a rubric by which anybody’s reasoning about this question can be assessed.',
  'The response is some student’s, not a model answer, and not necessarily a good one. Give credit for what is good about it, but look above all for what could be better.',
  'Each criterion must be',
  '- specific: it says plainly what has to be there for it to hold;',
  '- binary: a reader of a response can say true or false, and nothing in between;',
  '- part of a whole: together the criteria cover all that good reasoning about this question takes.',
  'Sort every criterion into one of these categories, written exactly so:',
  ...PROPOSAL_CATEGORIES.map((category, index) => `${index + 1}. ${category}: ${ABOUT[category]}`),
  'Rules:',
  '- 5 to 15 criteria in all.',
  '- Points are whole numbers by importance: 1 to 5 for a reward, -5 to -1 for a penalty. The text of a reward states a merit of the reasoning; the text of a penalty states a flaw or failure, so that it is true when the flaw is there.',
  '- Write for this question, but also for the responses of other students. "Leaves the case of equality out" can be asked of anybody; "does not correct the slip in line 25" can not. Do not let this one response limit the rubric: think first what you would ask if you had not seen it.',
  '- Assess the way of reasoning. A criterion that merely says that the final answer is right is of no use.',
  '- Name the domain of the question in two levels, as in "math/geometry".',
  '- maximum_score is the sum of all positive points, minimum_score the sum of all negative points, and current_score what this response earns by your rubric: the sum of the points of all criteria that are true of it.',
  '- current_score must lie strictly below the middle, (maximum_score + minimum_score) / 2. If it does not, the rubric leaves no room for improvement: think of further criteria that this response fails, and add them.',
]

const FORM = ['The rubric is one JSON object of this form:', JSON.stringify(EXAMPLE, null, 1)].join('\n')

/** What is the same for all comes first, so that it is computed once. */
const RUBRICATOR = [
  INSTRUCTIONS.join('\n'),
  FORM,
  QUOTING_NOTE,
  'The question:\n{question}',
  'The student’s response:\n{response}',
  'Answer with that JSON object, and with nothing before or after it.',
].join('\n\n')

/** Asks for a rubric for the thinking about a question, given one response to it (RLCER Fig. 9). @param prompts in place of ours */
export const rubricatorMessages = (
  question: Question,
  response: string,
  { rubricator }: RolePrompts = {},
): ChatMessage[] => {
  const prompt = rubricator === undefined ? RUBRICATOR : `${QUOTING_NOTE}\n\n${rubricator}`
  const quoted = {
    question: quoteUntrusted(questionText(question), 'question'),
    response: quoteUntrusted(response, 'response'),
  }
  return [{ role: 'user', content: fillPrompt(prompt, quoted) }]
}

const LEFT_OUT = '\n[... left out ...]\n'

/** The text without its middle, so that about `characters` are left; the text itself where it has no more. */
export const withoutMiddle = (text: string, characters: number): string => {
  if (text.length <= characters) return text
  const kept = Math.max(0, characters - LEFT_OUT.length)
  const head = Math.ceil(kept / 2)
  // No half of a character at the seams.
  const before = text.slice(0, head).replace(/[\ud800-\udbff]$/, '')
  const behind = text.slice(text.length - (kept - head)).replace(/^[\udc00-\udfff]/, '')
  return `${before}${LEFT_OUT}${behind}`
}
