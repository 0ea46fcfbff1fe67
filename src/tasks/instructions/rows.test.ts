import { describe, expect, it } from 'vitest'
import { checkRule, compileRule } from '../../grade/rules/registry.ts'
import { INSTRUCTION_KINDS } from './kinds.ts'
import requests from './requests.json' with { type: 'json' }
import { instructionRows } from './rows.ts'

const rows = instructionRows(1500, 'test', 128)
const instructionsOf = (row: (typeof rows)[number]) =>
  row.criteria.flatMap(({ verifier }) =>
    verifier?.fn === 'instruction'
      ? [verifier.params as { id: string; kwargs: Record<string, unknown> }]
      : [],
  )

describe('rows of instructions', () => {
  it('are the same for the same seed, and no prompt stands there twice', () => {
    expect(instructionRows(20, 'test', 128)).toEqual(rows.slice(0, 20))
    expect(instructionRows(20, 'other', 128)[0]).not.toEqual(rows[0])
    expect(new Set(rows.map(({ prompt }) => prompt)).size).toBe(rows.length)
  })

  it('have rules that can be used, and every kind', () => {
    for (const { criteria } of rows)
      for (const { verifier } of criteria) compileRule(verifier!.fn, verifier!.params)
    const asked = new Set(rows.flatMap(row => instructionsOf(row).map(({ id }) => id)))
    expect([...asked].sort()).toEqual(INSTRUCTION_KINDS.map(({ id }) => id).sort())
  })

  it('ask for one to three instructions, none of which decides what another one does', () => {
    const kinds = new Map(INSTRUCTION_KINDS.map(kind => [kind.id, kind]))
    const counts = [0, 0, 0, 0]
    for (const row of rows) {
      const ids = instructionsOf(row).map(({ id }) => id)
      counts[ids.length]++
      const decided = ids.flatMap(id => kinds.get(id)!.decides)
      expect(new Set(decided).size, row.prompt).toBe(decided.length)
    }
    expect(counts[0]).toBe(0)
    expect(counts[1] / rows.length).toBeGreaterThan(0.5)
    expect(counts[3] / rows.length).toBeGreaterThan(0.08)
  })

  it('want of the content nothing that an instruction forbids, and no length that it does not allow', () => {
    for (const row of rows) {
      const ruleOf = (id: string) => row.criteria.find(criterion => criterion.id === id)?.verifier?.params
      const forbidden =
        (ruleOf('forbidden_words')?.kwargs as { forbidden_words?: string[] })?.forbidden_words ?? []
      const wanted = JSON.stringify([ruleOf('topic')?.terms, ruleOf('facts')?.all])
      for (const word of forbidden) expect(wanted).not.toContain(`"${word}"`)
      const words = ruleOf('number_words')?.kwargs as { relation: string; num_words: number } | undefined
      const { min, max } = ruleOf('length_fits') as { min: number; max: number }
      expect(min).toBeLessThan(max)
      if (words?.relation === 'less than') expect(min).toBeLessThan(words.num_words)
      if (words?.relation === 'at least') expect(max).toBeGreaterThanOrEqual(words.num_words + 20)
    }
  })

  it('ask for no sections in a case in which their mark is none, and keep examples apart', () => {
    const marked = rows.filter(({ criteria }) => criteria.some(({ id }) => id === 'multiple_sections'))
    expect(marked.length).toBeGreaterThan(20)
    for (const { criteria, prompt } of marked)
      expect(
        criteria.filter(({ id }) => /^english_/.test(id)),
        prompt,
      ).toEqual([])
    for (const { prompt } of rows)
      expect(prompt).not.toMatch(/(?:\n\* (?:another item|an idea)|\n\(text\))\.? \S/)
  })

  it('let the request be repeated where it has to be, and a text that is in it', () => {
    for (const { criteria, prompt } of rows) {
      const mayRepeat =
        criteria.some(({ id }) => id === 'repeat_prompt') ||
        requests.passages.some(passage => prompt.includes(passage))
      expect(
        criteria.some(({ id }) => id === 'own_words'),
        prompt,
      ).toBe(!mayRepeat)
    }
  })

  it('want no mark that was not asked for, and let one be that was', () => {
    const marks = {
      number_placeholders: 'Meet me at [place].',
      title: '<<The sea>>',
      postscript: 'P.S. Bring bread.',
      number_highlighted_sections: 'It is *very warm* today.',
    }
    const plain = 'A list:\n* It is 2 * 3 today.\n**Loud** and (quiet) [.'
    for (const { criteria } of rows) {
      const { verifier } = criteria.find(({ id }) => id === 'unasked_marks')!
      const isMet = (response: string) =>
        checkRule(verifier!.fn, verifier!.params, { prompt: [], response }).met
      expect(isMet(plain)).toBe(true)
      for (const [kind, response] of Object.entries(marks))
        expect(isMet(response), kind).toBe(criteria.some(({ id }) => id === kind))
    }
  })

  it('ask for nothing that takes more than the tokens of a rollout', () => {
    for (const { criteria } of rows) {
      const { max } = criteria.find(({ id }) => id === 'length_fits')!.verifier!.params as { max: number }
      expect(max).toBeLessThanOrEqual(90)
    }
  })
})
