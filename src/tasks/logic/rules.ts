/** @file The rules, facts and query of a ProntoQA-style problem, read off its formulas. */

import { parseSentence } from '../../grade/logic/english.ts'
import type { Formula } from '../../grade/logic/formula.ts'
import type { LogicProblem } from '../../grade/logic/problem.ts'
import { ALL_NOUNS } from './vocabulary.ts'

/** "Every `subject` is (not) `object`", or with `fact` "`subject` is (not) `object`". `place`: the premise's index. */
export interface LogicRule {
  fact: boolean
  subject: string
  object: string
  negated: boolean
  place: number
}

const literal = (formula: Formula): { name: string; argument: string; negated: boolean } | null => {
  const negated = formula.kind === 'not'
  const body = formula.kind === 'not' ? formula.body : formula
  return body.kind === 'atom' && body.args.length === 1
    ? { name: body.name, argument: body.args[0], negated }
    : null
}

/** A formula as a rule or fact of the ProntoQA fragment; null for any other. */
export const readRule = (formula: Formula, place = 0): LogicRule | null => {
  if (formula.kind === 'forall' && formula.body.kind === 'implies') {
    const from = literal(formula.body.left)
    const to = literal(formula.body.right)
    if (!from || !to || from.negated) return null
    return { fact: false, subject: from.name, object: to.name, negated: to.negated, place }
  }
  const fact = literal(formula)
  return fact && { fact: true, subject: fact.argument, object: fact.name, negated: fact.negated, place }
}

const KINDS: ReadonlySet<string> = new Set(ALL_NOUNS)

/** A sentence's rule, and whether it leads to a kind; null for facts. @throws SentenceError outside the controlled English */
export const ruleIn = (text: string): (LogicRule & { leadsOn: boolean }) | null => {
  const rule = readRule(parseSentence(text))
  return rule === null || rule.fact ? null : { ...rule, leadsOn: KINDS.has(rule.object) }
}

/** A problem of the fragment: its rules in the order shown, its facts, its query. */
export interface RuleView {
  rules: LogicRule[]
  facts: LogicRule[]
  query: LogicRule
}

/** The whole problem as rules; null when one of its formulas lies outside the fragment (its shallow cues are then not defined). */
export const readRules = (problem: LogicProblem): RuleView | null => {
  const query = problem.conclusionFol && readRule(problem.conclusionFol)
  const all = problem.premisesFol.map(readRule)
  if (!query?.fact || all.some(rule => rule === null)) return null
  const known = all as LogicRule[]
  return { rules: known.filter(rule => !rule.fact), facts: known.filter(rule => rule.fact), query }
}
