/** @file A step's rollouts of both roles: reasoners on questions, a rubricator for each of them, verdicts of every rubric on every response. */

import { type Proposal, readProposal } from '../../grade/proposal/index.ts'
import type { TokenAutomaton } from '../../model/automaton.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Graded } from '../../rl/rollout.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import type { ScoredResponse } from '../../tasks/scored-response.ts'
import type { RubricatorTask, ThinkingVerifier, ThoughtResponse, VerifierItem } from '../../tasks/thinking.ts'
import type { GradeItem } from '../../train/grading.ts'
import type { Io } from '../../train/rollout.ts'
import { samplingOf } from '../common/training.ts'
import type { RlcerConfig } from './config.ts'
import type { JudgedRubric } from './rewards.ts'

export interface ReasonerGrade {
  response: ThoughtResponse
  scored: ScoredResponse
}

/** What a rubricator is asked about: one response of a question's group. */
export interface Asked<Problem> {
  problem: Problem
  /** All of the group, as rubricator and verifier see them. */
  responses: readonly ThoughtResponse[]
  /** Which of them is shown. */
  shown: number
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

export type Reasoner<Problem> = Graded<Problem, ReasonerGrade>
export type Rubricator<Problem> = Graded<Asked<Problem>, RubricGrade>

/** The rollouts about one question: rubricator n was shown the response of reasoner n. */
export interface QuestionRollouts<Problem> {
  problem: Problem
  reasoners: Reasoner<Problem>[]
  /** None where there are no rubricators. */
  rubricators: Rubricator<Problem>[]
}

export interface ExplorationParts<Problem> {
  task: RubricatorTask<Problem>
  verifier: ThinkingVerifier<Problem>
  /** Decides by execution; absent where the verifier does, and where nothing can. */
  truth?: ThinkingVerifier<Problem>
  /** Places of the model's context; absent: prompts always fit. */
  positions?: number
  /** Holds rubricators to a grammar; absent: they write as they like. */
  rubricAutomaton?: TokenAutomaton
}

type Settings = Pick<
  RlcerConfig,
  'rollout' | 'rubricator' | 'maskFinalAnswer' | 'questionsTogether' | 'ratio'
>

/** Rubrics that are verified together: enough calls to keep a judge busy, few enough that the first do not wait. */
const VERIFIED_TOGETHER = 8

/** Reasoners of some questions on their way. */
interface Reasoning<Problem> {
  /** What they wrote, as soon as all of it is sampled. */
  sampled: Promise<ThoughtResponse[][]>
  graded: Promise<Reasoner<Problem>[][]>
}

/**
 * Samples and verifies a step. Questions go in parts: while the reasoners of one part are sampled, rubricators ask about the
 * part before, and rubrics are verified as they are finished.
 * @param shown what each reasoner is shown in place of its prompt: [question][sample]; null: nothing
 */
export const explore = async <Problem>(
  io: Io,
  config: Settings,
  parts: ExplorationParts<Problem>,
  problems: readonly Problem[],
  shown: readonly (readonly TokenIds[])[] | null,
): Promise<QuestionRollouts<Problem>[]> => {
  const { questionsTogether: size } = config
  const count = Math.ceil(problems.length / size)
  const reason = (part: number) => {
    const from = part * size
    const own = problems.slice(from, from + size)
    return askReasoners(io, config, parts, own, shown?.slice(from, from + size) ?? null, {
      round: part,
      last: part === count - 1 && !config.rubricator.enabled,
    })
  }
  const explored: Promise<QuestionRollouts<Problem>[]>[] = []
  // One part ahead, so that the policy has work while the responses of this one are read.
  let next = reason(0)
  for (let part = 0; part < count; part++) {
    const { sampled, graded } = next
    if (part + 1 < count) next = reason(part + 1)
    const responses = await sampled
    const own = problems.slice(part * size, (part + 1) * size)
    const place = { round: part, last: part === count - 1 }
    explored.push(together(own, graded, askRubricators(io, config, parts, own, responses, place)))
  }
  return (await Promise.all(explored)).flat()
}

/** Which request of its role in the step, and whether the step samples nothing after it. */
interface Place {
  round: number
  last: boolean
}

const together = <Problem>(
  problems: readonly Problem[],
  reasoning: Promise<Reasoner<Problem>[][]>,
  proposing: Promise<Rubricator<Problem>[][]>,
): Promise<QuestionRollouts<Problem>[]> => {
  const both = Promise.all([reasoning, proposing]).then(([reasoners, rubricators]) =>
    problems.map((problem, q) => ({
      problem,
      reasoners: reasoners[q],
      rubricators: rubricators[q],
    })),
  )
  // Awaited after the parts behind it; until then a failure must not count as unhandled.
  both.catch(() => {})
  return both
}

const askReasoners = <Problem>(
  io: Io,
  config: Settings,
  { task }: ExplorationParts<Problem>,
  problems: readonly Problem[],
  shown: readonly (readonly TokenIds[])[] | null,
  place: Place,
): Reasoning<Problem> => {
  const responses = new Array<ThoughtResponse[]>(problems.length)
  let missing = problems.length
  let tell: (all: ThoughtResponse[][]) => void
  const told = new Promise<ThoughtResponse[][]>(resolve => {
    tell = resolve
  })
  const graded = io.rollOut<Problem, ReasonerGrade>({
    ...{ role: 'reasoner', ...place, problems, sampledFrom: shown, ratio: config.ratio },
    prompt: problem => task.prompt(problem),
    samples: config.rollout.samples,
    sampling: samplingOf(config, task.stopTokens),
    onGroup: (p, rollouts) => {
      responses[p] = rollouts.map(({ tokens }) => seenOf(config, task, problems[p], task.read(tokens)))
      if (--missing === 0) tell(responses)
    },
    grade: items => gradeReasoners(task, items),
  })
  const sampled = Promise.race([told, graded.then(() => told)])
  for (const promise of [graded, sampled]) promise.catch(() => {})
  return { sampled, graded }
}

/** A response as rubricator and verifier see it. */
export const seenOf = <Problem>(
  { maskFinalAnswer }: Pick<RlcerConfig, 'maskFinalAnswer'>,
  task: Pick<RubricatorTask<Problem>, 'masked'>,
  problem: Problem,
  response: ThoughtResponse,
): ThoughtResponse => (maskFinalAnswer ? task.masked(problem, response) : response)

const gradeReasoners = async <Problem>(
  task: RubricatorTask<Problem>,
  items: readonly GradeItem<Problem>[],
): Promise<ReasonerGrade[]> => {
  const thoughts = items.map(({ problem, rollout: { tokens, key } }) => ({
    ...{ problem, key },
    response: task.read(tokens),
  }))
  const scored = await task.gradeAnswers(thoughts)
  return thoughts.map(({ response }, i) => ({ response, scored: scored[i] }))
}

/** One rubricator for every response; none at all where the configuration has none. */
const askRubricators = async <Problem>(
  io: Io,
  config: Settings,
  parts: ExplorationParts<Problem>,
  problems: readonly Problem[],
  responses_P_N: readonly (readonly ThoughtResponse[])[],
  place: Place,
): Promise<Rubricator<Problem>[][]> => {
  const { rubricator } = config
  if (!rubricator.enabled) return problems.map(() => [])
  const { task, rubricAutomaton: automaton } = parts
  const asked = problems.flatMap((problem, q) =>
    responses_P_N[q].map((_, shown): Asked<Problem> => ({ problem, responses: responses_P_N[q], shown })),
  )
  const groups = await io.rollOut<Asked<Problem>, RubricGrade>({
    ...{ role: 'rubricator', ...place, problems: asked, samples: 1, gradeBatch: VERIFIED_TOGETHER },
    prompt: ({ problem, responses, shown }) => fittingPrompt(config, parts, problem, responses[shown]),
    sampling: {
      ...samplingOf(config, task.stopTokens),
      maxTokens: rubricator.maxTokens,
      ...(automaton && { automaton }),
    },
    grade: items =>
      verifyProposals(
        parts,
        items.map(item => ({
          ...item.problem,
          key: item.rollout.key,
          proposal: proposalOf(item, parts, rubricator),
        })),
      ),
  })
  const rubricators = groups.flat().values()
  return responses_P_N.map(own => own.map(() => rubricators.next().value!))
}

/**
 * Asks for a rubric about as much of a response as leaves room for it: thinking that was read and written again may be longer
 * than it was.
 */
export const fittingPrompt = <Problem>(
  { rubricator }: Pick<RlcerConfig, 'rubricator'>,
  { task, positions = Number.POSITIVE_INFINITY }: Pick<ExplorationParts<Problem>, 'task' | 'positions'>,
  problem: Problem,
  response: ThoughtResponse,
): TokenIds => {
  const room = positions - rubricator.maxTokens
  const whole = task.rubricatorPrompt(problem, response)
  if (whole.length <= room) return whole
  const promptOf = (length: number) => {
    const thinking = response.thinking.slice(0, length)
    return task.rubricatorPrompt(problem, {
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

/** A rubric that ran out of tokens is none, however much of it could be mended. */
const proposalOf = <Problem>(
  { rollout: { tokens, end } }: GradeItem<Asked<Problem>>,
  { task }: ExplorationParts<Problem>,
  { format }: RlcerConfig['rubricator'],
): Proposal =>
  end === 'length'
    ? { criteria: [], K: 0, wellFormed: false, problems: ['it was cut off at its token limit'] }
    : readProposal(task.rubricatorText(tokens), format)

/** A rubric to be verified on all responses to its question; `key` names the rubricator's rollout. */
export interface ProposedRubric<Problem> extends Pick<Asked<Problem>, 'problem' | 'responses'> {
  key: string
  proposal: Proposal
}

/** Verdicts of every rubric on every response to its question. */
export const verifyProposals = async <Problem>(
  { verifier, truth }: Pick<ExplorationParts<Problem>, 'verifier' | 'truth'>,
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

/** Lists of another length than the rubric are no verdicts: which of them is about which criterion is anybody's guess (spec 1.5). */
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
