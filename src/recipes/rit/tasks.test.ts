import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { writeQuestions } from '../../tasks/questions/rows.fixture.ts'
import { ritSchema } from './config.ts'
import { openTask } from './tasks.ts'

let folder: string
let model: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rit-tasks-'))
  model = writeTinyChat(join(folder, 'model'), 8192)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const config = (more: object = {}) =>
  ritSchema.parse({
    task: {
      ...{
        kind: 'questions',
        format: 'writingbench',
        file: writeQuestions(folder, 'writingbench'),
        holdOut: 2,
      },
      ...more,
    },
    judge: { fleet: { endpoints: [{ url: 'http://127.0.0.1:1/v1', model: 'none' }] } },
  })

/** What training and evaluation make of an answer, by a judge who finds all criteria met, and gives a 2 of 10 for each. */
const scores = (more: object = {}): Promise<(number | null)[]> => {
  const judge = scriptedModel(({ messages }) => {
    const asked = messages.map(({ content }) => content).join()
    const count = Number(/, (\d+) in all/.exec(asked)?.[1])
    const list = <T>(entry: T): T[] => Array.from({ length: count }, () => entry)
    if (asked.includes('You judge the answer to a query')) {
      expect(asked).not.toContain('quiet thought')
      return JSON.stringify({ judgement: list(1) })
    }
    return JSON.stringify({ verdicts: list({ explanation: 'poor', score: 2 }) })
  })
  return openTask(
    config(more),
    model,
    async ({ task, close }) => {
      const tokens = Int32Array.from([...Buffer.from('<think>quiet thought</think>an answer'), 257])
      const [problem] = task.train as never[]
      const [trained] = await task.grade([{ problem, tokens, step: 1 }])
      const [tested] = await task.grade([{ problem, tokens }])
      await close()
      return [trained.score, tested.score]
    },
    judge,
  )
}

it('open answers are paid by binary verdicts in training, and evaluated by the score of the benchmark (Eq. 5)', async () => {
  const [trained, tested] = await scores()
  expect(trained).toBe(1)
  expect(tested).toBeCloseTo(1 / 9, 12)
})

it('or they are paid that score in training, too', async () => {
  const [trained, tested] = await scores({ openReward: 'score' })
  expect(tested).toBeCloseTo(1 / 9, 12)
  expect(trained).toBe(tested)
})
