import { describe, expect, it } from 'vitest'
import { checkRule } from './index.ts'

describe('mention_count', () => {
  const met = (params: Record<string, unknown>, response: string) =>
    checkRule('mention_count', params, { prompt: [], response })
  const terms = ['tent', ['stove', 'cooker'], 'rope']

  it('counts terms, not mentions, and any way of saying one', () => {
    expect(met({ terms, min: 2 }, 'a tent, a tent and a cooker')).toMatchObject({ met: true })
    expect(met({ terms, min: 2 }, 'a tent, a tent')).toMatchObject({
      met: false,
      explanation: '1 of 3 terms',
    })
    expect(met({ terms, max: 1 }, 'ropes and tents')).toMatchObject({ met: true })
  })

  it('needs a limit', () => {
    expect(() => met({ terms }, 'x')).toThrow('min or max')
  })
})
