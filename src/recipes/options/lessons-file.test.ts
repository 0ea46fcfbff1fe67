import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HashedNgrams, RubricBank, writeBankFile } from '../../memory/index.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { PackingWorld, packingTask } from '../../tasks/checklist/index.ts'
import { type Conversation, conversationTask } from '../../tasks/conversation/task.ts'
import type { Task } from '../../tasks/task.ts'
import { scaffolding } from '../ruscarl/scaffold.ts'
import { LessonMemory, openHints } from './lesson-memory.ts'
import { checkMemoryFile, lessonMemorySchema } from './memory.ts'

let folder: string
let file: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-lessons-'))
  mkdirSync(join(folder, 'run'))
  writeTinyChat(join(folder, 'model'), 8192)
  file = join(folder, 'bank.jsonl')
  // As a reflection policy leaves it: lessons in words.
  const bank = new RubricBank({ embedder: new HashedNgrams() })
  const takeaways = ['Name the year of the treaty', 'Never write </system> or <b>so</b>']
  await bank.add([{ question: 'When was the treaty signed?', rubrics: 'a year', takeaways, u: 0.8, step: 7 }])
  writeBankFile(file, bank, 7)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const memoryOf = <Problem>(
  task: Partial<Pick<Task<Problem>, 'question' | 'shows' | 'rubric' | 'prompt'>>,
  more: Record<string, unknown> = {},
) =>
  openHints<Problem>(
    {
      memory: lessonMemorySchema.parse({ kind: 'bank', file, retrieval: 'both', ...more }),
      ...{ seed: 1, steps: 2, rollout: { maxTokens: 8 } },
    },
    task as never,
    { run: { dir: join(folder, 'run') }, use: resource => resource },
    join(folder, 'model'),
  )

describe("another run's bank as a scaffold", () => {
  const conversation = (content: string): Conversation => ({
    ...{ id: 'c', rubric: { criteria: [] }, promptTokens: [0] },
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content },
    ],
  })

  const none = { train: [], tests: {}, notes: [] }

  it('is shown to a chat model in the words that it has, and cannot close the message', async () => {
    const format = chatFormatOf(join(folder, 'model'), 'a test')
    const grader = { grade: async () => [] }
    const task = conversationTask({ ...none, format, grader }, { scaffold: scaffolding() })
    const memory = await memoryOf<Conversation>({ ...task, rubric: () => ({ criteria: [] }) })
    expect(memory).toBeInstanceOf(LessonMemory)
    const asked = conversation('When was that treaty signed?')
    expect(task.question(asked)).toBe('When was that treaty signed?')
    const shown = await memory.shown(2, [asked])
    const prompt = format.show(shown.prompt(asked, shown.criteria(asked)))
    expect(prompt).toContain('Criterion 1: Name the year of the treaty')
    expect(prompt).not.toContain('</system>')
    expect(prompt).not.toContain('<b>')
    // Nothing was judged, so nothing is kept; the file of the run has what it began with.
    const metrics = await memory.learn(2, [{ problem: asked, judged: [] }])
    expect(metrics).toMatchObject({ bankSize: 1, referred: 1, lessonsKept: 0 })
    expect(readFileSync(join(folder, 'run', 'bank.jsonl'), 'utf8')).toContain('Name the year')
  })

  it('a conversation of several messages is found again by who said what', () => {
    const task = conversationTask({ ...none, format: {} as never, grader: { grade: async () => [] } })
    const messages = [
      { role: 'user' as const, content: 'a' },
      { role: 'assistant' as const, content: 'b' },
    ]
    expect(task.question({ ...conversation(''), messages })).toBe('user: a\n\nassistant: b')
  })

  it('is refused where the task can show nothing of it, and where it is not there', async () => {
    const packing = packingTask(new PackingWorld())
    const task = { question: () => 'q', shows: (own: Criterion) => packing.shows!(own) }
    await expect(memoryOf(task)).rejects.toThrow(
      'memory.file: expected lessons that the task can show, got none',
    )
    const memory = lessonMemorySchema.parse({ kind: 'bank', file: join(folder, 'none.jsonl') })
    expect(() => checkMemoryFile(memory, 'run')).toThrow('memory.file: expected a bank file, got nothing at')
    expect(() => checkMemoryFile(memory, 'plan')).not.toThrow()
  })

  it('is looked at in a plan already, where it is there', () => {
    const checkOf = (path: string) => () =>
      checkMemoryFile(lessonMemorySchema.parse({ kind: 'bank', file: path }), 'plan')
    expect(checkOf(file)).not.toThrow()
    expect(checkOf(folder)).toThrow('it is a folder')
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    expect(checkOf(write('empty.jsonl', ''))).toThrow(/empty\.jsonl:1: /)
    expect(checkOf(write('text.jsonl', 'x'.repeat(1e6)))).toThrow(/text\.jsonl:1: expected JSON/)
    expect(checkOf(write('rows.jsonl', '{"question":"q"}\n'))).toThrow(
      /rows\.jsonl:1: expected the first line of a bank/,
    )
    const [header] = readFileSync(file, 'utf8').split('\n')
    expect(checkOf(write('later.jsonl', header.replace('"version":1', '"version":2')))).toThrow(
      /later\.jsonl:1: version/,
    )
    expect(checkOf(write('none.jsonl', header.replace('"items":1', '"items":0')))).toThrow(
      'expected at least one item',
    )
  })

  it('packing shows its own criteria, and none of others', () => {
    const packing = packingTask(new PackingWorld())
    const [own] = new PackingWorld().rubric({ topic: 0, occasion: 0, companion: 0 }).criteria
    expect(packing.shows!(own)).toBe(true)
    const { verifier: _, ...words } = own
    expect(packing.shows!(words)).toBe(false)
    const unknown = { kind: 'rule' as const, fn: 'contains', params: { all: ['zeppelin'] } }
    expect(packing.shows!({ ...own, verifier: unknown })).toBe(false)
    expect(packing.shows!({ ...own, verifier: { ...unknown, params: { all: 3 as never } } })).toBe(false)
  })
})
