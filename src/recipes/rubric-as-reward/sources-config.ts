/** @file Where problems come from, as a configuration names it: sources with weights, to train on and to test on. */

import { z } from 'zod'
import { LOGIC_STYLES } from '../../tasks/logic/generator.ts'
import { LOGIC_FILE_FORMATS } from '../../tasks/logic/loaders.ts'
import { problemShape } from '../../tasks/logic/start-settings.ts'
import { kindSchema } from '../../train/config.ts'
import { ConfigError } from '../../util/errors.ts'
import { hopCount, hopWeights } from './lengths.ts'

const sharedShape = {
  name: z.string().min(1).optional().describe('What figures call it; its kind when absent.'),
  weight: z
    .number()
    .positive()
    .default(1)
    .describe('Problems of this source, relative to the weights of the others.'),
}

/** Rows of a file, in the form in which ProntoQA, ProofWriter or FOLIO publish theirs. */
const fileSourceSchema = z.strictObject({
  kind: z.enum(LOGIC_FILE_FORMATS).describe('Which kind; each has keys of its own.'),
  path: z.string().min(1).describe('The file.'),
  ...sharedShape,
  part: z
    .enum(['train', 'test'])
    .optional()
    .describe(
      'Of one file, to train on and to test on: a fifth of its contexts are `test`. Absent: all rows.',
    ),
})

/** Generated problems; what is absent is the task's own setting. */
const generatedSourceSchema = kindSchema('generated', {
  ...sharedShape,
  hops: z.union([hopCount, hopWeights]).optional().describe('Length of a proof in steps.'),
  style: z.enum(LOGIC_STYLES).optional().describe('Style of the generated problems.'),
  labels: z.enum(['two-way', 'three-way']).optional().describe('Which answers occur: balanced, or one only.'),
  ...problemShape,
})

export const sourcesSchema = z
  .array(z.discriminatedUnion('kind', [fileSourceSchema, generatedSourceSchema]))
  .min(1)

export type FileSource = z.output<typeof fileSourceSchema>
type GeneratedSource = z.output<typeof generatedSourceSchema>
export type SourceSettings = FileSource | GeneratedSource

/** What figures call a source. */
export const sourceName = ({ name, kind }: SourceSettings): string => name ?? kind

/** Refuses two sources of one name, whose figures could not be told apart. @param key setting that lists them @throws ConfigError */
export const checkSourceNames = (sources: readonly SourceSettings[], key: string): void => {
  const names = sources.map(sourceName)
  const second = names.findIndex((name, i) => names.indexOf(name) < i)
  if (second >= 0)
    throw new ConfigError(
      `${key}[${second}].name: expected a name of its own, got "${names[second]}", which source ${names.indexOf(names[second])} has`,
      { hint: 'give each of them another name' },
    )
}
