/** @file Evaluation of both roles after the start: right answers, hints that are met, rubrics of the grammar. */

import { follow } from '../../model/automaton.ts'
import type { Policy } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { encodeResponse } from '../../tasks/logic/format.ts'
import {
  logicEvidenceOf,
  logicRubricAutomaton,
  logicThinkingTask,
  readLogicCriterion,
  readLogicResponse,
} from '../../tasks/logic/thinking/index.ts'
import { LOGIC_TOKENS } from '../../tasks/logic/vocabulary.ts'
import { type ScoredResponse, scored } from '../../tasks/scored-response.ts'
import type { ThoughtResponse } from '../../tasks/thinking.ts'
import { isMet } from '../../tasks/thinking-grammar/grammar.ts'
import { Rng } from '../../util/rng.ts'
import { answersBy, drawResponses } from '../common/answers.ts'
import { rubricRow } from '../common/evaluated-set.ts'
import type { LogicRubricPhase } from './config.ts'
import { logicHints } from './demonstrations.ts'
import { LOGIC_RUBRIC_TEST_SEED, logicProblems } from './problems.ts'

const { thinking, rubricator, ...asked } = logicThinkingTask()
const task = scored(asked)

/** Unseen problems, the same for every run with the same settings of problems. */
export const testProblems = ({
  evaluation,
  problems,
}: Pick<LogicRubricPhase, 'evaluation' | 'problems'>): LogicTaskExample[] => {
  const problem = logicProblems(problems, LOGIC_RUBRIC_TEST_SEED)
  return Array.from({ length: evaluation.problems }, (_, i) => problem(i))
}

/** Hints by which a proof differs from no thinking, and so can be met. */
const hintsOf = (problem: LogicTaskExample, { rubric }: Pick<LogicRubricPhase, 'rubric'>): Criterion[] => {
  const thinking = readLogicResponse(encodeResponse(problem)).thinking
  const pair = [logicEvidenceOf(problem, thinking, null), logicEvidenceOf(problem, '', null)] as const
  return logicHints(problem, pair, rubric, new Rng(`${LOGIC_RUBRIC_TEST_SEED}/hints/${problem.id}`))
}

/** The prompt with such hints. */
export const toldPrompt = (problem: LogicTaskExample, config: Pick<LogicRubricPhase, 'rubric'>): TokenIds =>
  task.prompt(problem, hintsOf(problem, config))

const followed = (
  problem: LogicTaskExample,
  tokens: Int32Array,
  config: LogicRubricPhase,
): ScoredResponse => {
  const response = thinking.read(tokens)
  const evidence = logicEvidenceOf(problem, response.thinking, null)
  const verdicts = hintsOf(problem, config).map(
    ({ text, points }): Verdict => ({
      criterionId: points > 0 ? 'done as told' : 'avoided as told',
      met: isMet(readLogicCriterion(text)!, evidence) === points > 0,
      source: 'rule',
    }),
  )
  const score = verdicts.filter(({ met }) => met).length / verdicts.length
  return { score, verdicts, wellFormed: response.closed }
}

/** Whether a rubric is one of the grammar, from its first token to its end. */
const rubricGrade = (tokens: Int32Array, { rubric }: LogicRubricPhase): ScoredResponse => {
  const automaton = logicRubricAutomaton({ criteria: { min: rubric.criteria.min, max: 15 }, outcomes: true })
  const ids = Array.from(tokens)
  const whole = ids.at(-1) === LOGIC_TOKENS.eos ? ids : [...ids, LOGIC_TOKENS.eos]
  const ok = follow(automaton, whole) !== null
  return {
    score: Number(ok),
    verdicts: [{ criterionId: 'grammar', met: ok, source: 'rule' }],
    wellFormed: ok,
  }
}

/** How a role's responses are asked for and scored. */
interface EvaluatedRole {
  set: string
  maxTokens: number
  prompt(problem: LogicTaskExample, index: number): TokenIds
  grade(problem: LogicTaskExample, tokens: Int32Array): Promise<ScoredResponse> | ScoredResponse
}

/** The rows of a step. Rubrics are asked about the responses of the plain prompt. */
export const evaluateLogicRoles = async (
  policy: Policy,
  config: LogicRubricPhase,
  step: number,
): Promise<EvalRow[]> => {
  const problems = testProblems(config)
  const { samples, maxTokens, rubricTokens } = config.evaluation
  const shown: ThoughtResponse[] = []
  const roles: EvaluatedRole[] = [
    {
      set: 'unseen',
      maxTokens,
      prompt: problem => task.prompt(problem),
      grade: async (problem, tokens) => {
        shown.push(rubricator.masked(problem, thinking.read(tokens)))
        return (await task.grade([{ problem, tokens }]))[0]
      },
    },
    {
      set: 'told',
      maxTokens,
      prompt: problem => toldPrompt(problem, config),
      grade: (problem, tokens) => followed(problem, tokens, config),
    },
    {
      set: 'rubrics',
      maxTokens: rubricTokens,
      prompt: (problem, i) => rubricator.prompt(problem, shown[i * samples]),
      grade: (_problem, tokens) => rubricGrade(tokens, config),
    },
  ]
  const rows: EvalRow[] = []
  for (const { set, prompt, grade, maxTokens: most } of roles) {
    const sampling = { maxTokens: most, temperature: 1, seed: 'evaluation', stopTokens: [LOGIC_TOKENS.eos] }
    const drawn = await drawResponses(policy, problems, { samples, sampling }, prompt)
    const said = await Promise.all(drawn.map(own => grade(problems[own.prompt], own.tokens)))
    const head = { step, set, samples, temperature: 1 }
    rows.push(rubricRow(task, head, answersBy(problems, drawn, said)))
  }
  return rows
}
