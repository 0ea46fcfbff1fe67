/** @file Scoring one rollout on the rubrics of its stages, in one call: a level and a justification each (our words). */

import type { Criterion } from '../../rubric/criterion.ts'
import { entriesTemplate, judgeFormOf, listScale, questionParts } from '../judge/templates/lists.ts'
import { wrong } from '../judge/templates/scale.ts'
import { renderParts } from './render.ts'
import { type RolloutPart, STAGE_NAMES, type StageRubric } from './rubrics.ts'

const SCALE = listScale({
  name: 'stage-levels',
  key: 'level',
  valueSchema: { enum: [0, 1, 2, null] },
  valueText: '0, 1, 2 or null',
  read: value => {
    if (value === null) return { value: { met: null } }
    return value === 0 || value === 1 || value === 2
      ? { value: { met: value === 2, credit: value / 2, level: value } }
      : wrong('level', 'the number 0, 1 or 2, or null', value)
  },
})

const stageText = ({ stage = 4 }: Criterion): string => `stage ${stage}, ${STAGE_NAMES[stage - 1]}`

const template = entriesTemplate({
  name: 'stage-scorer/levels',
  version: 1,
  scale: SCALE,
  instructions: [
    'You score how an agent worked on a research question. It plans, researches with tools, reviews what it found, and answers. You are given the question, everything it wrote and what its tools answered, and a numbered list of rubrics, each for one stage.',
    'Rules:',
    ...[
      'Score every rubric by itself and by the stage that it names. What another stage says is context: it may show that a claim is false, but it earns nothing here.',
      'A merit gets 0 when it is absent, 1 when part of it is there, 2 when all of it is. A flaw gets 0 when it is avoided, 1 when it shows in part, 2 when it is plainly exhibited: you say how much of the flaw is there, never how good the stage is.',
      'Go by substance. Tags, headings, length, a confident tone and the words of a rubric repeated earn nothing; a different wording or another sound way of working costs nothing.',
      'A change of plan that the evidence calls for is no flaw, and following a weak plan is no merit.',
      'Rubrics that the agent wrote for itself are references. They are not what you score by, and neither is its own opinion of how it did.',
      'Justify each level by what stands in the stage, then give the level. Where it cannot be told from what you are shown, give null.',
      'Keep the order of the list and its numbers. Give exactly one entry a rubric; leave none out and add none.',
    ].map(rule => `- ${rule}`),
  ],
  decides: 'what in the stage decides it, briefly',
  answerName: count => `stage_levels_${count}`,
  list: (criteria, quote) => [
    `The rubrics, ${criteria.length} in all:`,
    ...criteria.map(
      (criterion, index) =>
        `${index + 1}. (${stageText(criterion)}; ${criterion.points > 0 ? 'a merit' : 'a flaw'})\n${quote(`${criterion.title}: ${criterion.text}`, 'criterion')}`,
    ),
  ],
  shown: ({ title, text, points, stage }) => [title ?? '', text, Math.sign(points), stage ?? 4],
})

/** A question and one staged rollout, whose parts are the item's response as JSON. */
export const STAGE_SCORER = judgeFormOf(template, (item, options, quote) =>
  [
    'The question:',
    ...questionParts(item, options, quote),
    'What the agent did, in order:',
    ...renderParts(JSON.parse(item.response) as RolloutPart[], quote),
  ].join('\n'),
)

/** A rubric as a criterion of `STAGE_SCORER`. */
export const criterionOf = ({ id, stage, sign, title, description, weight }: StageRubric): Criterion => ({
  id,
  title,
  text: description,
  points: sign === 'positive' ? weight : -weight,
  stage,
})
