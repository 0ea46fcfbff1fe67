import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { llmJudge } from '../judge/judge.ts'
import { judgeSteps, STEP_JUDGE, thinkingSteps } from './steps.ts'

describe('the steps of a text', () => {
  it('are parted by blank lines', () => {
    expect(thinkingSteps('First I add.\nThat is 5.\n\n \nThen I double it.\n')).toEqual([
      'First I add.\nThat is 5.',
      'Then I double it.',
    ])
  })

  it('begin at marks of steps, whatever kind they are', () => {
    const marks = [
      'Step 1: a',
      '2. b',
      '3) c',
      '(4) d',
      '- e',
      '* f',
      '**Step 7** g',
      '## Eight',
      'Finally, i',
    ]
    expect(thinkingSteps(marks.join('\n'))).toEqual(marks)
  })

  it('keep lines that only look like one', () => {
    const text = '3.5 is a number\n-2 as well\nfirst of all\n    - far in\nstepwise'
    expect(thinkingSteps(text)).toEqual([text])
  })

  it('are none in nothing', () => {
    expect(['', '\n\n', ' \t\n'].map(thinkingSteps)).toEqual([[], [], []])
  })

  it('are found in any text in time that grows with it alone', () => {
    for (const piece of ['-', '\n', '# ', '1.', 'step ', '\n- ', '**', ' '])
      expect(thinkingSteps(piece.repeat(100_000)).join('').length).toBeLessThanOrEqual(piece.length * 100_000)
  })
})

const thinking = 'Step 1: 2 + 2 = 4\nStep 2: 4 * 3 = 11\nStep 3: 11 - 1 = 10\nStep 4: no, 12 - 1 = 11'
const judged = (answer: string, more: object = {}) => {
  const model = scriptedModel(() => answer)
  const grader = llmJudge({ model, form: STEP_JUDGE, shape: 'rubric', ...more })
  return { model, result: judgeSteps(grader, { question: '(2 + 2) * 3 - 1?', thinking }) }
}

describe('judged step by step', () => {
  it('thinking is worth the share of its steps that are right', async () => {
    const { mean, verdicts, steps } = await judged('{"judgement": [1, 0, 0, 1]}').result
    expect([mean, verdicts.map(({ met }) => met)]).toEqual([0.5, [true, false, false, true]])
    expect(steps).toHaveLength(4)
  })

  it('the judge sees the whole of it and the steps of the call', async () => {
    const seen: string[] = []
    const model = scriptedModel(({ messages }) => {
      seen.push(messages.at(-1)!.content)
      return '{"judgement": [1, 1]}'
    })
    const grader = llmJudge({ model, form: STEP_JUDGE, shape: { batch: 2 } })
    const { mean } = await judgeSteps(grader, { question: 'q?', thinking })
    expect(mean).toBe(1)
    expect(model.calls).toBe(2)
    for (const text of seen) expect(text).toContain(thinking)
    expect(seen[0].match(/<step-\w+>/g)).toHaveLength(2)
  })

  it('long thinking is judged in several calls', async () => {
    const model = scriptedModel(({ messages }) => {
      const asked = messages[1].content.match(/<step-\w+>/g) ?? []
      return JSON.stringify({ judgement: asked.map((_, i) => Number(i > 0)) })
    })
    const grader = llmJudge({ model, form: STEP_JUDGE, shape: 'rubric' })
    const long = Array.from({ length: 70 }, (_, i) => `Step ${i}: ${i} + 1 = ${i + 1}`).join('\n')
    const { mean, verdicts } = await judgeSteps(grader, { question: 'q?', thinking: long })
    expect(model.calls).toBe(3)
    expect(mean).toBeCloseTo(67 / 70, 12)
    expect(verdicts.flatMap(({ met }, i) => (met ? [] : [i]))).toEqual([0, 32, 64])
    expect(verdicts.map(({ criterionId }) => criterionId)).toEqual(verdicts.map((_, i) => `step ${i + 1}`))
  })

  it('steps without a verdict do not count, and nothing is known where there is none at all', async () => {
    const half = scriptedModel((_, call) => (call === 0 ? '{"judgement": [1, 0]}' : 'no idea'))
    const grader = llmJudge({ model: half, form: STEP_JUDGE, shape: { batch: 2 }, repairs: 0 })
    expect((await judgeSteps(grader, { question: 'q?', thinking })).mean).toBe(0.5)
    expect((await judged('[1]').result).mean).toBeNull()
  })

  it('no thinking is worth nothing, and no call', async () => {
    const { model } = judged('{}')
    const grader = llmJudge({ model, form: STEP_JUDGE, shape: 'rubric' })
    const before = model.calls
    expect((await judgeSteps(grader, { question: 'q?', thinking: ' \n ' })).mean).toBe(0)
    expect(model.calls).toBe(before)
  })
})
