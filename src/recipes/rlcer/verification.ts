/** @file Proposed rubrics: how they are asked for, and verdicts of them on every response to their question. */

import type { Proposal } from '../../grade/proposal/index.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import type { RubricatorTask } from '../../tasks/scored-response.ts'
import type { ThinkingVerifier, ThoughtResponse, VerifierItem } from '../../tasks/thinking.ts'
import type { RlcerConfig } from './config.ts'
import type { JudgedRubric } from './rewards.ts'

/** A response as rubricator and verifier see it. */
export const seenOf = <Problem>(
  { maskFinalAnswer }: Pick<RlcerConfig, 'maskFinalAnswer'>,
  { rubricator }: Pick<RubricatorTask<Problem>, 'rubricator'>,
  problem: Problem,
  response: ThoughtResponse,
): ThoughtResponse => (maskFinalAnswer ? rubricator.masked(problem, response) : response)

/**
 * Asks for a rubric about as much of a response as leaves room for it: thinking that was read and written again may be longer
 * than it was.
 */
export const fittingPrompt = <Problem>(
  { rubricator }: Pick<RlcerConfig, 'rubricator'>,
  { task, positions = Number.POSITIVE_INFINITY }: { task: RubricatorTask<Problem>; positions?: number },
  problem: Problem,
  response: ThoughtResponse,
): TokenIds => {
  const room = positions - rubricator.maxTokens
  const whole = task.rubricator.prompt(problem, response)
  if (whole.length <= room) return whole
  const promptOf = (length: number) => {
    const thinking = response.thinking.slice(0, length)
    return task.rubricator.prompt(problem, {
      ...response,
      text: thinking,
      thinking,
      answer: '',
      closed: false,
    })
  }
  let fits = 0
  for (let step = 2 ** Math.ceil(Math.log2(response.thinking.length + 1)); step >= 1; step /= 2)
    if (fits + step <= response.thinking.length && promptOf(fits + step).length <= room) fits += step
  return promptOf(fits)
}

/** What a rubricator wrote, and what the verifier says of it on every response to the question. */
export interface RubricGrade {
  proposal: Proposal
  /** By response, in the order of the criteria. */
  verdicts_N_K: readonly (readonly Verdict[])[]
  /** The same by execution, where another verifier decides and that is possible. */
  truth_N_K?: readonly (readonly Verdict[])[]
  /** What that makes of its criteria; known once the answers are. */
  judged?: JudgedRubric
}

/** A rubric to be verified on all responses to its question; `key` names the rubricator's rollout. */
export interface ProposedRubric<Problem> {
  problem: Problem
  responses: readonly ThoughtResponse[]
  key: string
  proposal: Proposal
}

export interface Verifiers<Problem> {
  verifier: ThinkingVerifier<Problem>
  /** Decides by execution; absent where the verifier does, and where nothing can. */
  truth?: ThinkingVerifier<Problem>
}

/** Verdicts of every rubric on every response to its question. */
export const verifyProposals = async <Problem>(
  { verifier, truth }: Verifiers<Problem>,
  rubrics: readonly ProposedRubric<Problem>[],
): Promise<RubricGrade[]> => {
  const items = rubrics.flatMap(({ problem, responses, key, proposal: { criteria } }) =>
    criteria.length === 0
      ? []
      : responses.map((response, m) => ({ problem, response, key: `${key}|${m}`, rubric: { criteria } })),
  )
  const [verdicts, truths] = await Promise.all([
    verifiedBy(verifier, items),
    truth ? verifiedBy(truth, items) : null,
  ])
  const given = verdicts.values()
  const true_ = truths?.values()
  return rubrics.map(({ responses, proposal }) => {
    const take = (from: Iterator<Verdict[]>) =>
      responses.map(() => (proposal.criteria.length === 0 ? [] : from.next().value!))
    return { proposal, verdicts_N_K: take(given), ...(true_ && { truth_N_K: take(true_) }) }
  })
}

/** Lists of another length than the rubric are no verdicts: which of them is about which criterion is anybody's guess. */
const verifiedBy = async <Problem>(
  verifier: ThinkingVerifier<Problem>,
  items: readonly VerifierItem<Problem>[],
): Promise<Verdict[][]> => {
  if (items.length === 0) return []
  const lists = await verifier.verify(items)
  return items.map(({ rubric: { criteria } }, i) => {
    const list = lists[i]
    if (list?.length === criteria.length) return list
    const explanation = `expected ${criteria.length} verdicts, one a criterion, got ${list?.length ?? 'none'}`
    return criteria.map(({ id }): Verdict => ({ criterionId: id, met: null, explanation, source: 'model' }))
  })
}
