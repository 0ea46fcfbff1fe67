import { describe, expect, it } from 'vitest'
import { escapeUntrusted } from './untrusted.ts'

describe('an opening angle bracket', () => {
  it.each([
    ['<', '&lt;'],
    ['a < b', 'a &lt; b'],
    // With an accent on it, which look-alikes are told by their letters without.
    ['<\u0300', '&lt;&#768;'],
    ['1 <\u0300 2', '1 &lt;&#768; 2'],
  ])('is escaped wherever it is: %j', (text, escaped) => {
    expect(escapeUntrusted(text)).toBe(escaped)
  })

  it('may be looked like, where it begins no tag', () => {
    expect(escapeUntrusted('1 ‹ 2')).toBe('1 ‹ 2')
    expect(escapeUntrusted('‹/system')).not.toContain('‹')
  })
})
