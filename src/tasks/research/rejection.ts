/** @file Which recorded trajectories are fit to be learnt from: the rejection rules of RubricEM's supervised data. */

import { CallFault, readCall } from './calls.ts'
import type { RecordingRow } from './demonstrations.ts'
import { contentsParts, type Element, elementsOf } from './elements.ts'
import { isAction } from './problems.ts'

/** A turn of a teacher and what it was told; null where nothing was said any more. */
export type RecordedRound = RecordingRow['rounds'][number]

export interface RecordedTrajectory {
  rounds: readonly RecordedRound[]
}

export const REJECTIONS = [
  'no-answer',
  'no-valid-call',
  'no-plan',
  'no-rubric',
  'no-state-evaluation',
  'tool-errors',
  'too-many-rounds',
] as const
export type Rejection = (typeof REJECTIONS)[number]

export interface RejectionOptions {
  maxRounds?: number
  /** Errors of tools in a row that are too many. */
  maxErrorsInARow?: number
  /** Tools that there are; absent: any. */
  tools?: readonly string[]
  /** Names that teachers give to tools, with the right ones. */
  toolNames?: Readonly<Record<string, string>>
}

const SCRATCHPAD = /<(\/?)scratchpad>/g
const CALL_NAME = /(<call_tool name=")([\w.-]{1,64})(")/g

const normalizedText = (text: string, toolNames: Readonly<Record<string, string>>): string =>
  text
    .replace(SCRATCHPAD, '<$1think>')
    .replace(CALL_NAME, (whole, before, name: string, after) =>
      Object.hasOwn(toolNames, name) ? `${before}${toolNames[name]}${after}` : whole,
    )

/** The trajectory with `<scratchpad>` renamed to `<think>` and tools called by their names. */
export const normalizeTrajectory = <T extends RecordedTrajectory>(
  trajectory: T,
  { toolNames = {} }: Pick<RejectionOptions, 'toolNames'> = {},
): T => ({
  ...trajectory,
  rounds: trajectory.rounds.map(round => ({ ...round, text: normalizedText(round.text, toolNames) })),
})

const endsWith = (text: string, elements: readonly Element[], name: Element['name']): Element | null => {
  const actions = elements.filter(isAction)
  const [action] = actions
  const isEnd = actions.length === 1 && action.name === name && text.slice(action.end).trim() === ''
  return isEnd ? action : null
}

const hasValidCall = (text: string, elements: readonly Element[], tools?: readonly string[]): boolean => {
  const action = endsWith(text, elements, 'call_tool')
  if (action === null) return false
  const call = readCall(text, action)
  return !(call instanceof CallFault) && (tools === undefined || tools.includes(call.tool))
}

const longestErrorRun = (rounds: readonly RecordedRound[]): number => {
  let longest = 0
  let run = 0
  for (const { observation } of rounds) {
    run = observation?.isError ? run + 1 : 0
    longest = Math.max(longest, run)
  }
  return longest
}

/** Why a normalized trajectory is not to be learnt from; empty where it is. */
export const rejectionsOf = (
  { rounds }: RecordedTrajectory,
  { maxRounds = 10, maxErrorsInARow = 1, tools }: RejectionOptions = {},
): Rejection[] => {
  const found = new Set<Rejection>()
  const last = rounds.length - 1
  for (const [index, { text }] of rounds.entries()) {
    const { elements } = elementsOf(text, [])
    const has = (name: Element['name']) => elements.find(each => each.name === name && each.inside !== null)
    if (index === last && endsWith(text, elements, 'answer') === null) found.add('no-answer')
    if (index < last && !hasValidCall(text, elements, tools)) found.add('no-valid-call')
    if (index === 0) {
      const plan = has('structured_plan')
      if (!plan) found.add('no-plan')
      else if (!contentsParts(text, plan).rubric) found.add('no-rubric')
    } else if (!has('state_evaluation')) found.add('no-state-evaluation')
  }
  if (rounds.length === 0) found.add('no-answer')
  if (longestErrorRun(rounds) > maxErrorsInARow) found.add('tool-errors')
  if (rounds.length > maxRounds || (rounds.length === maxRounds && found.has('no-answer')))
    found.add('too-many-rounds')
  return REJECTIONS.filter(reason => found.has(reason))
}

export interface RejectionResult<T> {
  accepted: T[]
  rejected: { trajectory: T; reasons: Rejection[] }[]
  /** Trajectories by reason; one may have several. */
  counts: Record<Rejection, number>
}

/** Normalizes trajectories and parts those that are fit to be learnt from from the others. */
export const selectTrajectories = <T extends RecordedTrajectory>(
  trajectories: readonly T[],
  options: RejectionOptions = {},
): RejectionResult<T> => {
  const counts = Object.fromEntries(REJECTIONS.map(reason => [reason, 0])) as Record<Rejection, number>
  const selection: RejectionResult<T> = { accepted: [], rejected: [], counts }
  for (const recorded of trajectories) {
    const trajectory = normalizeTrajectory(recorded, options)
    const reasons = rejectionsOf(trajectory, options)
    for (const reason of reasons) counts[reason]++
    if (reasons.length === 0) selection.accepted.push(trajectory)
    else selection.rejected.push({ trajectory, reasons })
  }
  return selection
}
