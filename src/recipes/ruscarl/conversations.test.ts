import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChatRequest } from '../../chat/chat-model.ts'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import type { Policy } from '../../policy/policy.ts'
import { ROWS, writeRows } from '../../tasks/conversation/rows.fixture.ts'
import type { Conversation } from '../../tasks/conversation/task.ts'
import { rewardOf } from '../../tasks/scored-response.ts'
import { type RuscarlOn, ruscarlSchema } from './config.ts'
import { conversationTraining } from './conversations.ts'
import { tinyConversations } from './tiny-conversations.fixture.ts'

let folder: string
let model: string
let file: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-conversations-'))
  model = writeTinyChat(join(folder, 'model'))
  file = writeRows(join(folder, 'data'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const configOf = (more: Record<string, unknown> = {}) =>
  ruscarlSchema.parse(tinyConversations(model, file, more)) as RuscarlOn<'conversations'>

/** A judge that says yes to all but penalties, and notes what it was asked. */
const noting = (answer: (text: string) => string = () => '{"explanation": "", "criteria_met": true}') => {
  const requests: ChatRequest[] = []
  const judge = scriptedModel(request => {
    requests.push(request)
    return answer(request.messages.map(({ content }) => content).join('\n'))
  })
  return { judge, requests }
}

const bytes = (text: string, ended = true) => Int32Array.from([...Buffer.from(text), ...(ended ? [257] : [])])

const taskOf = (more: Record<string, unknown> = {}, judge = noting().judge) =>
  conversationTraining(configOf(more), model, { judgeModel: judge })

const gradeOne = async (task: ReturnType<typeof taskOf>, problem: Conversation, text: string, ended = true) =>
  (await task.reward.grade([{ problem, tokens: bytes(text, ended), key: 'k' }]))[0]

describe('a conversation as tokens', () => {
  it('goes through the template, with the scaffold as a system message before it', () => {
    const { reward } = taskOf()
    const [problem] = reward.train
    const plain = reward.show(reward.prompt(problem))
    expect(plain).toMatch(
      /^<\|im_start\|>user\nWhat helps against hiccups number \d\?<\|im_end\|><\|im_start\|>assistant\n$/,
    )
    const shown = reward.show(reward.prompt(problem, problem.rubric.criteria.slice(0, 3)))
    expect(shown).toMatch(/^<\|im_start\|>system\n/)
    expect(shown).toContain('Criterion 2: Is an even number of characters (worth 3 points)')
    expect(shown).toContain('Criterion 1: Promises a cure (penalty: 4 points)')
    expect(shown.endsWith(plain)).toBe(true)
    expect(reward.prompt(problem, [])).toEqual(reward.prompt(problem))
  })

  it('keeps a system message that is there, and puts the scaffold into the same one', () => {
    const rows = ROWS.map(row => ({
      ...row,
      prompt: [{ role: 'system', content: 'Be kind.' }, ...row.prompt],
    }))
    const own = writeRows(join(folder, 'system'), rows)
    const task = { kind: 'conversations', file: own, holdOut: 2 }
    const { reward } = taskOf({ task, scaffold: { whenEmpty: 'Be brief.' } })
    expect(reward.show(reward.prompt(reward.train[0]))).toMatch(
      /^<\|im_start\|>system\nBe kind\.<\|im_end\|>/,
    )
    const shown = reward.show(reward.prompt(reward.train[0], reward.train[0].rubric.criteria))
    expect(shown).toMatch(/^<\|im_start\|>system\nBe kind\.\n\nYou answer/)
    expect(shown.split('<|im_start|>system')).toHaveLength(2)
  })

  it('says something by default where that is asked for', () => {
    const { reward } = taskOf({ scaffold: { whenEmpty: 'Be brief.' } })
    expect(reward.show(reward.prompt(reward.train[0]))).toMatch(
      /^<\|im_start\|>system\nBe brief\.<\|im_end\|>/,
    )
    const shown = reward.show(reward.prompt(reward.train[0], reward.train[0].rubric.criteria))
    expect(shown).not.toContain('Be brief')
  })

  it('counts a quotation of the scaffold as a leak, not the criteria', () => {
    const { reward } = taskOf()
    expect(reward.leaks!(bytes('I was told: Your answer will be measured'))).toBe(true)
    expect(reward.leaks!(bytes('Names remedy 1'))).toBe(false)
  })
})

describe('grading a conversation', () => {
  it('sends each judged criterion to the judge with the settings of the paper, rules to rules', async () => {
    const { judge, requests } = noting()
    const task = taskOf({ judge: { fleet: fleetOf({ sendTopK: true }) } }, judge)
    const grade = await gradeOne(task, task.reward.train[0], 'drink water')
    expect(requests).toHaveLength(3)
    for (const request of requests)
      expect(request).toMatchObject({
        temperature: 0.7,
        topP: 0.8,
        topK: 20,
        presencePenalty: 1.5,
        maxTokens: 4096,
      })
    // 5 + 3 - 4 by the judge and 2 by the rule, of 10.
    expect(grade.score).toBeCloseTo(0.6, 9)
    expect(grade.verdicts.map(({ source }) => source)).toEqual(['llm', 'llm', 'llm', 'rule'])
    expect(grade).toMatchObject({
      wellFormed: true,
      kinds: { c0: 'accuracy', c2: 'accuracy (penalties)', c3: 'criteria' },
    })
  })

  it('never shows the judge a system message or the thinking', async () => {
    const rows = ROWS.map(row => ({ ...row, prompt: [{ role: 'system', content: 'SECRET' }, ...row.prompt] }))
    const own = writeRows(join(folder, 'secret'), rows)
    const { judge, requests } = noting()
    const task = taskOf({ task: { kind: 'conversations', file: own, holdOut: 2 } }, judge)
    await gradeOne(task, task.reward.train[0], '<think>HIDDEN</think>drink')
    const seen = requests.flatMap(({ messages }) => messages.map(({ content }) => content)).join('\n')
    expect(seen).toContain('hiccups')
    expect(seen).not.toMatch(/SECRET|HIDDEN|guide what you write/)
  })

  it('asks again up to the bound, then counts a null as not met, or leaves it out', async () => {
    const unreadable = (text: string) => (text.includes('Promises') ? '{"criteria_met": true}' : 'well')
    const asFalse = noting(unreadable)
    const judge = { fleet: fleetOf({ sendTopK: true }), ask: { retries: 2 } }
    const first = taskOf({ judge }, asFalse.judge)
    const grade = await gradeOne(first, first.reward.train[0], 'water')
    expect(asFalse.requests.length).toBeGreaterThan(3)
    expect(grade.verdicts.filter(({ met }) => met === null)).not.toHaveLength(0)
    const met = grade.verdicts.filter(verdict => verdict.met).map(({ criterionId }) => criterionId)
    const points: Record<string, number> = { c0: 5, c1: 3, c2: -4, c3: 2 }
    const earned = met.reduce((sum, id) => sum + points[id], 0)
    expect(grade.score).toBeCloseTo(earned / 10, 9)
    const nulls = grade.verdicts.filter(verdict => verdict.met === null).map(({ criterionId }) => criterionId)
    const attainable = Object.entries(points)
      .filter(([id, worth]) => worth > 0 && !nulls.includes(id))
      .reduce((sum, [, worth]) => sum + worth, 0)
    const task = { kind: 'conversations', file, holdOut: 2, nulls: 'drop' }
    const second = taskOf({ judge, task }, noting(unreadable).judge)
    const dropped = await gradeOne(second, second.reward.train[0], 'water')
    expect(dropped.score).toBeCloseTo(earned / attainable, 9)
  })

  it('is not well formed when it was cut off or says nothing', async () => {
    const task = taskOf()
    expect((await gradeOne(task, task.reward.train[0], 'drink', false)).wellFormed).toBe(false)
    expect((await gradeOne(task, task.reward.train[0], '')).wellFormed).toBe(false)
  })

  it('has no score without positive points; a negated rubric divides by all points', async () => {
    const penalties = ROWS.map(row => ({ ...row, rubrics: [{ criterion: 'Is rude', points: -5 }] }))
    const own = writeRows(join(folder, 'penalties'), penalties)
    const task = { kind: 'conversations', file: own, holdOut: 2 }
    const plain = taskOf({ task })
    expect((await gradeOne(plain, plain.reward.train[0], 'x')).score).toBeNull()
    const rewards = ROWS.map(row => ({ ...row, rubrics: [{ criterion: 'Is kind', points: 5 }] }))
    const kind = writeRows(join(folder, 'rewards'), rewards)
    const negated = taskOf({ task: { ...task, file: kind }, noise: 'negated' })
    expect((await gradeOne(negated, negated.reward.train[0], 'x')).score).toBe(-1)
    expect(
      (await negated.truth.grade([{ problem: negated.reward.train[0], tokens: bytes('x') }]))[0].score,
    ).toBe(1)
  })

  it('tells a rubric that has nothing to score from a judge that failed', async () => {
    const both = ROWS.map((row, i) => ({
      ...row,
      rubrics: [{ criterion: 'Is kind', points: i % 2 === 0 ? 5 : -5 }],
    }))
    const own = writeRows(join(folder, 'both signs'), both)
    const task = { kind: 'conversations', file: own, holdOut: 2, nulls: 'drop' }
    const judge = { fleet: fleetOf({ sendTopK: true }), ask: { retries: 0 } }
    const found = async (answer?: (text: string) => string) => {
      const { reward } = taskOf({ task, judge }, noting(answer).judge)
      const { train } = reward
      const grades = await reward.grade(train.map(problem => ({ problem, tokens: bytes('x') })))
      return grades.map((grade, i) => [train[i].rubric.criteria[0].points, grade.score, rewardOf(grade)])
    }
    for (const [points, score, reward] of await found())
      expect([score, reward]).toEqual(points! > 0 ? [1, 1] : [null, 0])
    for (const [points, score, reward] of await found(() => 'no idea'))
      expect([score, reward]).toEqual([null, points! > 0 ? null : 0])
  })

  it.each([
    ['inverse', 4],
    ['ambiguous', 6],
    ['contradictory', 6],
    ['removed', 2],
    ['shuffled', 4],
  ])('trains on spoilt rubrics and evaluates on the true ones: %s', (noise, criteria) => {
    const { reward, truth } = taskOf({ noise })
    expect(reward.rubric(reward.train[0]).criteria).toHaveLength(criteria)
    expect(reward.rubric(reward.train[0])).not.toEqual(reward.train[0].rubric)
    expect(truth.rubric(reward.train[0])).toEqual(reward.train[0].rubric)
  })
})

describe('a held-out judge', () => {
  it('has a score where a criterion asks for the likelihood under the start', async () => {
    const tags = ['verifier:rule', 'function:likelihood', 'parameters:{"min": -2}']
    const likely = { criterion: 'Is language', points: 2, tags }
    const rows = ROWS.map(row => ({ ...row, rubrics: [...row.rubrics, likely] }))
    const { judge } = noting()
    const asked = { fleet: fleetOf({}), heldOut: { fleet: fleetOf({ model: 'other' }), evaluations: true } }
    const own = writeRows(join(folder, 'likely'), rows)
    const config = configOf({ judge: asked, task: { kind: 'conversations', file: own, holdOut: 2 } })
    const task = conversationTraining(config, model, { judgeModel: judge, heldOutJudgeModel: judge })
    const nats = (...means: number[]) =>
      task.start!.startAt({
        freezeReference: async () => {},
        score: async (items: { tokens: Int32Array }[]) =>
          items.map(({ tokens }, i) => ({ logprobs: new Float32Array(tokens.length).fill(means[i]) })),
      } as unknown as Policy)
    await nats(-1, -3)
    const items = ['water', 'water'].map(text => ({
      problem: task.reward.train[0],
      tokens: bytes(text),
      key: 'k',
    }))
    const scores = (await task.heldOut!.task.grade(items)).map(({ score }) => score)
    // 5 + 3 - 4 by the judge, 2 by the rule, and 2 for what is likely, of 12.
    expect(scores).toEqual([8 / 12, 6 / 12])
    await task.close()
  })
})

const fleetOf = (endpoint: object) => ({
  endpoints: [{ url: 'http://127.0.0.1:9', model: 'nobody', ...endpoint }],
})

describe('the rows of a file', () => {
  it('leave out and count conversations that are too long, or that have no room for scaffold and response', () => {
    const long = ROWS.map((row, i) => ({
      ...row,
      prompt: [{ role: 'user', content: i < 2 ? 'long '.repeat(100) : row.prompt[0].content }],
    }))
    const own = writeRows(join(folder, 'long'), [...long, ...ROWS])
    const task = { kind: 'conversations', file: own, holdOut: 5, maxPromptTokens: 200 }
    const { train, tests, notes } = taskOf({ task }).truth
    expect(train.length + Object.values(tests)[0].length).toBeLessThan(12)
    expect(notes.join('\n')).toMatch(/\d (training|test) conversations left out: longer than 200 tokens/)
    expect(() => taskOf({ rollout: { maxTokens: 1900 } })).toThrow(
      /with room for a response of 1900 .*; their whole rubric has to fit .*, shorten the rubric, or lower rollout\.maxTokens/,
    )
    expect(() => taskOf({ task: { ...task, maxPromptTokens: 2 } })).toThrow(/; raise task\.maxPromptTokens/)
  })
})
