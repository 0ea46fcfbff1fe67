/** @file Structure of ProntoQA-style problems, counted: the yardstick that the generator is held against the real rows with. */

import type { LogicProblem } from '../../grade/logic/problem.ts'
import { type LogicRule, type RuleView, readRules } from './rules.ts'

/** Shares are of problems (or of rules where the name says so), counts are means unless a map; see `measureStructure`. */
export interface StructureStatistics {
  problems: number
  /** Share of problems by number of sentences. */
  sentences: Record<string, number>
  /** Share of rules worded with "Xs are", "Each x is", "Every x is". */
  templates: Record<'plural' | 'each' | 'every', number>
  /** Share by index of the fact's kind on the chain, from the root. */
  start: Record<string, number>
  /** Share by number of kinds after the one that settles the query. */
  nodesAfterTarget: Record<string, number>
  /** Share negated among the rules that settle a query, and among the other property rules on the chain. */
  negatedGold: number
  negatedOther: number
  negatedQuery: number
  labelTrue: number
  /** Rules about the queried adjective that do not settle it, a problem. */
  distractors: number
  /** Of those, share with the opposite sign, share placed before the settling rule, share on a kind without other rules. */
  distractorOpposite: number
  distractorBefore: number
  distractorOffChain: number
  /** Share of problems whose fact comes last. */
  factLast: number
  /** Share of problems whose chain rules run from root to leaf, property before kind. */
  ordered: number
}

const share = <T>(items: readonly T[], test: (item: T) => boolean): number =>
  items.length === 0 ? 0 : items.filter(test).length / items.length

const shares = (values: readonly (string | number)[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  for (const key of Object.keys(counts)) counts[key] /= values.length
  return counts
}

interface Reading {
  view: RuleView
  problem: LogicProblem
  chain: string[]
  start: number
  gold: LogicRule | null
  strays: LogicRule[]
  isa: LogicRule[]
}

const isKind = (rule: LogicRule, facts: readonly LogicRule[], subjects: ReadonlySet<string>): boolean =>
  subjects.has(rule.object) || facts.some(fact => fact.object === rule.object) || rule.object.endsWith('pus')

/** The chain through the fact's kind: down while there is exactly one kind below, up to the last kind. */
const readChain = (view: RuleView, isa: readonly LogicRule[]): { chain: string[]; start: number } => {
  const up = new Map(isa.map(rule => [rule.subject, rule.object]))
  const chain = [view.facts[0].object]
  for (let next = up.get(chain[0]); next !== undefined; next = up.get(next)) chain.push(next)
  let start = 0
  for (;;) {
    const below = isa.filter(rule => rule.object === chain[0])
    if (below.length !== 1) return { chain, start }
    chain.unshift(below[0].subject)
    start++
  }
}

const read = (problem: LogicProblem): Reading | null => {
  const view = readRules(problem)
  if (view?.facts.length !== 1) return null
  const subjects = new Set(view.rules.map(rule => rule.subject))
  const isa = view.rules.filter(rule => !rule.negated && isKind(rule, view.facts, subjects))
  const { chain, start } = readChain(view, isa)
  const above = new Set(chain.slice(start))
  const mentions = view.rules.filter(rule => rule.object === view.query.object)
  const gold = mentions.find(rule => above.has(rule.subject)) ?? null
  return { view, problem, chain, start, gold, strays: mentions.filter(rule => rule !== gold), isa }
}

const isOrdered = ({ view, chain, isa, strays }: Reading): boolean => {
  const rank = (rule: LogicRule) => 2 * chain.indexOf(rule.subject) + (isa.includes(rule) ? 1 : 0)
  const ranks = view.rules.filter(rule => !strays.includes(rule)).map(rank)
  return ranks.every((value, i) => i === 0 || ranks[i - 1] < value)
}

const templateOf = (text: string): 'plural' | 'each' | 'every' =>
  /^each /i.test(text) ? 'each' : /^every /i.test(text) ? 'every' : 'plural'

/** Counts the structure of problems within the ProntoQA fragment that have one fact; others are left out of `problems`. */
export const measureStructure = (problems: readonly LogicProblem[]): StructureStatistics => {
  const readings = problems.map(read).filter(reading => reading !== null)
  const settled = readings.filter(reading => reading.gold !== null)
  const strays = settled.flatMap(reading => reading.strays.map(rule => ({ rule, reading })))
  const others = readings.flatMap(({ view, isa, gold, strays: aside }) =>
    view.rules.filter(rule => !isa.includes(rule) && rule !== gold && !aside.includes(rule)),
  )
  const templates = shares(
    readings.flatMap(({ view, problem }) => view.rules.map(rule => templateOf(problem.premises[rule.place]))),
  )
  return {
    problems: readings.length,
    sentences: shares(readings.map(({ problem }) => problem.premises.length)),
    templates: { plural: templates.plural ?? 0, each: templates.each ?? 0, every: templates.every ?? 0 },
    start: shares(readings.map(({ start }) => start)),
    nodesAfterTarget: shares(
      settled.map(({ chain, gold }) => chain.length - 1 - chain.indexOf(gold!.subject)),
    ),
    negatedGold: share(settled, ({ gold }) => gold!.negated),
    negatedOther: share(others, rule => rule.negated),
    negatedQuery: share(readings, ({ view }) => view.query.negated),
    labelTrue: share(problems, ({ label }) => label === 'True'),
    distractors: strays.length / Math.max(1, settled.length),
    distractorOpposite: share(strays, ({ rule, reading }) => rule.negated !== reading.gold!.negated),
    distractorBefore: share(strays, ({ rule, reading }) => rule.place < reading.gold!.place),
    distractorOffChain: share(
      strays,
      ({ rule, reading }) => !reading.isa.some(r => r.subject === rule.subject || r.object === rule.subject),
    ),
    factLast: share(readings, ({ view, problem }) => view.facts[0].place === problem.premises.length - 1),
    ordered: share(readings, isOrdered),
  }
}
