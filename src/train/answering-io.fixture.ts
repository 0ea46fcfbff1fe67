/** @file Rollouts with responses that a test writes down, graded as the recipe grades. */

import type { Graded, RolloutEnd } from '../rl/rollout.ts'
import type { RollOutRequest, StepIo } from './rollout.ts'

/**
 * Answers a request with these responses: one list of token lists a problem.
 * @param problems in place of those of the request
 * @param step whose rollouts they are
 */
export const answering = (
  responses_P_G: readonly (readonly (readonly number[])[])[],
  problems?: readonly unknown[],
  end: RolloutEnd = 'stop',
  step = 1,
): StepIo => ({
  rollOut: async <Problem, Grade>(request: RollOutRequest<Problem, Grade>) => {
    const { prompt, grade, reward, role = 'policy' } = request
    const groups = responses_P_G.map((responses, p) => {
      const problem = (problems?.[p] ?? request.problems[p]) as Problem
      return responses.map((tokens, sample) => ({
        problem,
        step,
        rollout: {
          ...{ key: `1/1/${p}/${sample}`, role, group: `1/1/${p}`, sample, prompt: prompt(problem), end },
          tokens: Int32Array.from(tokens),
          mask: new Uint8Array(tokens.length).fill(1),
          logprobs: new Float32Array(tokens.length).fill(-1),
          turns: [{ start: 0, end: tokens.length }],
        },
      }))
    })
    groups.forEach((group, p) => {
      request.onGroup?.(
        p,
        group.map(({ rollout }) => rollout),
      )
    })
    const grades = (await grade(groups.flat())).values()
    const { gradeGroup } = request
    const parts_P_G =
      gradeGroup &&
      (await Promise.all(
        groups.map(group =>
          gradeGroup(
            group[0].problem,
            group.map(({ rollout }) => rollout),
            step,
          ),
        ),
      ))
    return groups.map((group, p) =>
      group.map(({ step: _, ...item }, g): Graded<Problem, Grade> => {
        const own = { ...grades.next().value!, ...parts_P_G?.[p][g] }
        const nothing = { reward: null, parts: {} }
        return { ...item, grade: own, ...(reward?.(own, item.problem) ?? nothing) }
      }),
    )
  },
})
