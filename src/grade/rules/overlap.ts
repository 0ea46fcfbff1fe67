/** @file Rules on what a response shares with question or reference: `keyword_overlap`, the share of key terms; `echo`, runs of words. */

import { z } from 'zod'
import { percent } from '../../util/format.ts'
import type { GradeItem } from '../grader.ts'
import { keyTerms } from '../logic/proxies.ts'
import { defineRule, type RuleOutcome } from './rule.ts'
import { fold, indexOfTerm, wordsOf } from './text.ts'

/** Key terms by stem, or phrases as they are. */
type Test = (text: string) => { found: number; total: number; missing: string[] }

const shareOf = (terms: readonly string[], has: (term: string) => boolean) => {
  const missing = terms.filter(term => !has(term))
  return { found: terms.length - missing.length, total: terms.length, missing }
}

const phrases = (terms: readonly string[]): Test => {
  const folded = terms.map(term => fold(term))
  return text => {
    const within = fold(text)
    return shareOf(folded, term => indexOfTerm(within, term, true) >= 0)
  }
}

const contentWords = (source: string): Test => {
  const terms = sentenceTerms(source)
  return text => {
    const said = new Set(sentenceTerms(text))
    return shareOf(terms, term => said.has(term))
  }
}

/** Stems of content words. The full stop keeps a single word from being read as a symbol of logic. */
const sentenceTerms = (text: string): string[] => keyTerms(`${text.replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ')} .`)

const textOf = (from: 'reference' | 'prompt', item: GradeItem): string | null =>
  from === 'reference'
    ? (item.reference ?? null)
    : (item.prompt.findLast(({ role }) => role === 'user')?.content ?? null)

const judge = (test: Test, text: string, least: number): RuleOutcome => {
  const { found, total, missing } = test(text)
  if (total === 0) return { met: null, explanation: 'there are no key terms to look for' }
  const credit = found / total
  return {
    met: credit >= least,
    credit,
    ...(missing.length > 0 && { explanation: `missing: ${missing.join(', ')}`.slice(0, 500) }),
  }
}

const overlapRule = defineRule({
  name: 'keyword_overlap',
  about:
    'Has the key terms: the credit is the share that is there; met at the share min. Terms are given, or the content words of the reference or the question.',
  params: {
    terms: z.array(z.string().trim().min(1)).min(1).optional(),
    from: z.enum(['reference', 'prompt']).optional(),
    min: z.number().min(0).max(1).default(0.5),
  },
  require: [
    ({ terms, from }) => (terms === undefined) !== (from === undefined),
    'terms or from, one of them; say which words matter',
  ],
  uses: ['prompt'],
  compile: ({ terms, from, min }) => {
    const given = terms && phrases(terms)
    return (text, item) => {
      if (given) return judge(given, text, min)
      const source = textOf(from!, item)
      if (source === null) return { met: null, explanation: `the item has no ${from}` }
      return judge(contentWords(source), text, min)
    }
  },
})

/** Runs of n words, each as one text. */
const runsOf = (text: string, n: number): string[] => {
  const words = wordsOf(fold(text))
  return Array.from({ length: Math.max(0, words.length - n + 1) }, (_, at) =>
    words.slice(at, at + n).join(' '),
  )
}

const echoRule = defineRule({
  name: 'echo',
  about:
    'Does not repeat the question: at most such a share of its runs of n words stand in the last message of the user.',
  params: {
    n: z.int().min(2).max(10).default(4),
    maxShare: z.number().min(0).max(1).default(0.3),
  },
  uses: ['prompt'],
  compile:
    ({ n, maxShare }) =>
    (text, item) => {
      const question = textOf('prompt', item)
      if (question === null) return { met: null, explanation: 'the item has no question' }
      const asked = new Set(runsOf(question, n))
      const runs = runsOf(text, n)
      const share = runs.filter(run => asked.has(run)).length / Math.max(1, runs.length)
      return {
        met: share <= maxShare,
        explanation: `${percent(share)} of its runs of ${n} words are the question's`,
      }
    },
})

export const OVERLAP_RULES = [overlapRule, echoRule]
