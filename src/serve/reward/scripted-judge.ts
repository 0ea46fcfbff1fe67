/** @file A judge that follows a script: for examples and tests of a setup, without a model and without a key. */

import { z } from 'zod'
import type { GradeItem, Grader } from '../../grade/grader.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'

export const scriptedJudgeSchema = z.strictObject({
  kind: z.literal('scripted'),
  script: z
    .array(
      z.strictObject({
        criterion: z
          .string()
          .min(1)
          .describe('Text to find in the id or the text of a criterion, in upper or lower case.'),
        metWhen: z
          .array(z.string().min(1))
          .min(1)
          .describe(
            'The criterion is met if the response has one of these words or phrases, in upper or lower case.',
          ),
      }),
    )
    .describe('Lines are tried in order; the first whose criterion fits decides.'),
  otherwise: z
    .boolean()
    .nullable()
    .default(null)
    .describe('Verdict if no line fits; null: the judge cannot tell.'),
})
export type ScriptedJudgeConfig = z.output<typeof scriptedJudgeSchema>

interface Line {
  criterion: string
  words: readonly string[]
  finder: RegExp
}

/** Whole words: no letter or digit stands before or behind. */
const finderOf = (words: readonly string[]): RegExp => {
  const escaped = words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})(?![\\p{L}\\p{N}])`, 'iu')
}

/** Does what its script says. */
export class ScriptedJudge implements Grader {
  private readonly lines: readonly Line[]
  private readonly otherwise: boolean | null

  constructor({ script, otherwise }: ScriptedJudgeConfig) {
    this.otherwise = otherwise
    this.lines = script.map(({ criterion, metWhen }) => ({
      criterion: criterion.toLowerCase(),
      words: metWhen,
      finder: finderOf(metWhen),
    }))
  }

  async grade(item: GradeItem, criteria: readonly Criterion[]): Promise<Verdict[]> {
    return criteria.map(criterion => this.verdict(item, criterion))
  }

  private verdict({ response }: GradeItem, { id, text }: Criterion): Verdict {
    const about = `${id}\n${text}`.toLowerCase()
    const line = this.lines.find(({ criterion }) => about.includes(criterion))
    if (line === undefined)
      return {
        criterionId: id,
        met: this.otherwise,
        explanation: 'no line of the script fits',
        source: 'model',
      }
    const met = line.finder.test(response)
    return {
      criterionId: id,
      met,
      explanation: `script: looked for ${line.words.join(', ')}`,
      source: 'model',
    }
  }
}
