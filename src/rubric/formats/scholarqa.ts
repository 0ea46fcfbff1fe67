/** @file ScholarQA-CS rows: a question with weighted ingredients and their evidence (AkariAsai/ScholarQABench). */

import { z } from 'zod'
import { DataError } from '../../util/errors.ts'
import { parseWith } from '../../util/schema.ts'
import { type Criterion, pointsSchema } from '../criterion.ts'
import { uniqueNames } from '../unique.ts'
import {
  checkHolds,
  extraOf,
  type Fields,
  isObject,
  needsKeys,
  ownExtra,
  ownPart,
  questionOf,
  type RubricFormat,
  userPrompt,
} from './item.ts'

const name = 'scholarqa-cs'

const schema = z.looseObject({
  initial_prompt: z.string(),
  case_id: z.string().optional(),
  metric_config: z.looseObject({
    config: z.looseObject({
      question: z.string().optional(),
      other_properties: z.array(
        z.looseObject({ name: z.string().min(1), criterion: z.string().min(1), weight: pointsSchema }),
      ),
    }),
  }),
})

type Property = z.output<typeof schema>['metric_config']['config']['other_properties'][number]

/** `most_important_item_3` is an ingredient of category most_important. */
const categoryOf = (title: string): { category?: string } => {
  const category = /^(.+)_item_\d+$/.exec(title)?.[1]
  return category === undefined ? {} : { category }
}

const readProperty = (property: Property, id: string): Criterion => ({
  id,
  title: property.name,
  text: property.criterion,
  points: property.weight,
  ...categoryOf(property.name),
  ...extraOf(property, ['name', 'criterion', 'weight']),
})

const asFields = (value: unknown): Fields => (isObject(value) ? value : {})

/**
 * Ingredients are the criteria, their weights the points. What the metric measures beside them (length, expertise,
 * citations, excerpts, with weights of their own) is no criterion of ours and stays among the item's extra fields.
 */
export const scholarqa: RubricFormat = {
  name,
  mismatch: row => needsKeys(row, ['initial_prompt', 'metric_config']),

  read: (value, place, id) => {
    const row = parseWith(schema, value, place, DataError)
    const { config } = row.metric_config
    const unique = uniqueNames()
    const repeated = config.question === row.initial_prompt ? ['question'] : []
    const metric = {
      ...extraOf(row.metric_config, ['config']).extra,
      config: {
        ...extraOf(config, ['other_properties', ...repeated]).extra,
        ...(repeated.length > 0 ? { repeatsQuestion: true } : {}),
      },
    }
    return {
      id: row.case_id ?? id,
      prompt: userPrompt(row.initial_prompt),
      rubric: { criteria: config.other_properties.map(p => readProperty(p, unique(p.name))) },
      source: name,
      extra: { ...extraOf(row, ['initial_prompt', 'metric_config']).extra, metric_config: metric },
    }
  },

  write: item => {
    checkHolds(item, name, {})
    const question = questionOf(item, name)
    const { metric_config, ...extra } = ownExtra(item, name)
    const { config, ...metric } = asFields(metric_config)
    const { repeatsQuestion = item.source !== name, ...settings } = asFields(config)
    const properties = item.rubric.criteria.map(criterion => ({
      name: criterion.title ?? criterion.id,
      criterion: criterion.text,
      weight: criterion.points,
      ...ownPart(item, criterion, name),
    }))
    return {
      initial_prompt: question,
      metric_config: {
        ...(item.source === name ? {} : { name: 'rubric_corpusqa_generic' }),
        ...metric,
        config: { ...(repeatsQuestion ? { question } : {}), ...settings, other_properties: properties },
      },
      ...(item.source === name ? {} : { case_id: item.id }),
      ...extra,
    }
  },
}
