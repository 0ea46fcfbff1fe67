import { describe, expect, it } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { mathEqual } from './compare/equal.ts'
import { extractAnswer } from './read/extract.ts'
import { gradeMath, verifyMathRow } from './verify.ts'

interface Case {
  gold: string
  pred: string
  expected: boolean
  kind: string
  source: string
  disputed?: boolean
}

const cases = sharedData('math-equiv/cases.jsonl')

describe.skipIf(cases === null)(
  'public cases of Math-Verify, lighteval and hendrycks/math (needs shared/data)',
  () => {
    const rows = () =>
      readJsonl<Case>(cases!).filter(
        row => /^(extract\+)?equiv$/.test(row.kind) && !row.disputed && !row.source.includes('yujianll'),
      )

    it('agrees on at least 97%, with no false equality', () => {
      const results = rows().map(({ gold, pred, expected }) => ({ expected, equal: mathEqual(gold, pred) }))
      expect(results.filter(({ expected, equal }) => !expected && equal === true)).toEqual([])
      const agreed = results.filter(({ expected, equal }) => equal === expected).length
      expect(agreed / results.length).toBeGreaterThanOrEqual(0.97)
    })

    it('agrees on the rows whole, with the precision that they name', () => {
      const agreed = rows().filter(row => verifyMathRow(row).equal === row.expected).length
      expect(agreed / rows().length).toBeGreaterThanOrEqual(0.98)
    })
  },
)

const reports = sharedData('field-reports/math.jsonl')

describe.skipIf(reports === null)('answers after public reports (needs shared/data)', () => {
  it('agrees on at least 97%, with no false equality', () => {
    const rows = readJsonl<Case>(reports!)
    const results = rows.map(row => ({ row, equal: gradeMath(row.gold, row.pred).equal }))
    expect(results.filter(({ row, equal }) => !row.expected && equal === true)).toEqual([])
    const agreed = results.filter(({ row, equal }) => equal === row.expected).length
    expect(agreed / rows.length).toBeGreaterThanOrEqual(0.97)
  })
})

const REFORMATTED: Readonly<Record<string, (gold: string) => string>> = {
  bare: gold => gold,
  boxed: gold => `Thus we get \\[\\boxed{${gold}}.\\]`,
  inline: gold => `The answer is $${gold}$.`,
  final: gold => `Therefore, the final answer is: $\\boxed{${gold}}$. I hope it is correct.`,
  plain: gold => `The answer is ${gold}`,
  thinking: gold => `<think>maybe \\boxed{17}</think> **Answer:** \\(${gold}\\)`,
  'without spaces': gold => gold.replace(/\s+/g, ''),
  'other fractions': gold => gold.replaceAll('\\frac', '\\dfrac'),
  hashes: gold => `#### ${gold}`,
}

const SETS = [
  'math500/math500.jsonl',
  'aime/aime24.jsonl',
  'amc/amc23.jsonl',
  'gsm8k/train_1000.jsonl',
  'dapo/train_2000.jsonl',
]

describe.each(SETS)('gold answers of %s (needs shared/data)', name => {
  const path = sharedData(name)
  const golds = () => {
    const answers = readJsonl<{ answer: string }>(path!).map(row => String(row.answer))
    return [...new Set(name.startsWith('gsm8k') ? answers.map(text => extractAnswer(text)!) : answers)]
  }

  it.skipIf(path === null)('equal themselves in every dress', () => {
    const failed = golds().flatMap(gold =>
      Object.entries(REFORMATTED).flatMap(([dress, reformat]) =>
        mathEqual(gold, reformat(gold)) === true && gradeMath(gold, reformat(gold)).equal === true
          ? []
          : [[gold, dress]],
      ),
    )
    expect(failed).toEqual([])
  })

  it.skipIf(path === null)('differ from one another', () => {
    const all = golds()
    const equal = all.flatMap((gold, i) =>
      [1, 7, 31]
        .map(step => [gold, all[(i + step) % all.length]])
        .filter(([a, b]) => a !== b && mathEqual(a, b) !== false),
    )
    expect(equal).toEqual([])
  })
})
