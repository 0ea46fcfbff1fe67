/** @file Questions as a task whose thinking is judged: a chat model thinks and answers, and writes rubrics for such thinking. */

import { countWords, lengthScore, longWriteScore } from '../../eval/writing.ts'
import type { Grader } from '../../grade/grader.ts'
import { announcedAnswer } from '../../grade/rules/answers.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { meanScore } from '../../rubric/linear.ts'
import { GradusError } from '../../util/errors.ts'
import { cutToRoom } from '../prompt-tokens.ts'
import type { Item, Problems, TaskWith, Verdicts } from '../task.ts'
import { partThinking, type ThoughtResponse } from '../thinking.ts'
import { answerVerdict } from './answers.ts'
import type { QuestionTaskConfig } from './config.ts'
import { maskAnswers } from './mask.ts'
import { reasonerMessages, rubricatorMessages, withoutMiddle } from './prompts.ts'
import { type Question, questionText } from './question.ts'

const CLOSE = '</think>'

/** How many of the tokens it takes until the closing tag is there. */
const throughClose = (format: ChatFormat, tokens: readonly number[]): number => {
  let [below, enough] = [0, tokens.length]
  while (enough - below > 1) {
    const middle = (below + enough) >> 1
    if (format.show(tokens.slice(0, middle)).includes(CLOSE)) enough = middle
    else below = middle
  }
  return enough
}

/** What a model wrote, parted at the end of its thinking. */
export const readThought = (format: ChatFormat, given: ArrayLike<number>): ThoughtResponse => {
  const tokens = Array.from(given)
  const { text } = format.read(tokens)
  if (text.includes(CLOSE) || !format.show(tokens).includes(CLOSE)) return partThinking(text)
  const end = throughClose(format, tokens)
  const [before, after] = [tokens.slice(0, end - 1), tokens.slice(end)].map(part => format.read(part).text)
  return partThinking(`${before}${CLOSE}${after}`)
}

export interface QuestionTaskOptions
  extends Pick<QuestionTaskConfig, 'thinkTags' | 'askToThink' | 'maxRubricatorTokens' | 'prompts'> {
  /** Grades answers to open questions by their rubrics. */
  grader?: Grader
  /** Says in training of each criterion whether it holds, 0 or 1 (RiT Eq. 5); absent: training pays what evaluation reports. */
  binary?: Grader
}

/** How often it is tried how much of a long response a prompt has room for: to a thousandth of it. */
const MOST_CUTS = 10

/** The score of an open answer, in [0, 1]: half of it for keeping to a length, where one is required; null without verdicts. */
const openScore = (
  { requiredLength }: Pick<Question, 'requiredLength'>,
  criteria: readonly Criterion[],
  verdicts: readonly Verdict[],
  answer: string,
): number | null => {
  const { score } = meanScore({ criteria: [...criteria] }, verdicts)
  if (score === null || requiredLength === undefined) return score
  return longWriteScore(lengthScore(requiredLength, countWords(answer)), 100 * score)! / 100
}

/** A criterion with a scale as one that holds or does not: what the best of its levels says has to be so. */
const binaryOf = ({ levels, text, ...criterion }: Criterion): Criterion => {
  const best = levels?.reduce((most, level) => (level.high > most.high ? level : most))
  return { ...criterion, text: best ? `${text}\nIt holds where this is so: ${best.text}` : text }
}

const NOTHING: Rubric = { criteria: [] }

/** Questions for a chat model, each with one right answer or a rubric. */
export const questionTask = (
  format: ChatFormat,
  options: QuestionTaskOptions,
  problems: Problems<Question> & { notes?: readonly string[] } = {},
): TaskWith<Question, 'thinking' | 'rubricator'> => {
  const { stopTokens } = format
  const { thinkTags, grader, binary, maxRubricatorTokens: limit } = options
  /** Where tags are optional and none closes the thinking, all is thinking, closed unless it was cut off. */
  const read = (tokens: ArrayLike<number>): ThoughtResponse => {
    const parted = readThought(format, tokens)
    if (parted.closed || thinkTags === 'required') return parted
    return { ...parted, closed: tokens.length > 0 && stopTokens.includes(tokens[tokens.length - 1]) }
  }
  /** Where the answer is; null where there is none, because thinking never ended or the response was cut off. */
  const answerOf = ({ text, answer, closed }: ThoughtResponse): string | null => {
    if (!closed) return null
    return answer === '' && thinkTags === 'optional' ? text : answer
  }
  const gradeOpen = async ({ problem, criteria, step }: Item<Question>, answer: string | null) => {
    if (answer === null || answer === '') return { score: 0, verdicts: [], wellFormed: false }
    const holds = step === undefined ? undefined : binary
    const judge = holds ?? grader
    if (judge === undefined)
      throw new GradusError(`question ${problem.id}: expected a grader for an open question, got none`)
    const item = { id: problem.id, prompt: [{ role: 'user' as const, content: questionText(problem) }] }
    const verdicts = await judge.grade(
      { ...item, response: answer },
      holds ? criteria.map(binaryOf) : criteria,
    )
    return { score: openScore(holds ? {} : problem, criteria, verdicts, answer), verdicts, wellFormed: true }
  }
  return {
    ...{ train: [], tests: {}, notes: [], ...problems },
    label: 'questions',
    id: ({ id }) => id,
    question: questionText,
    fromQuestion: question => ({ id: question, question, kind: 'math' }),
    prompt: (question, hints) => format.encode(reasonerMessages(question, hints, options)),
    show: tokens => format.show(tokens),
    rubric: ({ rubric = NOTHING }) => rubric,
    isBinary: Object.values(problems.tests ?? {}).every(test => test.every(({ kind }) => kind !== 'open')),
    grade: items =>
      Promise.all(
        items.map(item => {
          const answer = answerOf(read(item.tokens))
          return item.problem.kind === 'open' ? gradeOpen(item, answer) : gradeClosed(item.problem, answer)
        }),
      ),
    thinking: { read, hinted: 'both' },
    rubricator: {
      masked: ({ kind }, response) => {
        if (kind === 'open') return response
        const { text, thinking, answer } = response
        return {
          ...response,
          text: maskAnswers(text),
          thinking: maskAnswers(thinking),
          answer: maskAnswers(answer),
        }
      },
      prompt: (question, { text }) =>
        // Of a response that is too long for it, the middle is left out, or all of it.
        cutToRoom(
          most => {
            const shown = most === null ? text : most === 0 ? '' : withoutMiddle(text, most)
            return format.encode(rubricatorMessages(question, shown, options.prompts))
          },
          { room: limit, least: 0, most: text.length, tries: MOST_CUTS },
        ),
      // Without the thinking that came before it.
      text: tokens => {
        const { text, answer, closed } = readThought(format, tokens)
        return closed ? answer : text
      },
    },
    stopTokens,
  }
}

/** An answer that could not be compared was not shown to be right: it is paid nothing, and its verdict stays null. */
const gradeClosed = async (problem: Question, answer: string | null): Promise<Verdicts> => {
  const verdict = answerVerdict(problem, answer)
  return {
    score: Number(verdict.met === true),
    verdicts: [verdict],
    wellFormed: answer !== null && announcedAnswer(answer) !== null,
  }
}
