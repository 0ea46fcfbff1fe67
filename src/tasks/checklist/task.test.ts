import { expect, it } from 'vitest'
import { rewardOf, scored } from '../scored-response.ts'
import { CHECKLIST_TOKENS, PackingWorld, packingTask } from './index.ts'

const problem = { topic: 0, occasion: 0, companion: 0 }
const tokens = Int32Array.of(7, 8, CHECKLIST_TOKENS.eos)

it('a list that its rules could not check has no reward, which is not a zero', async () => {
  const [checked] = await scored(packingTask(new PackingWorld())).grade([{ problem, tokens }])
  expect(checked.unjudged).toBeUndefined()
  expect(rewardOf(checked)).toEqual(expect.any(Number))
  const task = scored(packingTask(new PackingWorld(), { rules: { maxResponseChars: 1 } }))
  const [unknown] = await task.grade([{ problem, tokens }])
  expect(unknown.verdicts.every(({ met }) => met === null)).toBe(true)
  expect(unknown).toMatchObject({ score: null, unjudged: true })
  expect(rewardOf(unknown)).toBeNull()
})
