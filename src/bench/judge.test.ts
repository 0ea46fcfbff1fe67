import { expect, it } from 'vitest'
import { scriptedTruth } from '../grade/judge/scripted/index.ts'
import {
  benchJudge,
  CRITERIA,
  closedLoop,
  formatJudgeBenchmark,
  itemsUntil,
  type JudgeBenchmark,
} from './judge.ts'

it('gives every value that the command promises, and all of them in words', async () => {
  const progress: string[] = []
  const result = await benchJudge({ durationMs: 200, onProgress: line => progress.push(line) })
  const promised: (keyof JudgeBenchmark)[] = [
    'verdictsPerSecond',
    'cachedVerdictsPerSecond',
    'judgeBusyFraction',
    'overheadP50Ms',
    'overheadP99Ms',
    'serverRequestsPerSecond',
  ]
  for (const name of promised) expect(result[name], name).toBeGreaterThan(0)
  expect(result.judgeBusyFraction).toBeLessThanOrEqual(1)
  expect(result.overheadP50Ms).toBeLessThanOrEqual(result.overheadP99Ms)
  expect(progress).toHaveLength(4)
  for (const name of ['verdictsPerSecond', 'overheadP99Ms', 'serverRequestsPerSecond'] as const)
    expect(formatJudgeBenchmark(result)).toContain(String(result[name]))
})

it('counts verdicts, and refuses to count wrong ones', async () => {
  const judge = (truth: boolean) => ({
    grade: async (item: { response: string }) => {
      await new Promise(resolve => setTimeout(resolve, 5))
      const index = Number(/case-(\d+)/.exec(item.response)?.[1])
      return CRITERIA.map(({ id }, rule) => {
        return { criterionId: id, met: scriptedTruth(index, rule) === truth, source: 'llm' as const }
      })
    },
  })
  const items = () => {
    const source = itemsUntil(30)
    return { take: () => (source.take() === null ? null : 1) }
  }
  const times = { inWork: 3, warmUpMs: 0, durationMs: 5_000 }
  const { verdicts } = await closedLoop(judge(true), items(), times)
  // The first round of items may be done before counting begins.
  expect(verdicts).toBeGreaterThan(0)
  expect(verdicts).toBeLessThanOrEqual(30 * CRITERIA.length)
  await expect(closedLoop(judge(false), items(), times)).rejects.toThrow(/not those of the script/)
})
