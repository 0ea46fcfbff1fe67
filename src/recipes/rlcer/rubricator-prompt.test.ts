import { describe, expect, it } from 'vitest'
import { rlcerSchema } from './config.ts'
import { lettersTask, textOf, thought } from './letters.fixture.ts'
import { fittingPrompt } from './verification.ts'

describe('asking for a rubric', () => {
  const config = rlcerSchema.parse({ rubricator: { maxTokens: 10 } })
  const response = thought('abcdefghij', 'right')
  const promptIn = (positions?: number) =>
    textOf(fittingPrompt(config, { task: lettersTask, positions }, 'p', response))

  it('shows all of a response where there is room', () => {
    expect(promptIn()).toBe('p:abcdefghij</think>right!')
    expect(promptIn(36)).toBe('p:abcdefghij</think>right!')
  })

  it('shows as much of its thinking as leaves room for the rubric', () => {
    expect(promptIn(35)).toBe('p:abcdefghij!')
    expect(promptIn(22)).toBe('p:abcdefghi!')
    expect(promptIn(14)).toBe('p:a!')
    expect(promptIn(13)).toBe('p:!')
  })
})
