/** @file Thinking on the logic task, step by step: what each states, and how it goes with the premises and the steps before it. */

import { parseSentence, SentenceError } from '../../../grade/logic/english.ts'
import { remembered } from '../../../util/remembered.ts'
import type { LogicTaskExample } from '../example.ts'
import { type LogicRule, readRule } from '../rules.ts'
import { type Closure, closureOf } from './closure.ts'

/** What a step says: a rule about a kind, or a fact about an individual. */
export type StepStatement = Pick<LogicRule, 'fact' | 'subject' | 'object' | 'negated'>

/** A numbered line of the thinking. */
export interface LogicStep {
  number: number
  /** Without its number, in lower case, without a full stop. */
  text: string
  /** Null where it cannot be read. */
  statement: StepStatement | null
  /** Whether a premise means the same. */
  premise: boolean
  /** Whether a premise says the same in the same words. */
  verbatim: boolean
  /** Whether the premises entail it. */
  follows: boolean
  /** Whether it is a premise, or comes by one rule from the steps before it. */
  supported: boolean
  /** Whether an earlier step says the same. */
  repeats: boolean
}

export interface LogicThinking {
  steps: readonly LogicStep[]
  /** Lines that are no numbered step. */
  others: number
  text: string
}

const STEP = /^(\d{1,4})\. ?(.*)$/
/** Longest thinking that is read, characters, and most steps: a five-hop proof has 11. */
const MOST_CHARACTERS = 20_000
const MOST_STEPS = 200
const LONGEST_SENTENCE = 200

const plain = (text: string): string => text.trim().toLowerCase().replace(/\.$/, '')

// Sentences of the fragment are a few thousand; what else a policy writes must not fill the memory.
const MOST_KNOWN = 20_000

/** What a sentence says; null outside the fragment. */
const statementOf = remembered((text): StepStatement | null => {
  if (text.length > LONGEST_SENTENCE) return null
  try {
    return readRule(parseSentence(text))
  } catch (error) {
    if (error instanceof SentenceError) return null
    throw error
  }
}, MOST_KNOWN)

export const sameStatement = (a: StepStatement, b: StepStatement): boolean =>
  a.fact === b.fact && a.subject === b.subject && a.object === b.object && a.negated === b.negated

export const isOpposite = (a: StepStatement, b: StepStatement): boolean =>
  sameStatement(a, { ...b, negated: !b.negated })

/** Whether one rule leads to a fact from facts that were stated. */
const derived = (statement: StepStatement, stated: readonly StepStatement[], { view }: Closure): boolean =>
  statement.fact &&
  [...stated, ...view.rules].some(
    rule =>
      !rule.fact &&
      rule.object === statement.object &&
      rule.negated === statement.negated &&
      stated.some(
        fact =>
          fact.fact && !fact.negated && fact.subject === statement.subject && fact.object === rule.subject,
      ),
  )

/** Reads thinking. What is no numbered step counts as an other line; nothing throws. */
export const readLogicThinking = (problem: LogicTaskExample, thinking: string): LogicThinking => {
  const closure = closureOf(problem)
  const text = thinking.slice(0, MOST_CHARACTERS).toLowerCase()
  const lines = text.split('\n').filter(line => line.trim() !== '')
  const premises = new Set(problem.premises.map(plain))
  const said: StepStatement[] = []
  const steps: LogicStep[] = []
  let others = 0
  for (const line of lines) {
    const found = STEP.exec(line.trim())
    if (!found || steps.length >= MOST_STEPS) {
      others++
      continue
    }
    const own = plain(found[2])
    const statement = statementOf(own)
    const premise =
      statement !== null &&
      closure !== null &&
      [...closure.view.rules, ...closure.view.facts].some(each => sameStatement(each, statement))
    steps.push({
      number: Number(found[1]),
      text: own,
      statement,
      premise,
      verbatim: premises.has(own),
      follows: statement !== null && (closure?.follows(statement) ?? false),
      supported: premise || (statement !== null && closure !== null && derived(statement, said, closure)),
      repeats: statement !== null && said.some(each => sameStatement(each, statement)),
    })
    if (statement) said.push(statement)
  }
  return { steps, others, text }
}

/** Whether thinking proves the answer: every step is a premise or comes from those before it, and the last one settles the query. */
export const isProved = (problem: LogicTaskExample, { steps }: LogicThinking): boolean => {
  const query = closureOf(problem)?.view.query
  const last = steps.at(-1)?.statement
  if (!query || !last || !steps.every(({ supported }) => supported)) return false
  if (problem.label === 'Unknown') return true
  return problem.label === 'True' ? sameStatement(last, query) : isOpposite(last, query)
}
