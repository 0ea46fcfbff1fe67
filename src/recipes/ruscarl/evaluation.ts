/** @file Evaluation of ruscarl: always by the true rubrics, on problems that training never sees. */

import type { Policy } from '../../policy/policy.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { evaluateScores } from '../checklist/evaluate.ts'
import type { RuscarlConfig } from './config.ts'
import type { TrainingTask } from './task.ts'

export type Evaluate = (step: number, last: boolean) => Promise<EvalRow[]>

/** On the plain prompt, and where asked for with the whole rubric shown; the start and the end on more problems. */
export const evaluation =
  <Problem>(config: RuscarlConfig, policy: Policy, task: TrainingTask<Problem>): Evaluate =>
  async (step, last) => {
    const { problems: count, problemsBetween, samples, scaffolded, ...sampling } = config.evaluation
    const { truth, test, testName, stopTokens, figures } = task
    const between = step > 0 && !last
    const problems = test.slice(0, between ? problemsBetween : count)
    const { temperature, topK, topP } = sampling
    const { maxTokens } = config.rollout
    const settings = {
      samples,
      sampling: { maxTokens, temperature, topK, topP, stopTokens, seed: 'evaluation' },
    }
    const evaluate = async (
      set: string,
      promptOf?: (problem: Problem) => ReturnType<typeof truth.prompt>,
    ) => {
      figures?.()
      const row = await evaluateScores(policy, truth, { set, step, problems }, settings, promptOf)
      const judgeCalls = figures?.().metrics.judgeCalls
      return { ...row, ...(typeof judgeCalls === 'number' && { judgeCalls }) }
    }
    const rows = [await evaluate(testName)]
    if (!scaffolded || between) return rows
    const full = (problem: Problem) => truth.scaffolded(problem, truth.rubric(problem).criteria)
    return [...rows, await evaluate('full scaffold', full)]
  }
