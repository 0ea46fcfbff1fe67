/** @file Questions as a task whose thinking is judged: a chat model thinks and answers, and writes rubrics for such thinking. */

import { countWords, lengthScore, longWriteScore } from '../../eval/writing.ts'
import type { Grader } from '../../grade/grader.ts'
import { announcedAnswer } from '../../grade/rules/answers.ts'
import type { ChatFormat } from '../../model/chat-format.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { meanScore } from '../../rubric/linear.ts'
import { GradusError } from '../../util/errors.ts'
import type { ScoredResponse } from '../scored-response.ts'
import type { RubricatorTask, ThoughtItem, ThoughtResponse } from '../thinking.ts'
import { answerVerdict } from './answers.ts'
import type { QuestionTaskConfig } from './config.ts'
import { maskAnswers } from './mask.ts'
import { reasonerMessages, rubricatorMessages, withoutMiddle } from './prompts.ts'
import { type Question, questionText } from './question.ts'
import { readThought } from './thought.ts'

export interface QuestionTaskOptions
  extends Pick<QuestionTaskConfig, 'thinkTags' | 'askToThink' | 'maxRubricatorTokens'> {
  /** Grades answers to open questions by their rubrics. */
  grader?: Grader
}

/** How often it is tried how much of a long response a prompt has room for: to a thousandth of it. */
const MOST_CUTS = 10

/** The score of an open answer, in [0, 1]: half of it for keeping to a length, where one is required; null without verdicts. */
const openScore = (
  { requiredLength }: Question,
  rubric: Rubric,
  verdicts: readonly Verdict[],
  answer: string,
): number | null => {
  const { score } = meanScore(rubric, verdicts)
  if (score === null || requiredLength === undefined) return score
  return longWriteScore(lengthScore(requiredLength, countWords(answer)), 100 * score)! / 100
}

export class QuestionTask implements RubricatorTask<Question> {
  readonly stopTokens: readonly number[]
  readonly #format: ChatFormat
  readonly #options: QuestionTaskOptions

  constructor(format: ChatFormat, options: QuestionTaskOptions) {
    this.#format = format
    this.#options = options
    this.stopTokens = format.stopTokens
  }

  name({ id }: Question): string {
    return id
  }

  question(question: Question): string {
    return questionText(question)
  }

  prompt(question: Question, hints?: readonly Criterion[]): TokenIds {
    return this.#format.encode(reasonerMessages(question, hints, this.#options))
  }

  /** Where tags are optional and none closes the thinking, all is thinking, closed unless it was cut off. */
  read(tokens: ArrayLike<number>): ThoughtResponse {
    const parted = readThought(this.#format, tokens)
    if (parted.closed || this.#options.thinkTags === 'required') return parted
    return { ...parted, closed: tokens.length > 0 && this.stopTokens.includes(tokens[tokens.length - 1]) }
  }

  masked({ kind }: Question, response: ThoughtResponse): ThoughtResponse {
    if (kind === 'open') return response
    const { text, thinking, answer } = response
    return {
      ...response,
      text: maskAnswers(text),
      thinking: maskAnswers(thinking),
      answer: maskAnswers(answer),
    }
  }

  /** Of a response that is too long for the prompt, the middle is left out. */
  rubricatorPrompt(question: Question, { text }: ThoughtResponse): TokenIds {
    const encode = (shown: string) => this.#format.encode(rubricatorMessages(question, shown))
    const limit = this.#options.maxRubricatorTokens
    const whole = encode(text)
    if (whole.length <= limit) return whole
    let fitting = encode('')
    let [below, above] = [0, text.length]
    for (let round = 0; round < MOST_CUTS && above - below > 1; round++) {
      const middle = (below + above) >> 1
      const tokens = encode(withoutMiddle(text, middle))
      if (tokens.length <= limit) [below, fitting] = [middle, tokens]
      else above = middle
    }
    return fitting
  }

  /** Without the thinking that came before it. */
  rubricatorText(tokens: ArrayLike<number>): string {
    const { text, answer, closed } = readThought(this.#format, tokens)
    return closed ? answer : text
  }

  gradeAnswers(items: readonly ThoughtItem<Question>[]): Promise<ScoredResponse[]> {
    return Promise.all(
      items.map(item => (item.problem.kind === 'open' ? this.#gradeOpen(item) : this.#gradeClosed(item))),
    )
  }

  /** Where the answer is; null where there is none, because thinking never ended or the response was cut off. */
  #answerOf({ text, answer, closed }: ThoughtResponse): string | null {
    if (!closed) return null
    return answer === '' && this.#options.thinkTags === 'optional' ? text : answer
  }

  /** An answer that could not be compared was not shown to be right: it is paid nothing, and its verdict stays null. */
  async #gradeClosed({ problem, response }: ThoughtItem<Question>): Promise<ScoredResponse> {
    const answer = this.#answerOf(response)
    const verdict = answerVerdict(problem, answer)
    return {
      score: Number(verdict.met === true),
      verdicts: [verdict],
      wellFormed: answer !== null && announcedAnswer(answer) !== null,
    }
  }

  async #gradeOpen({ problem, response }: ThoughtItem<Question>): Promise<ScoredResponse> {
    const answer = this.#answerOf(response)
    const { rubric = { criteria: [] } } = problem
    if (answer === null || answer === '') return { score: 0, verdicts: [], wellFormed: false }
    const { grader } = this.#options
    if (grader === undefined)
      throw new GradusError(`question ${problem.id}: expected a grader for an open question, got none`)
    const item = { id: problem.id, prompt: [{ role: 'user' as const, content: questionText(problem) }] }
    const verdicts = await grader.grade({ ...item, response: answer }, rubric.criteria)
    const score = openScore(problem, rubric, verdicts, answer)
    return { score, ...(score === null && { unjudged: true }), verdicts, wellFormed: true }
  }
}
