/** @file Cold start of the arithmetic task: a reasoner of mixed habits and a rubricator in one model, by supervised learning. */

import { join } from 'node:path'
import { openPolicy } from '../../policy/open.ts'
import type { Policy } from '../../policy/policy.ts'
import {
  type ArithmeticProblem,
  arithmeticProblem,
  arithmeticTask,
  propose,
} from '../../tasks/arithmetic/index.ts'
import type { Rng } from '../../util/rng.ts'
import type { RunOptions, RunResult } from '../common/recipe.ts'
import { withRun } from '../common/session.ts'
import { runSupervised } from '../common/supervised.ts'
import { writeLabels } from '../reasoning/labels.ts'
import { checkArithmeticColdStart } from './check.ts'
import type { ArithmeticPhase } from './config.ts'
import { demonstrations } from './demonstrations.ts'
import { evaluateRoles } from './evaluate.ts'

/** Trains, or goes on training, and leaves a run folder with metrics, evaluations, checkpoints and a report. */
export const runArithmeticColdStart = async (
  config: ArithmeticPhase,
  options: RunOptions,
): Promise<RunResult> => {
  const source = checkArithmeticColdStart(config)!
  const { events = {} } = options
  const { hiddenSize, layers, heads } = config.model.shape
  const fresh = `fresh, ${layers} layers of ${hiddenSize}, ${heads} heads`
  const info = {
    config,
    recipe: 'arithmetic-cold-start',
    model: config.start ?? fresh,
    seed: config.seed,
    steps: config.steps,
    primarySet: 'unseen',
  }
  return withRun({ ...options, info }, async ({ use, ...session }) => {
    const policy = await use(openPolicy(config.policy, source))
    const phase = {
      name: 'supervised',
      policy,
      draw: demonstrations(config),
      evaluate: async (step: number, last: boolean) => {
        if (last && config.labels > 0)
          await leaveLabels(join(session.run.dir, 'labels.jsonl'), policy, config)
        return evaluateRoles(policy, config, step)
      },
      testsStart: false,
      config,
    }
    return runSupervised(session, phase, events)
  })
}

/** Rows for `learned-verifier`, on what the trained model writes. */
const leaveLabels = (file: string, policy: Policy, config: ArithmeticPhase): Promise<void> => {
  const { labels: count, evaluation, seed, operations, rubric } = config
  const source = {
    task: arithmeticTask(),
    problem: (i: number) => arithmeticProblem(`labels/${seed}`, i, { operations }),
    draw: (problem: ArithmeticProblem, rng: Rng) => propose(problem, rubric, rng).text,
  }
  return writeLabels(file, policy, source, { count, maxTokens: evaluation.maxTokens, seed })
}
