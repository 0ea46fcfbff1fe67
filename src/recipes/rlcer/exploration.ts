/** @file A step's rollouts of both roles: reasoners on questions, a rubricator for each of them, verdicts of every rubric on every response. */

import { readRubric } from '../../grade/proposal/distinct.ts'
import type { TokenAutomaton } from '../../model/automaton.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Graded } from '../../rl/rollout.ts'
import type { RubricatorTask, ScoredResponse } from '../../tasks/scored-response.ts'
import type { ThoughtResponse } from '../../tasks/thinking.ts'
import type { StepIo } from '../../train/rollout.ts'
import { samplingOf } from '../common/training.ts'
import type { RlcerConfig } from './config.ts'
import { fittingPrompt, type RubricGrade, seenOf, type Verifiers, verifyProposals } from './verification.ts'

export interface ReasonerGrade {
  response: ThoughtResponse
  scored: ScoredResponse
}

/** What a rubricator is asked about: one response of a question's group. */
export interface Reviewed<Problem> {
  problem: Problem
  /** All of the group, as rubricator and verifier see them. */
  responses: readonly ThoughtResponse[]
  /** Which of them is shown. */
  shown: number
}

type Reasoner<Problem> = Graded<Problem, ReasonerGrade>
type Rubricator<Problem> = Graded<Reviewed<Problem>, RubricGrade>

/** The rollouts about one question: rubricator n was shown the response of reasoner n. */
export interface QuestionRollouts<Problem> {
  problem: Problem
  reasoners: Reasoner<Problem>[]
  /** None where there are no rubricators. */
  rubricators: Rubricator<Problem>[]
}

export interface ExplorationParts<Problem> extends Verifiers<Problem> {
  task: RubricatorTask<Problem>
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
  io: StepIo,
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
    const rubricators = askRubricators(io, config, parts, own, responses, place)
    const both = Promise.all([graded, rubricators]).then(([reasoners_Q, rubricators_Q]) =>
      own.map((problem, q) => ({ problem, reasoners: reasoners_Q[q], rubricators: rubricators_Q[q] })),
    )
    // Awaited after the parts behind it; until then a failure must not count as unhandled.
    both.catch(() => {})
    explored.push(both)
  }
  return (await Promise.all(explored)).flat()
}

/** Which request of its role in the step, and whether the step samples nothing after it. */
interface Place {
  round: number
  last: boolean
}

const askReasoners = <Problem>(
  io: StepIo,
  config: Settings,
  { task }: ExplorationParts<Problem>,
  problems: readonly Problem[],
  shown: readonly (readonly TokenIds[])[] | null,
  place: Place,
): Reasoning<Problem> => {
  const responses = new Array<ThoughtResponse[]>(problems.length)
  let missing = problems.length
  let tell: (all: ThoughtResponse[][]) => void
  const allSampled = new Promise<ThoughtResponse[][]>(resolve => {
    tell = resolve
  })
  const graded = io.rollOut<Problem, ReasonerGrade>({
    ...{ role: 'reasoner', ...place, problems, sampledFrom: shown, ratio: config.ratio },
    prompt: problem => task.prompt(problem),
    samples: config.rollout.samples,
    sampling: samplingOf(config, task.stopTokens),
    onGroup: (p, rollouts) => {
      responses[p] = rollouts.map(({ tokens }) =>
        seenOf(config, task, problems[p], task.thinking.read(tokens)),
      )
      if (--missing === 0) tell(responses)
    },
    async grade(items) {
      const scored = await task.grade(
        items.map(({ problem, rollout: { tokens, key } }) => ({ problem, tokens, key })),
      )
      return items.map(({ rollout }, i) => ({
        response: task.thinking.read(rollout.tokens),
        scored: scored[i],
      }))
    },
  })
  const sampled = Promise.race([allSampled, graded.then(() => allSampled)])
  for (const promise of [graded, sampled]) promise.catch(() => {})
  return { sampled, graded }
}

/** One rubricator for every response; none at all where the configuration has none. */
const askRubricators = async <Problem>(
  io: StepIo,
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
    responses_P_N[q].map((_, shown): Reviewed<Problem> => ({ problem, responses: responses_P_N[q], shown })),
  )
  const groups = await io.rollOut<Reviewed<Problem>, RubricGrade>({
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
          proposal: readRubric(
            task.rubricator.text(item.rollout.tokens),
            item.rollout.end === 'length',
            rubricator,
          ),
        })),
      ),
  })
  const rubricators = groups.flat().values()
  return responses_P_N.map(own => own.map(() => rubricators.next().value!))
}
