import { describe, expect, it } from 'vitest'
import { knownShape } from './known-models.ts'

describe('knownShape', () => {
  it('knows published models by the name of their folder, and nothing that every object has', () => {
    expect(knownShape('/nowhere/Qwen2.5-3B-Instruct')).toMatchObject({ layers: 36 })
    for (const name of ['constructor', 'toString', '__proto__', 'valueOf'])
      expect(knownShape(name)).toBeNull()
  })
})
