/** @file The packing miniature as rit trains on it: lists that are more or less good, after thinking that is. */

import {
  assertThought,
  isHint,
  ORACLE_IDS,
  PackingThinkingTask,
  PackingWorld,
  splitTrips,
  statementVerdicts,
  THINKING_BANK,
  ThoughtVerifier,
  type Trip,
  thoughtfulText,
} from '../../tasks/checklist/index.ts'
import type { RitConfig } from './config.ts'
import type { RitTask } from './task.ts'

export const packingRit = ({ task: { world: seed } }: Pick<RitConfig, 'task'>): RitTask<Trip> => {
  const world = new PackingWorld(seed)
  const task = new PackingThinkingTask(world)
  const { train, test } = splitTrips()
  const verifier = new ThoughtVerifier(world)
  return {
    task,
    train,
    test,
    testName: 'unseen trips',
    orderLabel: 'packing trips',
    binary: false,
    verifier,
    truth: verifier,
    assertExecutes: assertThought,
    answerRubric: trip => world.rubric(trip),
    oracle: { id: 'oracle', criteria: THINKING_BANK.filter(({ id }) => ORACLE_IDS.includes(id)) },
    bank: THINKING_BANK,
    stepVerdicts: async items =>
      items.map(({ problem, response }) => statementVerdicts(world, problem, response.thinking)),
    scriptedJudges: true,
    shows: isHint,
    show: thoughtfulText,
    notes: [],
    close: async () => {},
  }
}
