/** @file A trajectory's elements: what tools said, the turns between, and what stands in each turn. */

import { findTags, innerElements, nextClosings, type Tag, type TagName } from './tags.ts'

/** Part of a text: UTF-16 units, the end exclusive. */
export interface TextSpan {
  start: number
  end: number
}

/** An element of a turn that lies in no other. */
export interface Element extends TextSpan {
  name: TagName
  /** Of the turn, from 0. */
  turn: number
  /** Where its content begins and ends; an element that is never closed has none. */
  inside: TextSpan | null
}

/** A tag that is no part of an element. */
export interface LooseTag {
  kind: 'unclosed' | 'stray'
  name: TagName
  at: number
}

/** What the agent wrote between two observations, as elements. */
export interface Elements {
  /** One more than there are observations, empty ones included. */
  turns: TextSpan[]
  /** In order, none within another. */
  elements: Element[]
  loose: LooseTag[]
}

const isBlank = (text: string, start: number, end: number): boolean => text.slice(start, end).trim() === ''

/** Right behind a call, or behind what another tool said, stands what a tool says and no mention of the tag. */
const followsAction = (text: string, tags: readonly Tag[], i: number): boolean => {
  const before = tags[i - 1]
  if (!before?.closes || (before.name !== 'call_tool' && before.name !== 'tool_output')) return false
  return isBlank(text, before.end, tags[i].start)
}

/**
 * What tools said, by its tags, where nobody knows who wrote what. It ends with the first closing tag, or with the text. A tag
 * that is only mentioned, within an element that ends first, begins nothing.
 */
export const observationsByTag = (text: string): TextSpan[] => {
  const tags = findTags(text)
  const next = nextClosings(tags)
  const found: TextSpan[] = []
  /** The closing tag of the element that we are in; -1 outside. */
  let leaving = -1
  for (let i = 0; i < tags.length; i++) {
    const { name, closes, start } = tags[i]
    if (leaving >= 0 && i >= leaving) leaving = -1
    if (closes) continue
    const closing = next[i]
    if (name !== 'tool_output') {
      if (leaving < 0) leaving = closing
      continue
    }
    const mentioned = leaving >= 0 && (closing < 0 || closing > leaving) && !followsAction(text, tags, i)
    if (mentioned) continue
    found.push({ start, end: closing < 0 ? text.length : tags[closing].end })
    if (closing < 0) break
    i = closing
    leaving = -1
  }
  return found
}

/** Adds the elements of one turn. A template may have opened the thinking: then its closing tag alone is there. */
const addTurn = (into: Elements, text: string, { start: from, end: to }: TextSpan, turn: number): void => {
  const tags = findTags(text, from, to)
  const next = nextClosings(tags)
  let i = 0
  const firstThink = tags.findIndex(({ name }) => name === 'think')
  if (firstThink >= 0 && tags[firstThink].closes) {
    const { start, end } = tags[firstThink]
    into.elements.push({ name: 'think', turn, start: from, end, inside: { start: from, end: start } })
    i = firstThink + 1
  }
  for (; i < tags.length; i++) {
    const { name, closes, start, end } = tags[i]
    const closing = next[i]
    if (closes) {
      into.loose.push({ kind: 'stray', name, at: start })
    } else if (closing < 0) {
      into.loose.push({ kind: 'unclosed', name, at: start })
      into.elements.push({ name, turn, start, end, inside: null })
    } else {
      const close = tags[closing]
      into.elements.push({ name, turn, start, end: close.end, inside: { start: end, end: close.start } })
      i = closing
    }
  }
}

/**
 * The elements of what stands outside `observations`. An element lies within one turn, so nothing that a tool says can open or
 * close one; what stands within an element is its content, tags included.
 */
export const elementsOf = (text: string, observations: readonly TextSpan[]): Elements => {
  const turns = [...observations, { start: text.length, end: text.length }].map(({ start }, i) => ({
    start: i === 0 ? 0 : observations[i - 1].end,
    end: start,
  }))
  const found: Elements = { turns, elements: [], loose: [] }
  for (const [turn, span] of turns.entries()) addTurn(found, text, span, turn)
  return found
}

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

/** What a trajectory answers: the inside of its last whole answer; null without one. */
export const answerText = (text: string, elements: readonly Element[]): string | null => {
  const answer = elements.findLast(({ name, inside }) => name === 'answer' && inside !== null)
  return answer ? text.slice(answer.inside!.start, answer.inside!.end).trim() : null
}
