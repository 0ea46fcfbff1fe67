/**
 * @file How useful a reflection on an attempt is as guidance, by a chat model that sees what its author did not: levels and
 * justifications of the judge of stages (content of RubricEM, appendix D.6.2; our words).
 */

import type { ChatMessage } from '../../chat/chat-model.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { JudgeError } from '../../util/errors.ts'
import type { Quote } from '../../util/untrusted.ts'
import type { Grader } from '../grader.ts'
import { entriesTemplate, judgeFormOf, questionParts, zeroToOne } from '../judge/templates/lists.ts'
import type { JudgedRollout } from './evolve.ts'
import { renderParts, shownParts } from './render.ts'
import { type RolloutPart, STAGE_NAMES, type StagedRollout, type StageRubric } from './rubrics.ts'

/** What a reflection is scored on, each from 0 to 1; the first is that of the paper's first weight. */
const DIMENSIONS = [
  {
    id: 'diagnostic_accuracy',
    says: 'It names what really decided how well this attempt went. What it says happened did happen, and the levels and reasons of the judge bear it out; it neither misses the main fault nor makes one up.',
  },
  {
    id: 'specificity',
    says: 'Whoever attempts this question next knows from it what to keep and what to do otherwise: which fact, comparison, source or step. Advice that fits any question earns nothing here.',
  },
  {
    id: 'scope_and_balance',
    says: 'Its lessons carry over to other questions of the kind, in a form that can be acted on; it weighs merits and faults as they deserve, keeps to the few that matter most, and does not just hand over the answer.',
  },
] as const

export interface ReflectionMarks {
  diagnosticAccuracy: number
  specificity: number
  scopeAndBalance: number
}

const template = entriesTemplate({
  name: 'reflection-judge/scores',
  version: 1,
  scale: zeroToOne('reflection-scores', 'score'),
  instructions: [
    'You judge advice. An agent worked on a research question, a judge scored its work stage by stage, and then somebody who saw the work but not the scores wrote a reflection on it: what matters for the question, and a few lessons. You see all of it. Say how much the reflection is worth as guidance for later attempts.',
    'Rules:',
    ...[
      'You judge the reflection and not the work: a poor attempt may be looked back at well, and a good one badly.',
      'The levels and reasons of the judge are evidence about the work. Use them to find out whether the diagnosis is right; they may be wrong in places, and the trajectory decides then.',
      'Advice must rest on what can be seen in the trajectory. Claims that nothing there supports, and mere retelling, are worth little.',
      'Length, tone, layout and promises of its own value earn nothing.',
      'Use the whole range: 0 useless or misleading, 0.25 little, 0.5 of some use, 0.75 good, 1 as useful as it could be. Values between are allowed. Where it cannot be told from what you are shown, give null.',
      'Keep the order of the list and its numbers. Give exactly one entry each; leave none out and add none.',
    ].map(rule => `- ${rule}`),
  ],
  decides: 'what decides it, briefly',
  answerName: () => 'reflection_scores',
  list: (criteria, quote) => [
    'The reflection:',
    quote(criteria[0].text, 'reflection'),
    `Score it on these, ${criteria.length} in all:`,
    ...criteria.map(({ id }, index) => `${index + 1}. ${id}: ${DIMENSIONS.find(own => own.id === id)?.says}`),
  ],
  shown: ({ id, text }) => [id, text],
})

/** A rubric with what the judge of stages said by it. */
interface ShownVerdict extends Pick<StageRubric, 'stage' | 'sign' | 'title' | 'description'> {
  level: number | null
  justification: string
}

/** What is judged beside the reflection: the item's response, as JSON. */
interface Shown {
  parts: RolloutPart[]
  /** Null where the work could not be scored. */
  verdicts: ShownVerdict[] | null
}

const verdictLines = (verdicts: Shown['verdicts'], quote: Quote): string[] =>
  verdicts === null || verdicts.length === 0
    ? ['The judge of the work gave no levels.']
    : [
        'What the judge of the work said, by rubric (level 0 to 2: of a merit how much of it is there, of a flaw how much it shows):',
        ...verdicts.map(({ stage, sign, title, description, level, justification }) =>
          [
            `Stage ${stage}, ${STAGE_NAMES[stage - 1]}; ${sign === 'positive' ? 'a merit' : 'a flaw'}; ${level === null ? 'no level' : `level ${level}`}`,
            quote(`${title}: ${description}`, 'criterion'),
            ...(justification === '' ? [] : [quote(justification, 'reason')]),
          ].join('\n'),
        ),
      ]

/** A question, a staged rollout, and what was said of it; the reflection is the text of every criterion. */
export const REFLECTION_JUDGE = judgeFormOf(template, (item, options, quote) => {
  const { parts, verdicts } = JSON.parse(item.response) as Shown
  return [
    'The question:',
    ...questionParts(item, options, quote),
    'What the agent did, in order:',
    ...renderParts(parts, quote),
    ...verdictLines(verdicts, quote),
  ].join('\n')
})

/** A reflection to judge, with all that its judge is told. */
export interface ReflectionToJudge {
  prompt: readonly ChatMessage[]
  rollout: StagedRollout
  rubrics: readonly StageRubric[]
  /** What the judge of stages said of the rollout; null where nothing is known. */
  judged: Pick<JudgedRollout, 'scores'> | null
  reflection: string
}

const verdictsOf = ({ rubrics, judged }: ReflectionToJudge): ShownVerdict[] | null =>
  judged &&
  rubrics.flatMap(({ id, stage, sign, title, description }) => {
    const scored = Object.hasOwn(judged.scores, id) ? judged.scores[id] : null
    if (scored === null) return []
    const { level, justification = '' } = scored
    return [{ stage, sign, title, description, level, justification }]
  })

/**
 * Scores a reflection, in one call; null where the judge failed, cannot be read, or cannot tell on one of the three.
 * @param grader a judge of form `REFLECTION_JUDGE`, asked about the whole `rubric` in one call
 * @param shownCharacters of each part of the rollout, at most; null: all
 * @throws what the judge throws for every call, and an aborted signal's reason
 */
export const judgeReflection = async (
  grader: Grader,
  asked: ReflectionToJudge,
  shownCharacters: number | null = null,
): Promise<ReflectionMarks | null> => {
  const parts = shownParts(asked.rollout, shownCharacters)
  const shown: Shown = { parts, verdicts: verdictsOf(asked) }
  const item = { prompt: asked.prompt, response: JSON.stringify(shown) }
  const criteria = DIMENSIONS.map(({ id }): Criterion => ({ id, text: asked.reflection, points: 1 }))
  try {
    const marks = (await grader.grade(item, criteria)).map(({ credit }) => credit)
    const [diagnosticAccuracy, specificity, scopeAndBalance] = marks
    if (diagnosticAccuracy === undefined || specificity === undefined || scopeAndBalance === undefined)
      return null
    return { diagnosticAccuracy, specificity, scopeAndBalance }
  } catch (error) {
    if (!(error instanceof JudgeError) || error.fatal || error.kind === 'cancelled') throw error
    return null
  }
}
