/** @file All rule predicates by name, and how a criterion's rule is found, checked and run. */

import { z } from 'zod'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { closest } from '../../util/schema.ts'
import type { GradeItem } from '../grader.ts'
import { ANSWER_RULES } from './answers.ts'
import { CITATION_RULES } from './citations.ts'
import { FORMAT_RULES } from './format.ts'
import { INSTRUCTION_RULES } from './instruction.ts'
import { JSON_RULES } from './json.ts'
import { LENGTH_RULES } from './length.ts'
import { LIKELIHOOD_RULES } from './likelihood.ts'
import { MENTION_RULES } from './mentions.ts'
import { OVERLAP_RULES } from './overlap.ts'
import { REGEX_RULES } from './regex.ts'
import { defineRule, type Rule, type RuleCheck, type RuleOutcome } from './rule.ts'

const COIN_RULES = [
  defineRule({
    name: 'coin',
    about:
      'Falls like a coin, the same way for the same response: the verdict of a criterion too vague to judge.',
    params: {
      seed: z.string(),
      probability: z.number().min(0).max(1).default(0.5),
    },
    compile:
      ({ seed, probability }) =>
      text =>
        new Rng(`${seed}/${text}`).next() < probability,
  }),
]

const ALL: readonly Rule[] = [
  ...FORMAT_RULES,
  ...LENGTH_RULES,
  ...MENTION_RULES,
  ...REGEX_RULES,
  ...JSON_RULES,
  ...CITATION_RULES,
  ...OVERLAP_RULES,
  ...ANSWER_RULES,
  ...INSTRUCTION_RULES,
  ...COIN_RULES,
  ...LIKELIHOOD_RULES,
]

/** Every rule by its name. */
export const RULES: ReadonlyMap<string, Rule> = new Map(ALL.map(rule => [rule.name, rule]))

/** @throws DataError for a name that no rule has. */
const ruleNamed = (fn: string, source: string): Rule => {
  const rule = RULES.get(fn)
  if (rule) return rule
  const names = [...RULES.keys()]
  const near = closest(fn, names)
  throw new DataError(
    `${source}: fn: expected one of ${names.join(', ')}, got ${JSON.stringify(fn)}; ${near ? `did you mean ${near}?` : 'correct the name, or leave the criterion to a judge'}`,
  )
}

const NO_PARAMETERS = {}
const compiled = new WeakMap<object, Map<string, RuleCheck>>()

/**
 * The check of a rule with its parameters. Parameters are looked at once and remembered with their object; never change
 * one in place.
 * @throws DataError for a rule that does not exist, or parameters that it does not take.
 */
export const compileRule = (
  fn: string,
  params: unknown = NO_PARAMETERS,
  source = `rule ${fn}`,
): RuleCheck => {
  if (typeof params !== 'object' || params === null)
    return ruleNamed(fn, source).compile(params, `${source}: params`)
  const known = compiled.get(params) ?? new Map<string, RuleCheck>()
  compiled.set(params, known)
  let check = known.get(fn)
  if (!check) {
    check = ruleNamed(fn, source).compile(params, `${source}: params`)
    known.set(fn, check)
  }
  return check
}

/**
 * Runs a rule on a response.
 * @throws DataError as `compileRule` does; never because of the response.
 * @example
 * checkRule('contains', { any: ['Seine'] }, { prompt: [], response: 'The Seine.' }).met // true
 */
export const checkRule = (fn: string, params: unknown, item: GradeItem): RuleOutcome =>
  compileRule(fn, params)(item)

/** Where a criterion stands, for errors: `rubric.yaml: criteria[2] "cites"`. */
export const criterionPlace = (source: string, index: number, { id }: Criterion): string =>
  `${source}: criteria[${index}] ${JSON.stringify(id)}: verifier`

/**
 * Checks every rule of a rubric, so that a mistake shows when the rubric is loaded and not in the middle of a run.
 * @throws DataError listing every criterion whose rule does not exist or cannot take its parameters.
 */
export const validateRules = ({ criteria }: Rubric, source = 'rubric'): void => {
  const faults = criteria.flatMap((criterion, index) => {
    const { verifier } = criterion
    if (verifier?.kind !== 'rule') return []
    try {
      compileRule(verifier.fn, verifier.params, criterionPlace(source, index, criterion))
      return []
    } catch (error) {
      if (!(error instanceof DataError)) throw error
      return [error.message]
    }
  })
  if (faults.length > 0) throw new DataError(faults.join('\n'))
}
