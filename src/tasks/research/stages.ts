/** @file The four stages of a research trajectory, by its tags: plan, research, review, answer (RubricEM). */

import { z } from 'zod'
import { STAGES, type Stage, type StageSpan } from '../../grade/evolving/rubrics.ts'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { type Element, elementsOf, observationsByTag, type TextSpan } from './elements.ts'
import { addTurnProblems, ProblemList, problemText, type ResearchProblem } from './problems.ts'

export { STAGES, type Stage, type StageSpan }

/** A trajectory's text as stages. */
export interface StagedText {
  /** In order. What tools said belongs to none, every other character to exactly one; a stage without text has no span. */
  stages: StageSpan[]
  /** What tools said. */
  observations: TextSpan[]
  /** Elements that lie in no other. */
  elements: Element[]
  /** Calls that were written whole. */
  toolCalls: number
  /** The last turn answers, after a search. */
  answered: boolean
  /** Without any problem. */
  valid: boolean
  problems: ResearchProblem[]
}

export interface StageOptions {
  /**
   * What others than the agent wrote, in order, without overlap; a span without text still ends a turn. Absent: what the tags say,
   * which is all that a bare text can tell.
   */
  observations?: readonly TextSpan[]
  /** Calls that an agent may make. */
  maxCalls?: number
}

export const DEFAULT_MAX_CALLS = 10

const isCall = ({ name, inside }: Element): boolean => name === 'call_tool' && inside !== null

interface Landmarks {
  /** Ends of the stages 1 to 3; the fourth ends with the text. */
  ends: [number, number, number]
  hasPlan: boolean
  hasReview: boolean
  /** The last turn's answer is there, whole. */
  hasAnswer: boolean
}

/** The answer that counts: the first after the last call or observation; where none is there, the last whole one. */
const findAnswer = (elements: readonly Element[], lastWord: number): Element | undefined => {
  const answers = elements.filter(({ name }) => name === 'answer')
  return answers.find(({ start }) => start >= lastWord) ?? answers.findLast(({ inside }) => inside !== null)
}

/** The review that counts: the first after the last call before the answer; where none is there, the last one. */
const findReview = (elements: readonly Element[], from: number, to: number): Element | undefined => {
  const within = elements.filter(({ start }) => start >= from && start < to)
  const reviews = within.filter(({ name }) => name === 'review')
  const lastCall = within.findLast(isCall)
  return reviews.find(({ start }) => start >= (lastCall?.end ?? 0)) ?? reviews.at(-1)
}

const findLandmarks = (
  length: number,
  elements: readonly Element[],
  observations: readonly TextSpan[],
): Landmarks => {
  const lastCall = elements.findLast(isCall)
  const lastWord = Math.max(lastCall?.end ?? 0, observations.at(-1)?.end ?? 0)
  const answer = findAnswer(elements, lastWord)
  const answerStart = answer?.start ?? length
  const plan = elements.find(
    ({ name, inside, end }) => name === 'structured_plan' && inside !== null && end <= answerStart,
  )
  const planEnd = plan?.end ?? 0
  const review = findReview(elements, planEnd, answerStart)
  const known = {
    hasPlan: plan !== undefined,
    hasReview: review !== undefined,
    hasAnswer: answer !== undefined && answer.inside !== null && answer.start >= lastWord,
  }
  if (!review) return { ...known, ends: [planEnd, answerStart, answerStart] }
  // A thought that led to a call belongs to the research.
  const callEnd = elements.findLast(each => isCall(each) && each.end <= review.start)?.end ?? 0
  const from = Math.max(planEnd, callEnd)
  const think = elements.findLast(
    ({ name, start }) => name === 'think' && start >= from && start < review.start,
  )
  const last = elements.findLast(
    ({ name, start }) => name === 'review' && start >= review.start && start < answerStart,
  )!
  const reviewEnd = last.inside === null ? answerStart : last.end
  return { ...known, ends: [planEnd, think?.start ?? review.start, reviewEnd] }
}

/** [0, length) cut at the ends of stages, without the observations. */
const cut = (length: number, ends: readonly number[], observations: readonly TextSpan[]): StageSpan[] => {
  const spans: StageSpan[] = []
  const gaps = [...observations, { start: length, end: length }]
  let from = 0
  for (const { start, end } of gaps) {
    for (const stage of STAGES) {
      const stageStart = Math.max(from, stage === 1 ? 0 : ends[stage - 2])
      const stageEnd = Math.min(start, stage === 4 ? length : ends[stage - 1])
      if (stageEnd > stageStart) spans.push({ stage, start: stageStart, end: stageEnd })
    }
    from = end
  }
  return spans
}

/**
 * The stages of a trajectory. Stage 1 ends with the first closed `<structured_plan>`; stage 3
 * begins with the last `<think>` before the `<review>` (one that no call came after) and ends with it; what follows is stage 4, which begins with the
 * `<answer>` where there is no review; stage 2 is what lies between. Tags within another element, or within what a tool said,
 * mean nothing. Time grows with the text alone.
 */
export const parseTrajectory = (
  text: string,
  { observations = observationsByTag(text), maxCalls = DEFAULT_MAX_CALLS }: StageOptions = {},
): StagedText => {
  const found = elementsOf(text, observations)
  const { elements, loose } = found
  const { ends, hasPlan, hasReview, hasAnswer } = findLandmarks(text.length, elements, observations)
  const problems = new ProblemList()
  if (!hasPlan) problems.add('missing-plan')
  if (!hasReview) problems.add('missing-review')
  if (!hasAnswer) problems.add('missing-answer')
  addTurnProblems(problems, text, found, maxCalls)
  for (const { name, start, inside } of elements)
    if (name === 'tool_output' && inside !== null) problems.add('forged-output', start)
  for (const { kind, at, name } of loose) problems.add(kind, at, name)
  const calls = elements.filter(isCall)
  const list = problems.list()
  return {
    stages: cut(text.length, ends, observations),
    observations: [...observations],
    elements,
    toolCalls: calls.length,
    answered: hasAnswer && calls.length > 0,
    valid: list.length === 0,
    problems: list,
  }
}

/** What was written in a stage, without what tools said in between. */
export const stageText = (text: string, { stages }: Pick<StagedText, 'stages'>, stage: Stage): string =>
  stages
    .filter(span => span.stage === stage)
    .map(({ start, end }) => text.slice(start, end))
    .join('')

const rowSchema = z.object({ text: z.string() })

export interface VerifiedStages {
  /** UTF-16 units, the end exclusive. */
  stages: StageSpan[]
  toolCalls: number
  valid: boolean
  problems: string[]
}

/** The stages of `{text}`; other keys are ignored. @throws DataError for a row without a text */
export const verifyStagesRow = (
  row: unknown,
  options: Pick<StageOptions, 'maxCalls'> = {},
): VerifiedStages => {
  const { text } = parseWith(rowSchema, row, '', DataError)
  const { stages, toolCalls, valid, problems } = parseTrajectory(text, options)
  return {
    stages: stages.map(({ stage, start, end }) => ({ stage, start, end })),
    toolCalls,
    valid,
    problems: problems.map(problemText),
  }
}
