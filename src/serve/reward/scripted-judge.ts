/** @file A judge that follows a script: for examples and tests of a setup, without a model and without a key. */

import { z } from 'zod'
import type { GradeItem, Grader } from '../../grade/grader.ts'
import { BoundedRegex, MAX_PATTERN, RegexTimeout } from '../../grade/rules/bounded-regex.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'

const isPattern = (text: string): boolean => {
  try {
    return new RegExp(text, 'i') instanceof RegExp
  } catch {
    return false
  }
}

const pattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN)
  .refine(isPattern, 'a regular expression; mind its brackets and backslashes')

export const scriptedJudgeSchema = z.strictObject({
  kind: z.literal('scripted'),
  /** Lines are tried in order; the first whose criterion fits decides. */
  script: z.array(
    z.strictObject({
      /** Found in the id or the text of a criterion; upper and lower case are one. */
      criterion: z.string().min(1),
      /** Met when this regular expression is found in the response; upper and lower case are one. */
      metWhen: pattern,
    }),
  ),
  /** Verdict where no line fits: null says that the judge could not tell. */
  otherwise: z.boolean().nullable().default(null),
})
export type ScriptedJudgeConfig = z.output<typeof scriptedJudgeSchema>

interface Line {
  criterion: string
  metWhen: string
  regex: BoundedRegex
}

/** Does what its script says. */
export class ScriptedJudge implements Grader {
  private readonly lines: readonly Line[]
  private readonly otherwise: boolean | null

  /** @throws SyntaxError for a pattern that is not a regular expression. */
  constructor({ script, otherwise }: ScriptedJudgeConfig) {
    this.otherwise = otherwise
    this.lines = script.map(({ criterion, metWhen }) => ({
      criterion: criterion.toLowerCase(),
      metWhen,
      regex: new BoundedRegex(metWhen, 'i'),
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
    return { criterionId: id, ...outcome(line, response), source: 'model' }
  }
}

const outcome = ({ regex, metWhen }: Line, response: string): Pick<Verdict, 'met' | 'explanation'> => {
  try {
    return { met: regex.test(response), explanation: `script: met when ${metWhen} is found` }
  } catch (error) {
    if (error instanceof RegexTimeout) return { met: null, explanation: error.message }
    throw error
  }
}
