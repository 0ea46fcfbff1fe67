/** @file Evaluation of both roles after the cold start: right answers, sound thinking, hints followed, rubrics that can be read. */

import type { Policy } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import type { EvalRow } from '../../runs/rows.ts'
import {
  ARITHMETIC_TEST_SEED,
  ARITHMETIC_TOKENS,
  type ArithmeticProblem,
  arithmeticProblem,
  arithmeticTask,
  demonstrateWell,
  drawHabits,
  encodeText,
  evidenceOf,
  isMet,
  readCriterion,
  readResponse,
} from '../../tasks/arithmetic/index.ts'
import { type ScoredResponse, scored } from '../../tasks/scored-response.ts'
import { Rng } from '../../util/rng.ts'
import { drawResponses, scoreResponses } from '../checklist/evaluate.ts'
import type { ArithmeticPhase } from './config.ts'
import { hintsFor } from './demonstrations.ts'

const task = scored(arithmeticTask())

/** Unseen problems, the same for every run with the same lengths. */
export const testProblems = ({
  evaluation,
  operations,
}: Pick<ArithmeticPhase, 'evaluation' | 'operations'>): ArithmeticProblem[] =>
  Array.from({ length: evaluation.problems }, (_, i) =>
    arithmeticProblem(ARITHMETIC_TEST_SEED, i, { operations }),
  )

/** Hints by which one chain of thought for a problem differs from another, so that following them changes what is written. */
const hintsOf = (problem: ArithmeticProblem, { styles, errors, rubric }: ArithmeticPhase) => {
  const rng = new Rng(`${ARITHMETIC_TEST_SEED}/hints/${problem.id}`)
  const [one, other] = ['one', 'other'].map(label => {
    const { text } = demonstrateWell(problem, own => drawHabits(own, styles), errors, 1, rng.fork(label))
    return evidenceOf(problem, readResponse(encodeText(text)).thinking, null)
  })
  return hintsFor(problem, one, other, rubric, rng.fork('hints'))
}

/** The prompt with such hints. */
export const toldPrompt = (problem: ArithmeticProblem, config: ArithmeticPhase): TokenIds =>
  task.prompt(problem, hintsOf(problem, config))

/** How a role's responses are asked for and scored. */
interface Evaluated {
  set: string
  prompt(problem: ArithmeticProblem): TokenIds
  grade(problem: ArithmeticProblem, tokens: Int32Array): Promise<ScoredResponse> | ScoredResponse
}

const followed = (
  problem: ArithmeticProblem,
  tokens: Int32Array,
  config: ArithmeticPhase,
): ScoredResponse => {
  const response = readResponse(tokens)
  const evidence = evidenceOf(problem, response.thinking, null)
  const verdicts: Verdict[] = hintsOf(problem, config).map(({ text, points }) => ({
    criterionId: points > 0 ? 'done as told' : 'avoided as told',
    met: isMet(readCriterion(text)!, evidence) === points > 0,
    source: 'rule',
  }))
  const score = verdicts.filter(({ met }) => met).length / verdicts.length
  return { score, verdicts, wellFormed: response.closed }
}

const setsOf = (config: ArithmeticPhase): Evaluated[] => [
  {
    set: 'unseen',
    prompt: problem => task.prompt(problem),
    grade: async (problem, tokens) => (await task.grade([{ problem, tokens }]))[0],
  },
  {
    set: 'not told',
    prompt: problem => task.prompt(problem),
    grade: (problem, tokens) => followed(problem, tokens, config),
  },
  {
    set: 'told',
    prompt: problem => toldPrompt(problem, config),
    grade: (problem, tokens) => followed(problem, tokens, config),
  },
]

/** Right answers on the plain prompt, and how often hints are met that are given, and that are not. */
export const evaluateRoles = async (
  policy: Policy,
  config: ArithmeticPhase,
  step: number,
): Promise<EvalRow[]> => {
  const problems = testProblems(config)
  const { samples, maxTokens } = config.evaluation
  const stopTokens = [ARITHMETIC_TOKENS.eos]
  const settings = { samples, sampling: { maxTokens, temperature: 1, seed: 'evaluation', stopTokens } }
  const rows: EvalRow[] = []
  for (const { set, prompt, grade } of setsOf(config)) {
    const drawn = await drawResponses(policy, problems, settings, prompt)
    const graded = {
      id: task.id,
      grade: (items: readonly { problem: ArithmeticProblem; tokens: Int32Array }[]) =>
        Promise.all(items.map(({ problem, tokens }) => grade(problem, tokens))),
    }
    rows.push(await scoreResponses(graded, { set, step, problems }, settings, drawn))
  }
  return rows
}
