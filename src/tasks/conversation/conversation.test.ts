import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChatMessage } from '../../chat/chat-model.ts'
import type { GradeItem, Grader } from '../../grade/grader.ts'
import { type ChatFormat, chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { rewardOf, type Scoring, scored } from '../scored-response.ts'
import { encodeSplit } from './prompts.ts'
import { ROWS, writeRows } from './rows.fixture.ts'
import { needJudge, splitConversations } from './rows.ts'
import { conversationSizes } from './sizes.ts'
import { type Conversation, type ConversationOptions, conversationTask } from './task.ts'

let folder: string
let file: string
let format: ChatFormat
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-conversation-'))
  file = writeRows(join(folder, 'data'))
  format = chatFormatOf(writeTinyChat(join(folder, 'model')), 'a test')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const filesOf = (more: object = {}) => ({ file, holdOut: 2, testFile: null, ...more })

/** The criteria, in a wording of this test's own. */
const show = (messages: readonly ChatMessage[], shown: readonly Criterion[]): ChatMessage[] => [
  { role: 'system', content: shown.map(({ text }) => text).join('; ') },
  ...messages,
]

describe('the rows of a file', () => {
  it('are split the same way every time, and none is on both sides', () => {
    const idsOf = () => {
      const { train, test } = splitConversations(filesOf())
      return { train: train.map(({ id }) => id), test: test.map(({ id }) => id) }
    }
    expect(idsOf()).toEqual(idsOf())
    const { train, test } = idsOf()
    expect(test).toHaveLength(2)
    expect(new Set([...train, ...test]).size).toBe(6)
  })

  it('leave out of training what is said among the test rows too', () => {
    const twice = writeRows(join(folder, 'twice'), [
      ...ROWS,
      ...ROWS.map(row => ({ ...row, prompt_id: `${row.prompt_id}b` })),
    ])
    const { train, test, repeated } = splitConversations(filesOf({ file: twice, holdOut: 3 }))
    const texts = new Set(test.map(({ messages }) => messages[0].content))
    expect(train.some(({ messages }) => texts.has(messages[0].content))).toBe(false)
    expect(train.length + test.length + repeated).toBe(12)
  })

  it('may come from two files', () => {
    const other = writeRows(join(folder, 'test'), [
      { ...ROWS[0], prompt: [{ role: 'user', content: 'Other?' }] },
    ])
    const { train, test } = splitConversations(filesOf({ holdOut: null, testFile: other }))
    expect([train.length, test.length]).toEqual([6, 1])
  })

  it('are split like the real ones', ({ skip }) => {
    const path = sharedData('healthbench/rows.jsonl')
    if (path === null) return skip('no ../shared/data/healthbench here')
    const { train, test, repeated } = splitConversations(filesOf({ file: path, holdOut: 50 }))
    expect([train.length + repeated, test.length]).toEqual([150, 50])
  })

  it('must be named, and be enough for both sides', () => {
    expect(() => splitConversations(filesOf({ file: null }))).toThrow('task.file: expected the file')
    expect(() => splitConversations(filesOf({ holdOut: 6 }))).toThrow(
      'task.holdOut: expected rows on both sides',
    )
  })
})

const encoded = (more: { maxPromptTokens?: number; maxTokens?: number } = {}) =>
  encodeSplit(splitConversations(filesOf()), format, {
    maxPromptTokens: 1000,
    maxTokens: 100,
    plain: ({ messages }) => messages,
    longest: {
      train: ({ messages, rubric }) => show(messages, rubric.criteria),
      test: ({ messages }) => messages,
    },
    ...more,
  })

describe('prompts', () => {
  it('are the plain conversations as tokens', () => {
    const { train, test, notes } = encoded()
    expect([train.length, test.length, notes]).toEqual([4, 2, []])
    for (const { messages, promptTokens } of [...train, ...test])
      expect(promptTokens).toEqual(format.encode(messages))
  })

  it('leave out rows whose longest form has no room, on the side on which it is shown', () => {
    const [row] = splitConversations(filesOf()).train
    const full = format.encode(show(row.messages, row.rubric.criteria)).length
    const room = (tokens: number) => ({ maxTokens: format.maxPositions - tokens })
    expect(encoded(room(full)).notes).toEqual([])
    expect(() => encoded(room(full - 1))).toThrow('got 0 to train on and 2 to test on')
  })

  it('are counted for a plan as they are encoded', () => {
    const values = conversationSizes({
      task: { ...filesOf(), maxPromptTokens: 1000 },
      folder: join(folder, 'model'),
      scaffold: show,
    })
    const { train, test } = encoded()
    const lengths = [...train, ...test].map(({ promptTokens }) => promptTokens.length)
    expect(values).toMatchObject({ train: 4, test: 2, criteria: 4, judged: 3, assumed: false })
    expect(values.promptTokens).toBeCloseTo(lengths.reduce((a, b) => a + b) / 6, 9)
    expect(values.longestPrompt).toBe(Math.max(...lengths))
    const absent = { ...filesOf({ file: join(folder, 'absent.jsonl') }), maxPromptTokens: 1000 }
    expect(conversationSizes({ task: absent, folder: null, scaffold: show })).toMatchObject({
      train: 4500,
      assumed: true,
      tokensEstimated: true,
    })
  })
})

describe('a task of conversations', () => {
  const bytes = (text: string) => Int32Array.from([...Buffer.from(text), 257])
  const seen: GradeItem[] = []
  const grader = (met: (criterion: Criterion) => boolean | null): Grader => ({
    async grade(item, criteria) {
      seen.push(item)
      return criteria.map(criterion => ({
        criterionId: criterion.id,
        met: met(criterion),
        explanation: '',
        source: 'model' as const,
      }))
    },
  })
  const taskOf = (
    met: Parameters<typeof grader>[0],
    options: ConversationOptions = {},
    scoring: Scoring<Conversation> = {},
  ) => {
    const parts = { ...{ train: [], tests: {}, notes: [] }, format, grader: grader(met) }
    return scored(conversationTask(parts, options), scoring)
  }

  it('shows the scaffold that it is given to the policy alone', async () => {
    const task = taskOf(() => true, { scaffold: show })
    const [problem] = encoded().train
    const shown = task.prompt(problem, problem.rubric.criteria.slice(0, 1))
    expect(task.show(shown)).toContain(`system\nNames remedy`)
    expect(task.prompt(problem, [])).toEqual(problem.promptTokens)
    const [graded] = await task.grade([{ problem, tokens: bytes('<think>no</think>drink') }])
    expect(seen.at(-1)).toMatchObject({ prompt: problem.messages, response: 'drink' })
    expect(graded).toMatchObject({ score: (5 + 3 + 2 - 4) / 10, wellFormed: true })
    // Without a scaffold there is only the plain prompt.
    const bare = taskOf(() => true)
    expect(bare.prompt(problem, problem.rubric.criteria)).toEqual(problem.promptTokens)
    expect([bare.leaks, needJudge([problem])]).toEqual([undefined, true])
  })

  it('pays nothing for a rubric with nothing to score, and knows nothing where graders failed', async () => {
    const [problem] = encoded().train
    const penalties = { criteria: problem.rubric.criteria.filter(({ points }) => points < 0) }
    const rewards = async (met: boolean | null, rubricOf?: () => typeof penalties) => {
      const task = taskOf(() => met, {}, { ...(rubricOf && { rubricOf }) })
      return rewardOf((await task.grade([{ problem, tokens: bytes('x') }]))[0])
    }
    expect(await rewards(false, () => penalties)).toBe(0)
    expect(await rewards(null, () => penalties)).toBe(0)
    expect(await rewards(null)).toBeNull()
  })

  it('is scored through the noise of an experiment, by the name of the rollout', async () => {
    const [problem] = encoded().train
    const keys: string[] = []
    const noise = {
      verdicts: <T>(verdicts: readonly T[], key: string) => {
        keys.push(key)
        return [...verdicts]
      },
      score: (value: number | null) => (value ?? 0) + 100,
    }
    const task = taskOf(() => true, {}, { noise })
    const [graded] = await task.grade([{ problem, tokens: bytes('x'), key: 'k' }])
    expect([graded.score, keys]).toEqual([100.6, ['k']])
  })
})
