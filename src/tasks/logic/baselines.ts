/** @file Shallow baselines: what an answer costs that follows no chain of reasoning. Printed beside every model. */

import { LOGIC_LABELS, type LogicLabel, type LogicProblem } from '../../grade/logic/problem.ts'
import { type LogicRule, type RuleView, readRules } from './rules.ts'

/** One baseline's result on a set. `accuracy` in [0, 1]; `n` problems, all of the set. */
export interface BaselineResult {
  name: string
  accuracy: number
  correct: number
  n: number
}

/** Guesses a label from one look at a problem. */
type Cue = (view: RuleView) => LogicLabel

const answerBySign = ({ query }: RuleView, mention: LogicRule | undefined): LogicLabel =>
  mention === undefined ? 'Unknown' : mention.negated === query.negated ? 'True' : 'False'

const mentionsOf = ({ rules, query }: RuleView): LogicRule[] =>
  rules.filter(rule => rule.object === query.object)

const occursElsewhere = ({ rules, facts }: RuleView, mention: LogicRule): boolean =>
  rules.some(
    rule => rule !== mention && (rule.subject === mention.subject || rule.object === mention.subject),
  ) || facts.some(fact => fact.object === mention.subject)

const isObject = ({ rules, facts }: RuleView, mention: LogicRule): boolean =>
  [...rules, ...facts].some(rule => rule.object === mention.subject)

const isBetweenKinds = (view: RuleView, mention: LogicRule): boolean =>
  isObject(view, mention) && view.rules.some(rule => rule !== mention && rule.subject === mention.subject)

const isTopKind = ({ rules }: RuleView, mention: LogicRule): boolean =>
  !rules.some(rule => rule !== mention && rule.subject === mention.subject)

/** The last mention that `keep` lets through, else the last of all. */
const lastMention =
  (keep: (view: RuleView, mention: LogicRule) => boolean): Cue =>
  view => {
    const mentions = mentionsOf(view)
    return answerBySign(view, mentions.findLast(mention => keep(view, mention)) ?? mentions.at(-1))
  }

const signMajority: Cue = view => {
  const mentions = mentionsOf(view)
  const same = mentions.filter(mention => mention.negated === view.query.negated).length
  return mentions.length === 0 ? 'Unknown' : 2 * same >= mentions.length ? 'True' : 'False'
}

const CUES: Record<string, Cue> = {
  'query negation': ({ query }) => (query.negated ? 'False' : 'True'),
  'first mention of the queried adjective': view => answerBySign(view, mentionsOf(view)[0]),
  'last mention of the queried adjective': lastMention(() => true),
  'majority of the mentions': signMajority,
  'mention whose noun occurs elsewhere': lastMention(occursElsewhere),
  "mention whose noun is another rule's object": lastMention(isObject),
  'mention whose noun is subject and object of others': lastMention(isBetweenKinds),
  'mention whose noun is no other subject': lastMention(isTopKind),
}

const result = (name: string, correct: number, n: number): BaselineResult => ({
  name,
  accuracy: n === 0 ? 0 : correct / n,
  correct,
  n,
})

const majority = (problems: readonly LogicProblem[]): BaselineResult => {
  const counts = LOGIC_LABELS.map(label => problems.filter(problem => problem.label === label).length)
  return result('majority label of this set', Math.max(...counts), problems.length)
}

/**
 * Accuracy of every shallow baseline on a set: the set's own majority label, the query's negation, and picks of one of the
 * rules about the queried adjective (where several qualify the last; the answer then follows from its sign; with none, Unknown).
 * A problem outside the ProntoQA fragment counts as wrong for the cues.
 */
export const shallowBaselines = (problems: readonly LogicProblem[]): BaselineResult[] => {
  const views = problems.map(readRules)
  const score = (cue: Cue) =>
    problems.filter((problem, i) => views[i] !== null && cue(views[i]) === problem.label).length
  return [
    majority(problems),
    ...Object.entries(CUES).map(([name, cue]) => result(name, score(cue), problems.length)),
  ]
}
