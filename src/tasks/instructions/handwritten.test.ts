/** @file The prompts of experiments/real-model/handwritten.jsonl, which nobody trains on: their rules are right, and no wording of theirs is the generator's. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { checkRule } from '../../grade/rules/registry.ts'
import { IFEVAL_COUNTS } from './kinds.ts'
import phrasings from './phrasings.json' with { type: 'json' }
import requests from './requests.json' with { type: 'json' }
import type { InstructionRow } from './rows.ts'

const FILE = fileURLToPath(new URL('../../../experiments/real-model/handwritten.jsonl', import.meta.url))
const rows: InstructionRow[] = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map(line => JSON.parse(line))
const idsOf = ({ criteria }: InstructionRow) => criteria.map(({ verifier }) => verifier!.params!.id as string)

/** Of one row of each kind what follows all it asks for, and what does not follow the instruction of the kind. */
const ANSWERS: Readonly<Record<string, readonly [row: string, right: string, wrong: string]>> = {
  'punctuation:no_comma': ['hand-2', 'A crocodile has a narrow snout.', 'Well, a crocodile is longer.'],
  'change_case:english_lowercase': [
    'hand-3',
    'dear parents, the swimming lesson of class 4b has been cancelled this week.',
    'Dear parents, the swimming lesson of class 4b has been cancelled this week.',
  ],
  'change_case:english_capital': [
    'hand-1',
    'DEAR GRANDMOTHER, WE ALL LOVE YOU VERY MUCH. HAPPY BIRTHDAY TO YOU!',
    'Dear grandmother, we all love you very much.',
  ],
  'change_case:capital_word_frequency': [
    'hand-21',
    'The bus was late AGAIN, and I am VERY ANGRY.',
    'The bus was late AGAIN, and I am very angry.',
  ],
  'startend:quotation': ['hand-11', '"Spoke Sisters: we fix it."', 'Spoke Sisters: "we fix it."'],
  'detectable_format:title': ['hand-12', '<<Lost and Found>>\nAsk at the desk.', '<Lost and Found>\nAsk.'],
  'keywords:existence': [
    'hand-23',
    'We will show our compost to all neighbours.',
    'We will show our compost to everybody.',
  ],
  'keywords:frequency': ['hand-7', 'Soap, soap and more soap!', 'Soap and water, please.'],
  'keywords:forbidden_words': [
    'hand-4',
    'It is a mirror in a mirror.',
    'It is a Function that calls itself.',
  ],
  'keywords:letter_frequency': ['hand-17', 'Zzz, a jazz of physics: Zeno.', 'He dozes, and he is late.'],
  'detectable_format:number_bullet_lists': [
    'hand-5',
    '* a\n* b\n* c\n* d\n* e\n* f',
    '* a\n* b\n* c\n* d\n* e\n* f\n* g',
  ],
  'detectable_format:number_highlighted_sections': [
    'hand-19',
    '*Prices* rise, *money* buys *less*, *so* save.',
    '*Prices* rise and *money* buys less.',
  ],
  'detectable_format:multiple_sections': [
    'hand-20',
    'Block 1\nTram.\nBlock 2\nZoo.\nBlock 3\nSea.',
    'Block 1\nTram.\nBlock 2\nZoo.\nDay 3\nSea.',
  ],
  'detectable_content:number_placeholders': [
    'hand-14',
    'Dear [name], [key] [bin] [hour] [move-in date]',
    'Dear [name], [key] (bin) [hour]',
  ],
  'detectable_content:postscript': ['hand-16', 'A fine plan.\nP.S. Go on!', 'A fine plan. Go on!'],
  'length_constraints:number_sentences': [
    'hand-44',
    'It is scattered light.',
    'A. B is it. C is it. D is it. E.',
  ],
  'length_constraints:number_words': ['hand-13', 'Iron it through paper.', 'Iron it. '.repeat(40)],
  'length_constraints:number_paragraphs': [
    'hand-18',
    'One.\n***\nTwo.\n***\nThree.\n***\nFour.',
    'One.\n***\nTwo.\n***\nThree.',
  ],
  'length_constraints:nth_paragraph_first_word': [
    'hand-22',
    'A.\n\nFarmers sold more.\n\nC.\n\nD.\n\nE.',
    'Farmers sold more.\n\nB.\n\nC.\n\nD.\n\nE.',
  ],
  'detectable_format:json_format': ['hand-6', '[{"emperor": "Nero"}]', 'Here you are: [{"emperor": "Nero"}]'],
  'startend:end_checker': ['hand-15', 'He flew. Good night, little owl.', 'Good night, little owl. He flew.'],
  'combination:two_responses': ['hand-9', 'Cheers, boss!\n******\nMany returns.', 'Cheers!\n******\nCheers!'],
  'combination:repeat_prompt': [
    'hand-10',
    'Why do cats purr when they are afraid?\nIt calms them.',
    'Cats purr to calm down.',
  ],
}

const isMet = (row: InstructionRow, id: string, response: string) => {
  const { verifier } = row.criteria.find(criterion => criterion.verifier!.params!.id === id)!
  const prompt = [{ role: 'user', content: row.prompt } as const]
  return checkRule(verifier!.fn, verifier!.params, { prompt, response }).met
}

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ')

/** Where a wording of the generator stands in a text, whatever fills its gaps. */
const patternOf = (wording: string): RegExp => {
  const literal = plain(wording).replace(/[\\^$.*+?()[\]|]/g, '\\$&')
  return new RegExp(`(?<!\\w)${literal.replace(/\{\w*\}/g, '.{1,40}')}(?!\\w)`)
}

describe('handwritten prompts', () => {
  it('are 150 with one to three instructions, in the proportions of the generator', () => {
    expect(rows).toHaveLength(150)
    expect(new Set(rows.map(({ id }) => id)).size).toBe(150)
    expect([...new Set(rows.map(({ criteria }) => criteria.length))].sort()).toEqual([1, 2, 3])
    const ids = rows.flatMap(idsOf)
    const total = Object.values(IFEVAL_COUNTS).reduce((sum, n) => sum + n)
    for (const [id, count] of Object.entries(IFEVAL_COUNTS)) {
      const expected = (count / total) * ids.length
      const found = ids.filter(each => each === id).length
      expect(Math.abs(found - expected), `${id}: ${found}, ${expected}`).toBeLessThan(3.5)
    }
  })

  it('have rules that a right answer meets and a wrong one does not, of each kind', () => {
    expect(Object.keys(ANSWERS).sort()).toEqual(Object.keys(IFEVAL_COUNTS).sort())
    for (const [kind, [name, right, wrong]] of Object.entries(ANSWERS)) {
      const row = rows.find(({ id }) => id === name)!
      for (const id of idsOf(row)) expect(isMet(row, id, right), `${name} ${id}`).toBe(true)
      expect(isMet(row, kind, wrong), `${name} ${kind}`).toBe(false)
    }
  })

  // Of fewer words than four are ordinary English, such as `in lower case`.
  it('use no wording of the generator', () => {
    const wordings = [
      ...Object.values(phrasings).flatMap(({ doing, being, how }) => [...doing, ...being, ...how]),
      ...Object.values(requests.forms)
        .flat()
        .map(line => line.replace(/^[\d-]+ /, '').replace(/[.?]$/, '')),
    ]
    const isOwn = (wording: string) => (wording.replace(/\{\w*\}/g, '').match(/[a-z]+/gi) ?? []).length >= 4
    const patterns = wordings.filter(isOwn).map(wording => [wording, patternOf(wording)] as const)
    const found = rows.flatMap(({ id, prompt }) =>
      patterns.filter(([, pattern]) => pattern.test(plain(prompt))).map(([wording]) => `${id}: ${wording}`),
    )
    expect(found).toEqual([])
  })
})
