import { describe, expect, it } from 'vitest'
import { stagedRollout } from '../../grade/evolving/index.ts'
import { ATTEMPTS } from '../../grade/judge/injections.fixture.ts'
import { isOrdered } from '../../grade/judge/obedient-judge.fixture.ts'
import { reflectorMessages } from './reflector.ts'

const attempt = (said = 'a passage') =>
  stagedRollout('k', `plan${said}answer`, [
    { stage: 1, start: 0, end: 4 },
    { stage: 4, start: 4 + said.length, end: 10 + said.length },
  ])

describe('what a reflector is asked', () => {
  it('is a question and a trajectory by stages, tool output included, and two blocks', () => {
    const [system, user] = reflectorMessages('Why?', attempt())
    for (const part of ['<reflection_rubrics>', '<reflection_takeaways>', 'one to four lessons', 'Pitfalls'])
      expect(system.content).toContain(part)
    expect(user.content).toMatch(/<question-(\w+)>\nWhy\?\n<\/question-\1>/)
    expect(user.content).toMatch(/Stage 1, plan:\n<plan-\w+>\nplan\n/)
    expect(user.content).toMatch(/What a tool answered .*\n<tool-output-\w+>\na passage\n/)
    expect(user.content).toMatch(/Stage 4, answer:\n<answer-\w+>\nanswer\n/)
    expect(user.content).toContain('Stage 3, review: there is none.')
    expect(user.content.trim().endsWith('Now write the two blocks.')).toBe(true)
  })

  it('leaves out the middle of what is long, the question too', () => {
    const [, user] = reflectorMessages('Why '.repeat(1000), attempt('word '.repeat(1000)), 200)
    expect(user.content.length).toBeLessThan(2000)
    expect(user.content.match(/characters are left out here/g)).toHaveLength(2)
  })

  it('hears nothing of what is quoted', () => {
    for (const { name, text } of ATTEMPTS) {
      const [, { content }] = reflectorMessages(text, attempt(text))
      const heard = content.replace(/<(\/?)(?:plan|answer|tool-output|own-rubric|question)-/g, '<$1response-')
      expect([name, isOrdered(heard)]).toEqual([name, false])
    }
  })
})
