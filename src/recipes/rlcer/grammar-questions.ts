/** @file Miniatures as rlcer trains on them: made problems, criteria of a grammar that are executed. */

import { fewestTokens, type TokenAutomaton } from '../../model/automaton.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import type { RubricatorTask, ThinkingVerifier } from '../../tasks/thinking.ts'
import type { CriterionGrammar, RubricGrammarOptions } from '../../tasks/thinking-grammar/index.ts'
import { type ProblemStream, shuffledPasses } from '../common/problem-order.ts'
import type { RlcerConfig } from './config.ts'
import type { Questions } from './questions.ts'

/** What a miniature brings. */
export interface Miniature<Problem> {
  /** Names the order of its problems. */
  name: string
  task: RubricatorTask<Problem>
  exact: ThinkingVerifier<Problem>
  grammar: CriterionGrammar<never, string>
  automaton(options: RubricGrammarOptions): TokenAutomaton
  problemAt: ProblemStream<Problem>
  /** Never trained on. */
  testAt(index: number): Problem
}

export const grammarQuestions = <Problem>(
  { pool, outcomes }: { pool: number | null; outcomes: boolean },
  { name, task, exact, grammar, automaton, problemAt, testAt }: Miniature<Problem>,
  { seed, evaluation, rubricator }: Pick<RlcerConfig, 'seed' | 'evaluation' | 'rubricator'>,
): Questions<Problem> => {
  const { minCriteria: min, maxCriteria: max } = rubricator.format
  const test = Math.max(evaluation.problems, evaluation.rubrics)
  return {
    task,
    train: pool === null ? problemAt : passesOver(pool, problemAt, `${name}/${seed}`),
    test: Array.from({ length: test }, (_, i) => testAt(i)),
    exact: outcomes ? exact : withoutOutcomes(exact, grammar),
    rubricTokens: fewestTokens(automaton({ criteria: { min, max: min }, outcomes })),
    ...(rubricator.constrained && { rubricAutomaton: automaton({ criteria: { min, max }, outcomes }) }),
    notes: [],
    close: async () => {},
  }
}

const passesOver = <Problem>(
  pool: number,
  problemAt: ProblemStream<Problem>,
  label: string,
): ProblemStream<Problem> =>
  shuffledPasses(
    Array.from({ length: pool }, (_, i) => problemAt(i)),
    label,
  )

/** Criteria that read the last result have no verdict. */
const withoutOutcomes = <Problem>(
  exact: ThinkingVerifier<Problem>,
  grammar: CriterionGrammar<never, string>,
): ThinkingVerifier<Problem> => ({
  verify: async items => {
    const verdicts = await exact.verify(items)
    return items.map(({ rubric: { criteria } }, i) =>
      criteria.map(({ id, text }, k): Verdict => {
        if (grammar.read(text)?.predicate.outcome !== true) return verdicts[i][k]
        return { criterionId: id, met: null, source: 'rule', explanation: 'it reads the outcome' }
      }),
    )
  },
})
