/** @file Packing as a task: trips with a rubric each, graded by the rules of its criteria. */

import { RuleGrader, type RuleSettings } from '../../grade/rules/index.ts'
import type { Task } from '../task.ts'
import { checklistText, hintsOf, isHint, isList, tripPrompt } from './format.ts'
import { type PackingWorld, splitTrips, type Trip, tripName } from './world.ts'

interface PackingOptions {
  /** What checking a response may take; the schema's defaults where absent. */
  rules?: Partial<RuleSettings>
  /** Topics whose trips are a test set of their own. Default 0. */
  heldOutTopics?: number
}

/**
 * Trips, each with a list of things to pack.
 * @example
 * const world = new checklist.PackingWorld()
 * const task = checklist.packingTask(world)
 * const trip = { topic: 0, occasion: 0, companion: 0 }
 * const criteria = task.rubric(trip).criteria.filter(({ id }) => id === 'companion')
 * const tokens = Int32Array.from(checklist.listTokens([world.companions[0]]))
 * const [{ verdicts }] = await task.grade([{ problem: trip, tokens, criteria }])
 * verdicts[0].met // true
 */
export const packingTask = (
  world: PackingWorld,
  { rules, heldOutTopics = 0 }: PackingOptions = {},
): Task<Trip> => {
  const { train, test, heldOut } = splitTrips(heldOutTopics)
  const grader = new RuleGrader(rules)
  return {
    train,
    tests: heldOutTopics > 0 ? { 'seen topics': test, 'held-out topics': heldOut } : { 'unseen trips': test },
    label: 'packing trips',
    id: tripName,
    question: tripName,
    prompt: (trip, hints = []) => tripPrompt(trip, hintsOf(hints)),
    show: checklistText,
    rubric: trip => world.rubric(trip),
    grade: items =>
      Promise.all(
        items.map(async ({ tokens, criteria }) => ({
          verdicts: await grader.grade({ prompt: [], response: checklistText(tokens) }, criteria),
          wellFormed: isList(tokens),
        })),
      ),
    shows: isHint,
    notes: [],
  }
}
