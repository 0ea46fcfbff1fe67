/** @file Staged rollouts as a judge sees them: every piece quoted under the name of who wrote it, long ones with their middle left out. */

import type { Quote } from '../../util/untrusted.ts'
import { endsOf } from '../group/cut.ts'
import { type RolloutPart, STAGE_NAMES, STAGES, type StagedRollout, stageParts } from './rubrics.ts'

/** Of a text that is cut: how much of what is shown is its beginning. */
const HEAD_SHARE = 0.7

/** A text of at most so many characters and a note where its middle was left out. */
export const excerpt = (text: string, most: number | null): string => {
  if (most === null || text.length <= most) return text
  const first = Math.round(HEAD_SHARE * most)
  const [head, tail] = endsOf(text, first, most - first)
  return `${head}\n[... ${text.length - head.length - tail.length} characters are left out here ...]\n${tail}`
}

/** A rubric that a rollout wrote for itself, or what stands around one. */
interface Piece {
  text: string
  isOwnRubric: boolean
}

const OWN_RUBRIC = [
  ['<rubric>', '</rubric>'],
  ['<rubrics>', '</rubrics>'],
] as const

const firstRubric = (text: string, from: number): { start: number; end: number } | null => {
  let first: { start: number; end: number } | null = null
  for (const [open, close] of OWN_RUBRIC) {
    const start = text.indexOf(open, from)
    if (start < 0 || (first !== null && start > first.start)) continue
    const end = text.indexOf(close, start)
    if (end >= 0) first = { start, end: end + close.length }
  }
  return first
}

/** Own rubrics of a text that are marked as such; a rollout may write so many. */
const MOST_PIECES = 50

/** A text with the rubrics in it apart: they are references, and must not pass for the standard. */
export const renderedPieces = (text: string): Piece[] => {
  const pieces: Piece[] = []
  const add = (start: number, end: number, isOwnRubric: boolean) => {
    const own = text.slice(start, end)
    if (own.trim() !== '') pieces.push({ text: own, isOwnRubric })
  }
  let from = 0
  while (pieces.length < MOST_PIECES) {
    const rubric = firstRubric(text, from)
    if (rubric === null) break
    add(from, rubric.start, false)
    add(rubric.start, rubric.end, true)
    from = rubric.end
  }
  add(from, text.length, false)
  return pieces
}

const headingOf = ({ stage }: RolloutPart): string =>
  stage === null
    ? 'What a tool answered (no stage; nobody is judged by it):'
    : `Stage ${stage}, ${STAGE_NAMES[stage - 1]}:`

const tagOf = ({ stage }: RolloutPart): string => (stage === null ? 'tool-output' : STAGE_NAMES[stage - 1])

const partLines = (part: RolloutPart, quote: Quote): string[] => [
  headingOf(part),
  ...renderedPieces(part.text).flatMap(({ text, isOwnRubric }) =>
    isOwnRubric
      ? [
          'A rubric that the author wrote for itself: a reference, never the standard to judge by:',
          quote(text, 'own-rubric'),
        ]
      : [quote(text, tagOf(part))],
  ),
]

/** Everything of a rollout in order, and which stages it lacks. */
export const renderParts = (parts: readonly RolloutPart[], quote: Quote): string[] => {
  const missing = STAGES.filter(stage => !parts.some(part => part.stage === stage && part.text.trim() !== ''))
  return [
    ...parts.flatMap(part => partLines(part, quote)),
    ...missing.map(stage => `Stage ${stage}, ${STAGE_NAMES[stage - 1]}: there is none.`),
  ]
}

/** A rollout's parts as they are shown, as JSON: the response of an item to grade, on which its verdicts are remembered. */
export const shownParts = (rollout: StagedRollout, most: number | null): RolloutPart[] =>
  stageParts(rollout).map(({ stage, text }) => ({ stage, text: excerpt(text, most) }))
