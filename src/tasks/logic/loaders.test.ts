import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parseSentence } from '../../grade/logic/english.ts'
import { sameFormula } from '../../grade/logic/formula.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { decodeTokens, encodePrompt, encodeResponse, isEncodable } from './format.ts'
import { generateLogicProblems } from './generator.ts'
import { loadProntoQa, loadProofWriter, readLogicFile, toLogicLmRow } from './loaders.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-loaders-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string, rows: unknown[]) => {
  const path = join(folder, name)
  writeFileSync(path, rows.map(row => JSON.stringify(row)).join('\n'))
  return path
}

const row = {
  id: 'P1',
  context: 'Every tumpus is not angry. Stella is a tumpus.',
  question: 'Is the following statement true or false? Stella is angry.',
  options: ['A) True', 'B) False'],
  answer: 'B',
}

describe('logic loaders', () => {
  it('reads a ProntoQA row without an explanation', () => {
    const [problem] = loadProntoQa(file('one.jsonl', [row]))
    expect(problem.premises).toEqual(['Every tumpus is not angry.', 'Stella is a tumpus.'])
    expect(problem.conclusion).toBe('Stella is angry.')
    expect(problem.label).toBe('False')
    expect(problem.conclusionFol).toEqual({ kind: 'atom', name: 'angry', args: ['stella'] })
    expect(problem.proof).toBeUndefined()
  })

  it('names file, line and field of a bad row', () => {
    const load = (bad: object) => () => loadProntoQa(file('bad.jsonl', [row, { ...row, ...bad }]))
    expect(load({ context: undefined })).toThrow(/bad\.jsonl:2: context: expected a string, got nothing/)
    expect(load({ answer: 'D' })).toThrow(/bad\.jsonl:2: answer: expected the letter of one of .* got "D"/)
    expect(load({ question: 'Stella is angry.' })).toThrow(/bad\.jsonl:2: question: expected/)
    expect(load({ context: 'Wumpus.' })).toThrow(/bad\.jsonl:2: context, sentence 1: expected a sentence/)
    expect(() => loadProntoQa(join(folder, 'none.jsonl'))).toThrow(/cannot be read/)
  })

  it('writes generated problems as rows that read back the same, with the same formulas from the text', () => {
    for (const style of ['real', 'shortcut-free'] as const) {
      const problems = generateLogicProblems(
        100,
        { style, labels: 'three-way', hops: { 1: 1, 5: 1 } },
        'rows',
      )
      const back = loadProntoQa(file(`${style}.jsonl`, problems.map(toLogicLmRow)))
      for (const [i, problem] of problems.entries()) {
        const { source: _, ...rest } = problem
        expect(back[i]).toMatchObject({
          ...rest,
          premisesFol: back[i].premisesFol,
          conclusionFol: back[i].conclusionFol,
        })
        for (const [j, formula] of problem.premisesFol.entries()) {
          expect(sameFormula(back[i].premisesFol[j], formula), problem.premises[j]).toBe(true)
        }
        expect(sameFormula(back[i].conclusionFol!, problem.conclusionFol!)).toBe(true)
      }
    }
  })

  it('reads FOLIO rows, keeps faulty ones aside', () => {
    const folio = {
      id: 3,
      premises: ['All men are mortal.', 'Socrates is a man. '],
      'premises-FOL': ['∀x (Man(x) → Mortal(x))', 'Man(socrates)'],
      conclusion: 'Socrates is mortal.',
      label: 'Uncertain',
    }
    const path = file('folio.jsonl', [
      { ...folio, 'conclusion-FOL': 'Mortal(socrates)', label: 'True' },
      { ...folio, id: 4 },
      { ...folio, id: 5, 'premises-FOL': ['Man(socrates)'] },
      { ...folio, id: 6, 'premises-FOL': ['∀ → (', 'Man(socrates)'] },
    ])
    const { problems, unread } = readLogicFile(path, 'folio')
    expect(problems.map(({ id, label, conclusionFol }) => [id, label, conclusionFol !== null])).toEqual([
      ['folio-3', 'True', true],
      ['folio-4', 'Unknown', false],
    ])
    expect(unread[0]).toEqual({
      id: 'folio-5',
      reason: 'premises-FOL: expected 2 formulas, one a premise, got 1',
    })
    expect(unread[1].reason).toMatch(/^premises-FOL\[0\]: /)
    expect(() => readLogicFile(file('label.jsonl', [{ ...folio, label: 'Maybe' }]), 'folio')).toThrow(
      /label\.jsonl:1: label: expected/,
    )
  })
})

const prontoqa = sharedData('prontoqa/dev.jsonl')
const proofwriter = sharedData('proofwriter/dev.jsonl')
const folioTrain = sharedData('folio/train.jsonl')
const folioValidation = sharedData('folio/validation_fol_dev.jsonl')

describe('real rows (skipped without ../shared/data)', () => {
  it.skipIf(!prontoqa)('ProntoQA: all rows load, encode and decode without unknown tokens', () => {
    const problems = loadProntoQa(prontoqa!)
    expect(problems).toHaveLength(200)
    for (const problem of problems) {
      expect(problem.hops).toBe(5)
      expect(isEncodable(problem)).toBe(true)
      const prompt = encodePrompt(problem)
      const shown = `${problem.context}\nquestion: ${problem.conclusion}`.toLowerCase()
      expect(decodeTokens(prompt)).toBe(` ${shown}`)
      const response = encodeResponse(problem)
      expect(response.length).toBeGreaterThanOrEqual(61)
      expect(response.length).toBeLessThanOrEqual(70)
      const steps = problem.proof!.map((step, i) => `${i + 1}. ${step.slice(0, -1)}`.toLowerCase()).join('\n')
      expect(decodeTokens(response)).toBe(
        `<reasoning>\n${steps}\n</reasoning>\n<answer>${problem.label.toLowerCase()}</answer>`,
      )
    }
  })

  it.skipIf(!prontoqa)('ProntoQA: proof steps parse', () => {
    for (const { proof } of loadProntoQa(prontoqa!)) for (const step of proof!) parseSentence(step)
  })

  it.skipIf(!proofwriter)('ProofWriter: all rows load', () => {
    const problems = loadProofWriter(proofwriter!)
    expect(problems).toHaveLength(600)
    for (const label of ['True', 'False', 'Unknown']) {
      expect(problems.filter(problem => problem.label === label)).toHaveLength(200)
    }
  })

  it.skipIf(!folioTrain || !folioValidation)(
    'FOLIO: nearly all rows load, only validation has conclusions',
    () => {
      const train = readLogicFile(folioTrain!, 'folio')
      expect(train.problems.length + train.unread.length).toBe(1004)
      expect(train.unread.length).toBeLessThanOrEqual(30)
      expect(train.problems.some(({ conclusionFol }) => conclusionFol !== null)).toBe(false)
      const validation = readLogicFile(folioValidation!, 'folio')
      expect(validation.problems.length + validation.unread.length).toBe(100)
      expect(validation.unread.length).toBeLessThan(5)
      expect(validation.problems.every(({ conclusionFol }) => conclusionFol !== null)).toBe(true)
    },
  )
})
