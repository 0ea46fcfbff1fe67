/** @file The worker thread that rules run in: a response and its rules in, outcomes out. */

// Loaded before the first rule: its time is the thread's, not that of a response.
import 'ajv'
import 'ajv/dist/2020.js'
import 'ajv-formats'
import { DataError, GradusError, NumericError } from '../../util/errors.ts'
import { threadFile, WorkBudget } from '../../util/thread-clock.ts'
import { serveWork } from '../../util/work-serve.ts'
import type { GradeItem } from '../grader.ts'
import { compileRule } from './registry.ts'
import { PLACE, type RuleCheck, type RuleOutcome, type RuleReply, type RuleRequest } from './rule.ts'

/** Characters of rules remembered, as JSON; compiled they take several times as much. */
const MAX_REMEMBERED = 4_000_000

const FILE = threadFile()

const compiled = new Map<string, RuleCheck>()
let remembered = 0

const checkOf = (text: string): RuleCheck => {
  const known = compiled.get(text)
  if (known) return known
  const { fn, params } = JSON.parse(text)
  const check = compileRule(fn, params, PLACE)
  if (remembered + text.length > MAX_REMEMBERED) {
    compiled.clear()
    remembered = 0
  }
  compiled.set(text, check)
  remembered += text.length
  return check
}

/** A check that fails on a response says nothing about it. */
const run = (check: RuleCheck, item: GradeItem): RuleOutcome => {
  try {
    return check(item)
  } catch (error) {
    if (error instanceof NumericError) throw error
    const why = error instanceof GradusError ? error.message : `the rule failed: ${(error as Error).message}`
    return { met: null, explanation: why }
  }
}

const compileAll = (rules: readonly string[], reach: (part: number) => void) => {
  const checks: RuleCheck[] = []
  const unusable: { index: number; why: string }[] = []
  for (const [index, text] of rules.entries()) {
    reach(index)
    try {
      checks.push(checkOf(text))
    } catch (error) {
      if (!(error instanceof DataError)) throw error
      unusable.push({ index, why: error.message })
    }
  }
  return { checks, unusable }
}

serveWork<RuleRequest, RuleReply>(({ rules, item, budgetMs }, reach) => {
  const whole = new WorkBudget(budgetMs, FILE)
  const { checks, unusable } = compileAll(rules, reach)
  if (unusable.length > 0) return { unusable }
  if (item === null) return { outcomes: [], tookMs: whole.usedMs() }
  // From here on: what is compiled is compiled once, and the thread's own limit is on both.
  const budget = new WorkBudget(budgetMs, FILE)
  const late = { met: null, explanation: `not checked: the rules before it took ${budgetMs} ms (budgetMs)` }
  try {
    const outcomes = checks.map((check, index): RuleOutcome => {
      if (index > 0 && budget.isSpent()) return late
      reach(index)
      return run(check, item)
    })
    return { outcomes, tookMs: whole.usedMs() }
  } catch (error) {
    if (error instanceof NumericError) return { notFinite: error.message }
    throw error
  }
})
