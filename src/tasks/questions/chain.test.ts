import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { readProposal } from '../../grade/proposal/index.ts'
import { openThinkingJudge, RUBRIC_VERIFIER, thinkingJudgeSchema } from '../../grade/thinking/judges.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { JudgeVerifier } from '../judge-verifier.ts'
import { scored } from '../scored-response.ts'
import { questionTaskSchema } from './config.ts'
import type { Question } from './question.ts'
import { questionTask } from './task.ts'

const question: Question = { id: 'sum', question: 'What is 20 + 22?', kind: 'math', gold: '42' }

const PROPOSED = JSON.stringify({
  question_domain: 'math/arithmetic',
  rubrics: [
    { category: 'reasoning clarity and flow', criterion: 'Says "check"', points: 3 },
    { category: 'reasoning clarity and flow', criterion: 'Says "add"', points: 2 },
    { category: 'reasoning focus and efficiency', criterion: 'Says "guess"', points: -4 },
    { category: 'other question-specific aspects', criterion: 'Says "42"', points: 1 },
    { category: 'problem decomposition and planning', criterion: 'Says "plan"', points: 5 },
  ],
  maximum_score: 11,
  minimum_score: -4,
  current_score: 2,
})

/** A verifier by script: a criterion `Says "x"` holds where the response has the word. */
const verifierModel = scriptedModel(({ messages }) => {
  const text = messages[1].content
  const response = /<response-(\w+)>([\s\S]*?)<\/response-\1>/.exec(text)![2]
  const words = [...text.matchAll(/Says "(\w+)"/g)].map(match => match[1])
  return JSON.stringify({ judgement: words.map(word => response.includes(word)), final_score: 0 })
})

it('from tokens of both roles to verdicts that tell right from wrong', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-chain-'))
  try {
    const format = chatFormatOf(writeTinyChat(folder, 8192), 'a test')
    const task = questionTask(format, questionTaskSchema.parse({}))
    const tokens = (text: string) => Int32Array.from([...Buffer.from(text), 257])
    const texts = Array.from({ length: 8 }, (_, i) =>
      tokens(
        i % 2 === 0
          ? `<think>I add and check ${i}.</think>\\boxed{42}`
          : `<think>I add, I guess ${i}.</think>\\boxed{41}`,
      ),
    )
    const responses = texts.map(task.thinking.read)
    const graded = await scored(task).grade(texts.map(own => ({ problem: question, tokens: own })))
    const z = graded.map(({ score }) => score === 1)
    expect(z).toEqual([true, false, true, false, true, false, true, false])

    const masked = responses.map(response => task.rubricator.masked(question, response))
    const asked = format.show(task.rubricator.prompt(question, masked[0]))
    expect(asked).toContain('I add and check 0.')
    expect(asked).not.toContain('boxed{42}')
    const { criteria, wellFormed } = readProposal(
      task.rubricator.text(tokens(`<think>Hm.</think>${PROPOSED}`)),
    )
    expect([criteria.length, wellFormed]).toEqual([5, true])

    const config = thinkingJudgeSchema.parse({
      fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'm' }] },
    })
    const judge = openThinkingJudge(config, RUBRIC_VERIFIER, verifierModel)
    const verifier = new JudgeVerifier<Question>(judge.grader, task)
    const verdicts_N_K = await verifier.verify(
      masked.map(response => ({ problem: question, response, rubric: { criteria } })),
    )
    const satisfied = (k: number) => verdicts_N_K.map(verdicts => verdicts[k].met === true)
    // Checking goes with being right, guessing with being wrong; what all do says nothing, and the answer is hidden.
    expect(satisfied(0)).toEqual(z)
    expect(satisfied(2)).toEqual(z.map(right => !right))
    expect([satisfied(1), satisfied(3)]).toEqual([z.map(() => true), z.map(() => false)])
    // Asked anew, nothing goes to the model: 8 calls for 8 responses.
    await verifier.verify(masked.map(response => ({ problem: question, response, rubric: { criteria } })))
    expect(verifierModel.calls).toBe(8)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
