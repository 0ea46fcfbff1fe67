/** @file What a run of distill refuses before it trains; its plan refuses the same. */

import { needJudge } from '../../tasks/conversation/rows.ts'
import { checkTrainingSeed } from '../../tasks/logic/testsets.ts'
import type { Task } from '../../tasks/task.ts'
import { MINIATURES } from '../common/miniatures.ts'
import { problemsOf } from '../common/problem-order.ts'
import { type RunMode, refuse } from '../common/refuse.ts'
import { TASK_KINDS } from '../common/task-kinds.ts'
import { checkOptions } from '../options/options.ts'
import { checkMiniature, checkRuscarl } from '../ruscarl/check.ts'
import { type DistillConfig, ruscarlFrame } from './config.ts'

/** Problems that are looked at for something to show. */
const LOOKED_AT = 64

// biome-ignore lint/suspicious/noExplicitAny: a task of any problems, each of which it alone reads
type AnyTask = Task<any>

/**
 * A task whose prompts, asked to show the rubric, show what they can: criteria of the rubric, else what good thinking is by whoever made
 * the task.
 */
const showing = <Problem>(task: Task<Problem>): Task<Problem> => {
  const { shows = () => true, thinking } = task
  const known = thinking?.oracle?.criteria.filter(shows) ?? []
  return {
    ...task,
    prompt(problem, hints = []) {
      const own = hints.filter(shows)
      return task.prompt(problem, own.length > 0 || hints.length === 0 ? own : known)
    },
  }
}

/** @throws ConfigError for a task whose prompts are the same with the rubric and without it */
const assertShows = (task: AnyTask, seed: number | string): void => {
  const problem = problemsOf(task, seed)
  const count = task.stream ? LOOKED_AT : Math.min(LOOKED_AT, task.train.length)
  const isShown = (i: number) => {
    const own = problem(i)
    const [plain, whole] = [task.prompt(own), task.prompt(own, task.rubric(own).criteria)]
    return plain.length !== whole.length || Array.from(plain).some((token, t) => token !== whole[t])
  }
  if (!Array.from({ length: count }, (_, i) => i).some(isShown))
    refuse(
      `task: expected one whose prompts can show their rubric, got ${task.label}, whose teacher would see what the policy sees`,
      'train by rewards (recipe grpo or ruscarl), or on a task with criteria to show',
    )
}

/**
 * The checkpoint to start from, null in a plan where it comes later; and the task, null for those that RuscaRL opens itself.
 * @param own in place of the configured task
 * @throws ConfigError, DataError, CheckpointError for settings, files and models that a run cannot use
 */
export const checkDistill = (config: DistillConfig, purpose: RunMode, own?: AnyTask) => {
  const { rewards, rollout } = config
  if (rewards !== null && rollout.samples < 2)
    refuse(
      `rollout.samples: expected at least 2 with rewards, which are compared within a group, got ${rollout.samples}`,
      'raise it, or set rewards to null',
    )
  const opened = own ?? miniatureOf(config)
  const frame = ruscarlFrame(config)
  if (opened && !own) checkMiniature(frame, config.task.kind)
  const task = opened && showing(opened)
  const mayLackJudge = rewards === null
  const checked = checkRuscarl(frame, purpose, { mayLackJudge, ...(task && { task }) })
  if (!task) {
    const { conversations } = checked
    if (conversations?.train.every(({ rubric }) => rubric.criteria.length === 0))
      refuse(
        'task: expected rows with criteria to train on, got none with any: the teacher would see what the policy sees',
        'give the rows criteria, or name a rubric for all of them (task.rubric)',
      )
    return { ...checked, mayLackJudge, task: null }
  }
  assertShows(task, config.seed)
  const { kind } = config.task
  if (!own && checked.given !== null && kind !== 'conversations')
    TASK_KINDS[kind].assertModel?.(checked.given)
  return { ...checked, mayLackJudge, task }
}

/** Whether evaluations are left out: nothing is graded in training, and there is no judge for what no rule checks. */
export const isUnmeasured = (
  { judge }: Pick<DistillConfig, 'judge'>,
  conversations: ReturnType<typeof checkDistill>['conversations'],
): boolean => judge === null && conversations !== null && needJudge(conversations.test)

/** Those that RuscaRL does not know. */
const miniatureOf = (config: DistillConfig): AnyTask | null => {
  const { task, seed, evaluation } = config
  if (task.kind === 'packing-thinking') return MINIATURES['packing-thinking'].open(task)
  if (task.kind !== 'arithmetic') return null
  checkTrainingSeed(seed)
  const trueRubrics = 'task "arithmetic", whose teacher is shown what good thinking is and no rubric'
  checkOptions(config, { trueRubrics })
  const { problems, problemsAtStart = problems } = evaluation
  const draw = { seed, tests: Math.max(problems, problemsAtStart) }
  return MINIATURES.arithmetic.open({ ...task, outcomes: true }, draw)
}
