import { describe, expect, it } from 'vitest'
import { scriptedStageJudge } from '../../grade/evolving/index.ts'
import type { Json } from '../../memory/index.ts'
import type { Rollout } from '../../rl/rollout.ts'
import { recordsJudgeParts } from './stage-judge.ts'
import { recordsTask } from './task.ts'
import { encodeRecords } from './vocabulary.ts'
import { fieldName, PEOPLE, recordsAnswer, recordsQuestion, truthOf } from './world.ts'

const judge = scriptedStageJudge(recordsJudgeParts({ seed: 1, sound: 1, discerning: 1, oracle: false }))
const taskWith = (oracle: boolean) => recordsTask({}, { calls: 4, judge, oracle })
const task = taskWith(false)
const question = recordsQuestion('test', 1)
const [{ field, person }] = truthOf(question)
const right = recordsAnswer(question)
const wrong = PEOPLE.find(name => name !== right)!

/** What is not the policy's is what the archive said. */
const attemptOf = (...pieces: [text: string, own: 0 | 1][]): Rollout => {
  const tokens = pieces.map(([text]) => encodeRecords(text))
  return {
    ...{ key: 'k', role: 'agent', group: 'g', sample: 0, prompt: [], turns: [], end: 'stop' },
    tokens: Int32Array.from(tokens.flat()),
    mask: Uint8Array.from(tokens.flatMap((own, i) => own.map(() => pieces[i][1]))),
    logprobs: new Float32Array(tokens.flat().length),
  }
}
const answer = (name: string) => `\n<answer> ${name}</answer>`
const searched = attemptOf(
  [`\n<call_tool> ${question.person} ${fieldName(field)}</call_tool>`, 1],
  [`\n<tool_output> r1 ${person}</tool_output>`, 0],
  [answer(right), 1],
)

describe('the records task', () => {
  it('grades answers, whoever wrote them: what an archive says is none', async () => {
    const gradeOf = async (rollout: Rollout) => {
      const { criteria } = task.rubric(question)
      const [{ verdicts, wellFormed }] = await task.grade([
        { problem: question, tokens: rollout.tokens, rollout, criteria },
      ])
      return [...verdicts.map(({ criterionId, met }) => [criterionId, met]), wellFormed]
    }
    expect(await gradeOf(searched)).toEqual([['right', true], false])
    expect(await gradeOf(attemptOf([answer(wrong), 1]))).toEqual([['right', false], false])
    expect(await gradeOf(attemptOf([answer(right), 0]))).toEqual([['right', false], false])
    expect(task.stages.truth(question, searched)).toMatchObject({ wellFormed: 0, effort: 0.25 })
  })

  it('gives criteria for answers, and says so, where an oracle judges', () => {
    expect([task, taskWith(true)].map(({ stages }) => stages.persistent(question).length)).toEqual([0, 1])
    expect([task, taskWith(true)].map(({ notes }) => notes.length)).toEqual([0, 1])
  })

  it('keeps lessons with their archive, shows them, and has empty ones of the same make', async () => {
    const { reflector, takeaways, show, reminded, placebo } = task.stages
    const text = `\n${show({ rubrics: [], takeaways: taken() })}`
    const lessons = reflector.read(question, encodeRecords(text))!
    expect(takeaways!.parse(lessons.takeaways)).toEqual(taken())
    expect(reflector.read(question, encodeRecords(text.slice(0, -30)))).toBeNull()
    const item = { ...lessons, qHash: '', question: '', u: 1, step: 1 }
    const found = { question: '', items: [{ item, how: 'cross' as const, score: 1 }], fellBack: false }
    const shown = task.show(Array.from(reminded(question, found)))
    expect(shown).toContain(`use ${fieldName(field)} answer ${right}`)
    expect(shown).toContain(`${question.archive.colour} ${question.archive.place}`)
    const empty = placebo!(lessons, 'key')
    expect(takeaways!.parse(empty.takeaways)).toMatchObject({ colour: question.archive.colour })
    expect(placebo!(lessons, 'key')).toEqual(empty)
    expect(empty).not.toEqual(lessons)
    const judged = { problem: question, attempt: searched, judged: null, lessons }
    const [scores] = await reflector.judge([judged])
    expect(scores!.specificity).toBeGreaterThan(0)
  })
})

/** A lesson that holds, and one that helps nobody else. */
const taken = (): Json => ({
  ...{ colour: question.archive.colour, place: question.archive.place, advice: [] },
  lessons: [
    { kind: 'use', field },
    { kind: 'answer', person: right },
  ],
})
