import type { Proposal } from '../../grade/proposal/index.ts'
import type { TokenAutomaton } from '../../model/automaton.ts'
import type { Policy } from '../../policy/policy.ts'
import type { RubricatorTask } from '../../tasks/scored-response.ts'
import type { ThinkingVerifier, ThoughtResponse } from '../../tasks/thinking.ts'
import type { RlcerConfig } from './config.ts'
import { readRubric } from './proposed-rubric.ts'
import { fittingPrompt } from './rubricator-prompt.ts'

/** Sets of questions by name, as rows of evaluations and experiments know them. */
export const EVALUATED_SETS = {
  plain: 'unseen',
  hinted: 'hinted',
  placebo: 'placebo',
  rubrics: 'rubrics',
} as const

export interface RlcerEvaluationParts<Problem> {
  policy: Policy
  task: RubricatorTask<Problem>
  /** The one that is nearest to the truth. */
  verifier: ThinkingVerifier<Problem>
  /** A learnt one that decides in training: how far it is from the truth by now is told of the rubrics that are looked at. */
  drifting?: ThinkingVerifier<Problem>
  /** The first set and nothing else: a second pass needs no more. */
  alone?: boolean
  /** Places of the model's context; absent: prompts always fit. */
  positions?: number
  /** Holds rubricators to a grammar; absent: they write as they like. */
  rubricAutomaton?: TokenAutomaton
}

export type Evaluated<Problem> = RlcerEvaluationParts<Problem> & { config: RlcerConfig; step: number }

/** A rubric about each of these responses, at the temperature of training. */
export const proposeRubrics = async <Problem>(
  own: Evaluated<Problem>,
  problems: readonly Problem[],
  shown: readonly ThoughtResponse[],
  label: string,
): Promise<Proposal[]> => {
  const { policy, task, config } = own
  const { rubricator, rollout } = config
  const drawn = await policy.sample({
    ...{ temperature: rollout.temperature, topK: rollout.topK, topP: rollout.topP },
    ...{ maxTokens: rubricator.maxTokens, stopTokens: task.stopTokens, seed: `${label}/rubricator` },
    ...(own.rubricAutomaton && { automaton: own.rubricAutomaton }),
    prompts: problems.map((problem, p) => fittingPrompt(config, own, problem, shown[p])),
  })
  return drawn.map(({ tokens, finishReason }) =>
    readRubric(task.rubricator.text(tokens), finishReason === 'length', rubricator),
  )
}
