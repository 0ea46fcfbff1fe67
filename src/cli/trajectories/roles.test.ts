import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { PROPOSAL_CATEGORIES } from '../../grade/proposal/format.ts'
import { readProposal } from '../../grade/proposal/index.ts'
import { rubricJudgeSchema } from '../../grade/thinking/index.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { openRubricVerifier } from '../../recipes/rlcer/verifiers.ts'
import { sftRecipeSchema } from '../../recipes/sft/config.ts'
import { readSftRows } from '../../recipes/sft/rows.ts'
import { questionTask, questionTaskSchema } from '../../tasks/questions/index.ts'
import { partThinking } from '../../tasks/thinking.ts'
import { cli, Sandbox } from '../cli.fixture.ts'

const sandbox = new Sandbox()
const rubric = (currentScore: number, changes: object = {}) =>
  JSON.stringify({
    question_domain: 'math/sums',
    rubrics: [1, 2, 3, 4, -2].map(points => ({
      category: PROPOSAL_CATEGORIES[2],
      criterion: `Names step ${points} before it is taken`,
      points,
    })),
    maximum_score: 10,
    minimum_score: -2,
    current_score: currentScore,
    ...changes,
  })

/** What the teacher says, by what it is asked. */
let say: (prompt: string, seed: number) => { text: string; finish?: string; status?: number }
let asked: string[] = []
let server: Server
let url: string
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { messages, seed } = JSON.parse(body) as { messages: { content: string }[]; seed: number }
    const { content } = messages.at(-1)!
    asked.push(content)
    const { text, finish = 'stop', status = 200 } = say(content, seed)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        choices: [{ message: { role: 'assistant', content: text }, finish_reason: finish }],
        usage: { prompt_tokens: 10, completion_tokens: 5 },
      }),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(async () => {
  await new Promise(resolve => server.close(resolve))
  sandbox.remove()
})

const jsonl = (file: string) =>
  sandbox
    .read(file)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
const isRubricator = (prompt: string) => prompt.includes('rubric')
const questions = sandbox.write(
  'questions.jsonl',
  [
    { id: 'q1', question: 'What is 2 + 3?', answer: 5 },
    { id: 'q2', question: 'What is 4 + 4?', answer: 8 },
  ]
    .map(row => JSON.stringify(row))
    .join('\n'),
)
const roles = (out: string, ...more: string[]) =>
  cli([
    ...['trajectories', 'roles', questions, '--teacher', url, '--model', 'm', '--seed', '7'],
    ...['--out', sandbox.path(out), ...more],
  ])
const select = (from: string, to: string, ...more: string[]) =>
  cli(['trajectories', 'select', sandbox.path(from), '--out', sandbox.path(to), ...more])

describe('gradus trajectories roles', () => {
  it('keeps right answers, and rubrics in the form that training pays, of both roles', async () => {
    say = (prompt, seed) => {
      if (isRubricator(prompt)) return { text: rubric(seed === 7 ? 1 : 9) }
      const right = prompt.includes('2 + 3') ? 5 : seed === 7 ? 8 : 9
      return { text: `<think>I add them.</think>It is \\boxed{${right}}.` }
    }
    expect((await roles('a.jsonl', '--attempts', '2')).code).toBe(0)
    const { out, code } = await select('a.jsonl', 'sft.jsonl', '--json')
    expect(code).toBe(0)
    // Rubrics with a score above the middle leave no room for better answers: rejected, two of four.
    expect(JSON.parse(out)).toEqual({
      attempts: 4,
      accepted: 5,
      written: { reasoner: 3, rubricator: 2 },
      reasons: { 'cut-off': 0, wrong: 1, undecided: 0, form: 2 },
    })
    const rows = jsonl('sft.jsonl')
    expect(rows.map(({ id, role, attempt }) => [id, role, attempt])).toEqual([
      ['q1', 'reasoner', 1],
      ['q1', 'rubricator', 1],
      ['q1', 'reasoner', 2],
      ['q2', 'reasoner', 1],
      ['q2', 'rubricator', 1],
    ])
    expect(rows[0].messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant'])
    expect(rows[0].messages[1].content).toContain('<think>I add them.</think>')
    const one = JSON.parse((await select('a.jsonl', 'one.jsonl', '--per-question', '1', '--json')).out)
    expect(one.written).toEqual({ reasoner: 2, rubricator: 2 })
  })

  it('keeps no rubric that training does not pay: without a domain, or of copies', async () => {
    const copies = Array.from({ length: 5 }, () => ({
      ...{ category: PROPOSAL_CATEGORIES[2], criterion: 'Names every step', points: 2 },
    }))
    for (const [name, changes] of [
      ['mute', { question_domain: undefined }],
      ['copies', { rubrics: copies, minimum_score: 0 }],
    ] as const) {
      say = prompt => ({ text: isRubricator(prompt) ? rubric(1, changes) : '\\boxed{5}' })
      await roles(`${name}.jsonl`)
      const { out } = await select(`${name}.jsonl`, `${name}-sft.jsonl`, '--json')
      expect(JSON.parse(out), name).toMatchObject({ written: { rubricator: 0 }, reasons: { form: 2 } })
    }
  })

  it('shows the rubricator no final answer, and asks about wrong ones as well', async () => {
    asked = []
    say = prompt =>
      isRubricator(prompt) ? { text: rubric(1) } : { text: '<think>Hm.</think>It is \\boxed{77777}.' }
    await roles('wrong.jsonl')
    const about = asked.filter(isRubricator)
    expect(about).toHaveLength(2)
    expect(about.some(prompt => prompt.includes('77777'))).toBe(false)
  })

  it('goes on with what is missing, and refuses another teacher in the same file', async () => {
    let fails = true
    say = prompt => {
      if (prompt.includes('4 + 4') && fails) return { text: '', status: 400 }
      return { text: isRubricator(prompt) ? rubric(1) : '\\boxed{5}' }
    }
    const first = await roles('b.jsonl', '--retries', '0', '--concurrency', '1')
    expect(first.code).toBe(1)
    expect(first.err).toMatch(/1 left; go on with:\n.*trajectories roles .*b\.jsonl/)
    fails = false
    asked = []
    expect((await roles('b.jsonl', '--retries', '0')).err).toContain('1 attempt recorded before, 1 to make')
    expect(asked.every(prompt => prompt.includes('4 + 4'))).toBe(true)
    expect((await roles('b.jsonl', '--temperature', '0')).err).toMatch(/expected to go on with the sampling/)
  })

  it('goes on only where right answers are what attempts were judged by', async () => {
    say = prompt => ({ text: isRubricator(prompt) ? rubric(1) : '\\boxed{5}' })
    const sums = (answer: number) => {
      const row = { id: 'q', question: 'What is 2 + 4?', answer }
      const file = sandbox.write('sums.jsonl', JSON.stringify(row))
      const options = ['--teacher', url, '--model', 'm', '--out', sandbox.path('sums-out.jsonl')]
      return cli(['trajectories', 'roles', file, ...options])
    }
    expect((await sums(5)).out).toContain('1 right')
    const { code, err } = await sums(6)
    expect([code, err]).toEqual([
      1,
      expect.stringContaining('expected the question "q" as it was, got another right answer'),
    ])
    expect((await sums(5)).out).toContain('recorded  0 attempts')
  })

  it('keeps what it recorded: select writes over no recording, and half of a character spoils none', async () => {
    say = prompt => ({ text: isRubricator(prompt) ? rubric(1) : 'so\ud800 \\boxed{5}' })
    await roles('half.jsonl')
    const before = sandbox.read('half.jsonl')
    const over = await select('half.jsonl', 'half.jsonl')
    expect([over.code, over.err]).toEqual([2, expect.stringContaining('half.jsonl is the recording itself')])
    expect(sandbox.read('half.jsonl')).toBe(before)
    expect((await select('half.jsonl', 'whole.jsonl')).code).toBe(0)
    expect(sandbox.read('whole.jsonl')).toContain('so\ufffd')
  })

  it('asks a question that is there twice once', async () => {
    asked = []
    say = prompt => ({ text: isRubricator(prompt) ? rubric(1) : '\\boxed{5}' })
    const row = { index: 'a', prompt: 'What is 2 + 3?', answer: '5' }
    const twice = sandbox.write('dapo.jsonl', [row, row].map(own => JSON.stringify(own)).join('\n'))
    const { out } = await cli([
      ...['trajectories', 'roles', twice, '--format', 'dapo', '--teacher', url, '--model', 'm'],
      ...['--out', sandbox.path('twice.jsonl')],
    ])
    expect(out).toContain('recorded  1 attempt in')
    expect(asked).toHaveLength(2)
  })

  it('leaves out what was cut off, and refuses open questions and unknown formats', async () => {
    say = prompt =>
      prompt.includes('4 + 4')
        ? { text: '<think>on and on', finish: 'length' }
        : { text: 'It is \\boxed{5}, and', finish: 'content_filter' }
    await roles('cut.jsonl')
    const { code, err } = await select('cut.jsonl', 'none.jsonl')
    expect([code, err]).toEqual([1, expect.stringContaining('nothing is left to learn from')])
    const strange = await roles('c.jsonl', '--format', 'nonsense')
    expect([strange.code, strange.err]).toEqual([
      2,
      expect.stringContaining('--format: expected one of plain'),
    ])
  })
})

describe('prompts of one’s own', () => {
  it('are what the teacher is asked, and others are refused in the same file', async () => {
    asked = []
    say = prompt => ({ text: isRubricator(prompt) ? rubric(1) : '\\boxed{5}' })
    const own = sandbox.write('reasoner.txt', 'Solve {question}\n')
    const given = ['--reasoner-prompt', own, '--rubricator-prompt', 'A rubric: {question} {response}']
    expect((await roles('own.jsonl', ...given)).code).toBe(0)
    expect(asked).toContain('Solve What is 2 + 3?')
    expect(asked.filter(isRubricator).every(prompt => prompt.includes('\n\nA rubric: <question-'))).toBe(true)
    expect((await roles('own.jsonl', ...given)).out).toContain('recorded  0 attempts')
    for (const [file, more] of [
      ['own.jsonl', []],
      ['own.jsonl', ['--reasoner-prompt', 'Please: {question}']],
      ['b.jsonl', given],
    ] as const)
      expect((await roles(file, ...more)).err).toMatch(/expected to go on with the prompts/)
    const { code, err } = await roles('c.jsonl', '--reasoner-prompt', 'Solve {riddle}')
    expect([code, err]).toEqual([1, expect.stringContaining('reasoner: expected a prompt with {question}')])
  })
})

describe('gradus trajectories roles --verify', () => {
  const verify = (out: string, ...more: string[]) =>
    cli([
      ...['trajectories', 'roles', sandbox.path('pairs.jsonl'), '--verify', '--teacher', url, '--model', 'm'],
      ...['--seed', '7', '--out', sandbox.path(out), ...more],
    ])
  /** Merits of the rubric hold where the response adds; the seed of a pass is the teacher's mood. */
  const list = (met: boolean, length = 5) =>
    JSON.stringify({ judgement: Array.from({ length }, (_, k) => met && k < 4), final_score: 99 })
  beforeAll(async () => {
    say = (prompt, seed) =>
      isRubricator(prompt)
        ? { text: rubric(seed === 7 ? 1 : 9) }
        : { text: seed === 7 ? '<think>I add.</think>\\boxed{5}' : '<think>I guess.</think>\\boxed{6}' }
    await roles('pairs.jsonl', '--attempts', '2')
  })

  it('has each rubric in form decided on every response, and keeps what most passes say', async () => {
    asked = []
    say = (prompt, seed) => {
      if (prompt.includes('2 + 3') && prompt.includes('I add')) {
        // Two of three passes agree, one of them with thinking.
        return { text: seed === 7 ? list(false) : `<think>Pass ${seed}.</think>\n${list(true)}` }
      }
      if (prompt.includes('2 + 3')) return { text: list(true, 4) }
      return prompt.includes('I add')
        ? { text: list(seed === 7), finish: seed === 9 ? 'length' : 'stop' }
        : { text: `Here: ${list(false)}` }
    }
    const { out, code } = await verify('lists.jsonl', '--attempts', '3')
    // Two questions, a rubric in form each (the other one's score is too high), two responses, three passes.
    expect([code, asked.length]).toEqual([0, 12])
    expect(out).toContain('recorded  12 attempts in')
    expect(out).toContain('8 that can be read, 0 failed')
    expect((await verify('lists.jsonl', '--attempts', '3')).out).toContain('recorded  0 attempts')
    const { out: selected } = await select('lists.jsonl', 'verifier.jsonl', '--json')
    expect(JSON.parse(selected)).toEqual({
      ...{ pairs: 4, accepted: 2, written: 2 },
      reasons: { unreadable: 1, divided: 1, denied: 0 },
    })
    const [first, second] = jsonl('verifier.jsonl')
    expect([first.id, first.role, second.id]).toEqual(['q1/1/1', 'verifier', 'q2/2/1'])
    expect(first.messages.map(({ role }: { role: string }) => role)).toEqual(['system', 'user', 'assistant'])
    // 1 + 2 + 3 + 4 points, whatever the teacher took for their sum; the flaw of -2 is not there.
    expect(first.messages[2].content).toBe(
      '<think>\nPass 8.\n</think>\n\n{"judgement":[true,true,true,true,false],"final_score":10}',
    )
    expect(second.messages[2].content).toBe('{"judgement":[false,false,false,false,false],"final_score":0}')
    expect(first.messages[1].content).toContain('I add.')
    expect(first.messages[1].content).not.toContain('boxed{5}')
  })

  it('leaves out what a rule denies', async () => {
    const rule = { kind: 'rule', fn: 'contains', params: { any: ['guess'] } }
    const criteria = [{ id: 'n', text: 'names step 1 before it is taken', points: 1, verifier: rule }]
    const rules = sandbox.write('rules.json', JSON.stringify({ criteria }))
    const denied = JSON.parse((await select('lists.jsonl', 'x.jsonl', '--rules', rules, '--json')).out)
    expect(denied.reasons).toEqual({ unreadable: 1, divided: 1, denied: 2 })
    const other = sandbox.write(
      'others.json',
      JSON.stringify({ criteria: [{ ...criteria[0], text: 'Else.' }] }),
    )
    expect(
      JSON.parse((await select('lists.jsonl', 'y.jsonl', '--rules', other, '--json')).out).accepted,
    ).toBe(2)
    const twice = await select('pairs.jsonl', 'z.jsonl', '--rules', rules)
    expect([twice.code, twice.err]).toEqual([
      2,
      expect.stringContaining('--rules: expected lists of verdicts'),
    ])
  })

  it('writes rows that sft learns, and a model that answers so is a verifier of kind judge', async () => {
    const format = chatFormatOf(writeTinyChat(sandbox.path('tiny'), 16_384), 'a test')
    const settings = sftRecipeSchema.parse({ data: sandbox.path('verifier.jsonl'), maxTokens: 16_384 })
    const { train, notes } = readSftRows(settings, format)
    expect([train.map(({ id }) => id).sort(), notes]).toEqual([['q1/1/1', 'q2/2/1'], []])
    const rows = jsonl('verifier.jsonl')
    const learnt = new Map(rows.map(({ messages: [, { content }, { content: said }] }) => [content, said]))
    // Asked in training's words, it gives what it learnt.
    const verifierModel = scriptedModel(({ messages }) => learnt.get(messages[1].content) ?? 'none')
    const fleet = { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'm' }] }
    const judge = rubricJudgeSchema.parse({ fleet })
    const task = questionTask(format, questionTaskSchema.parse({}))
    const { verifier } = await openRubricVerifier({ verifier: { kind: 'judge', judge } }, task, {
      verifierModel,
    })
    const response = task.rubricator.masked(
      { id: 'q1', question: 'What is 2 + 3?', kind: 'math' },
      partThinking('<think>I add.</think>\\boxed{5}'),
    )
    const problem = { id: 'q1', question: 'What is 2 + 3?', kind: 'math' as const }
    const { criteria } = readProposal(rubric(1))
    const [verdicts] = await verifier.verify([{ problem, response, rubric: { criteria } }])
    expect(verdicts.map(({ met }) => met)).toEqual([true, true, true, true, false])
    expect(verifierModel.calls).toBe(1)
  })

  it('asks with another prompt, and refuses options of the other roles', async () => {
    asked = []
    const prompt = 'Judge {response} to {question} by {rubrics}'
    await verify('own-lists.jsonl', '--verifier-prompt', prompt)
    expect(asked.every(text => /^Judge <response-[\s\S]* to <question-[\s\S]* by\n\n1\. /.test(text))).toBe(
      true,
    )
    expect((await verify('own-lists.jsonl')).err).toMatch(
      /expected to go on with the prompt that it was begun with/,
    )
    const [wrong, stray, early] = [
      await verify('d.jsonl', '--verifier-prompt', '{question} {rubrics} {response}'),
      await verify('d.jsonl', '--ask-to-think'),
      await roles('d.jsonl', '--verifier-prompt', prompt),
    ]
    expect(wrong.err).toContain('--verifier-prompt: expected a prompt with {rubrics} once')
    expect(stray.err).toContain('--ask-to-think: expected nothing with --verify')
    expect(early.err).toContain('--verifier-prompt: expected --verify beside it')
  })
})
