import { expect, it } from 'vitest'
import { JudgeFleet } from '../../chat/index.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { FAULT_NAMES, FAULTS, FaultyJudge, faultOf, WARM_UP_RULE } from './faulty-judge.fixture.ts'
import { llmJudge } from './judge.ts'
import { caseTag, ruleTag, scriptedTruth } from './scripted/index.ts'

/** GRADUS_FULL_FAULTS=1 asks for all 5,500 verdicts of the promise. */
const VERDICTS = process.env.GRADUS_FULL_FAULTS === '1' ? 5_500 : 600
const RULES = 5
const CASES = Math.ceil(VERDICTS / RULES / FAULT_NAMES.length) * FAULT_NAMES.length

const criterionOf = (rule: number): Criterion => ({
  id: `c${rule}`,
  text: `Does as ${ruleTag(rule)} says`,
  points: rule % 3 === 2 ? -2 : 3,
})
const criteria = Array.from({ length: RULES }, (_, rule) => criterionOf(rule))
const itemOf = (index: number) => ({
  prompt: [{ role: 'user' as const, content: 'Do it.' }],
  response: `I did it in ${caseTag(index)}.`,
})

it(`${FAULT_NAMES.length} kinds of faults: no verdict is invented, and none is lost that a further attempt brings`, async () => {
  expect(FAULT_NAMES.length).toBeGreaterThanOrEqual(22)
  const server = await FaultyJudge.start(2)
  const warnings: string[] = []
  const fleet = new JudgeFleet(
    {
      endpoints: [
        { url: server.url, model: 'm', concurrency: 40, attemptTimeoutMs: 1500, maxResponseBytes: 150_000 },
      ],
      ...{ retries: 8, backoffMs: 5, longestBackoffMs: 40, longestRetryAfterMs: 10 },
      // One question in fourteen is refused here, and all those about a response at the same time.
      refusalsInARow: 60,
      breaker: { pauseMs: 5, longestPauseMs: 20 },
    },
    { onWarning: message => warnings.push(message) },
  )
  const judges = {
    one: llmJudge({ model: fleet, repairs: 1, retries: 3 }),
    many: llmJudge({ model: fleet, repairs: 1, retries: 3, shape: 'rubric' }),
  }
  // A refusal is a stray one only where there was an answer before it.
  await judges.one.grade(itemOf(0), [criterionOf(WARM_UP_RULE)])
  const verdicts = await Promise.all(
    Array.from({ length: CASES }, (_, index) => {
      const judge = FAULTS[faultOf(index)].list ? judges.many : judges.one
      return judge.grade(itemOf(index), criteria)
    }),
  )
  const invented: string[] = []
  const lost: string[] = []
  for (const [index, given] of verdicts.entries())
    for (const [rule, { met, explanation }] of given.entries()) {
      const name = `${faultOf(index)}, ${index}/${rule}: ${explanation}`
      if (met === null) lost.push(name)
      else if (met !== scriptedTruth(index, rule)) invented.push(name)
    }
  expect({ invented, lost }).toEqual({ invented: [], lost: [] })
  expect(verdicts.flat()).toHaveLength(CASES * RULES)
  expect([...server.sent.keys()].sort()).toEqual([...FAULT_NAMES].sort())
  expect(warnings).toHaveLength(1)
  await fleet.close()
  await server.close()
}, 600_000)
