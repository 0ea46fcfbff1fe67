/** @file What stands in a trajectory's plan, evaluations and review, by the names of the main text or of the appendix. */

import type { Element } from './elements.ts'
import { innerElements } from './tags.ts'

/** Parts by the names that either version of the scaffold gives them. */
const PARTS = {
  analysis: ['analysis', 'deep_analysis'],
  rubric: ['rubric', 'rubrics'],
  researchPlan: ['research_plan'],
  rubricReview: ['rubric_review', 'rubrics_review'],
  writingPlan: ['writing_plan'],
} as const satisfies Record<string, readonly string[]>

export type ContentsPart = keyof typeof PARTS

const PART_OF = new Map(
  Object.entries(PARTS).flatMap(([part, names]) =>
    names.map(name => [name as string, part as ContentsPart] as const),
  ),
)
const NAMES: ReadonlySet<string> = new Set(PART_OF.keys())

/** The parts of a plan or a review that are there, each as it stands first. */
export const contentsParts = (text: string, { inside }: Element): Partial<Record<ContentsPart, string>> => {
  const parts: Partial<Record<ContentsPart, string>> = {}
  if (inside === null) return parts
  for (const { name, text: content } of innerElements(text.slice(inside.start, inside.end), NAMES))
    parts[PART_OF.get(name)!] ??= content
  return parts
}

/** The rubrics that a trajectory wrote for itself, newest last: those of its plan, then of its changes to it. */
export const selfWrittenRubrics = (text: string, elements: readonly Element[]): string[] =>
  elements
    .filter(({ name }) => name === 'structured_plan')
    .flatMap(plan => contentsParts(text, plan).rubric ?? [])

/** What a trajectory answers: the inside of its last whole answer; null without one. */
export const answerText = (text: string, elements: readonly Element[]): string | null => {
  const answer = elements.findLast(({ name, inside }) => name === 'answer' && inside !== null)
  return answer ? text.slice(answer.inside!.start, answer.inside!.end).trim() : null
}
