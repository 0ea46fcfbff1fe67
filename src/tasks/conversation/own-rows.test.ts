import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readRubricText } from '../../rubric/formats/index.ts'
import { readConversations, splitConversations } from './rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-own-rows-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const rowsOf = (name: string, rows: readonly unknown[]) =>
  write(name, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
const criterion = (id: string, more: object = {}) => ({ id, text: `Is ${id}`, points: 1, ...more })

describe('rows of prompt and criteria', () => {
  it('are read with criteria beside the prompt as with a rubric inside', () => {
    const flat = { id: 'a', prompt: 'Hello?', reference: 'Hi', criteria: [criterion('short')] }
    const { criteria, ...rest } = flat
    const [read] = readRubricText(JSON.stringify(flat), 'rows.jsonl').items
    expect(read).toEqual(
      readRubricText(JSON.stringify({ ...rest, rubric: { criteria } }), 'rows.jsonl').items[0],
    )
    expect(read.prompt).toEqual([{ role: 'user', content: 'Hello?' }])
  })

  it('are refused with the right words', () => {
    const alone = rowsOf('alone.jsonl', [{ prompt: 'Hello?' }])
    expect(() => readConversations(alone)).toThrow(/row1: expected criteria, got a prompt alone.*--rubric/)
    const noPrompt = rowsOf('no-prompt.jsonl', [{ criteria: [criterion('short')] }])
    expect(() => readConversations(noPrompt)).toThrow(
      /row1: expected a conversation to answer, got no prompt/,
    )
    const slip = rowsOf('slip.jsonl', [{ prompt: 'Hello?', criterias: [] }])
    expect(() => readConversations(slip)).toThrow(/slip\.jsonl:1: criterias: .*unknown key/)
    const pointless = rowsOf('pointless.jsonl', [
      { prompt: 'Hello?', criteria: [criterion('a', { points: 0 })] },
    ])
    expect(() => readConversations(pointless)).toThrow(/criteria\[0\]\.points: expected a non-zero number/)
  })

  it('are told of a slip in the name of the prompt, wherever it stands', () => {
    const good = { prompt: 'Hello?', criteria: [criterion('short')] }
    const slip = { promt: 'Hello?' }
    const meant = /meant\.jsonl:\d: promt: expected one of .*prompt.*; did you mean prompt\?$/
    for (const rows of [[slip], [slip, good], [good, slip], [good, { ...slip, criteria: good.criteria }]])
      expect(() => readConversations(rowsOf('meant.jsonl', rows), { criteria: [] })).toThrow(meant)
  })

  it('are the same for a grader of files as before: a prompt without a rubric is none', () => {
    expect(() => readRubricText('{"prompt": "Hello?"}', 'rows.jsonl')).toThrow(/expected a rubric/)
  })
})

describe('a rubric for all rows', () => {
  const rubric = write('rubric.yaml', 'criteria:\n  - { id: short, text: Is short, points: 2 }\n')
  const rows = rowsOf('rows.jsonl', [
    { prompt: 'One?' },
    { prompt: 'Two?', criteria: [criterion('warm')] },
    { prompt: 'Three?', criteria: [criterion('warm'), criterion('only-here', { category: 'style' })] },
  ])

  it('comes before criteria of a row; what rows share goes by its id', () => {
    const { train, test, named } = splitConversations({ file: rows, holdOut: 1, testFile: null, rubric })
    const ids = [...train, ...test].map(row => row.rubric.criteria.map(({ id }) => id).join(' '))
    expect(ids.sort()).toEqual(['short', 'short warm', 'short warm only-here'])
    expect([...named].sort()).toEqual(['short', 'warm'])
  })

  it('is named, with its place, where a verifier of it cannot be; rows are where theirs cannot', () => {
    const verified = (fn: string, params: string) =>
      write(
        'verified.yaml',
        `criteria:\n  - { id: v, text: Is v, points: 1, verifier: { kind: rule, fn: ${fn}, params: ${params} } }\n`,
      )
    const read = (file: string, path: string) =>
      splitConversations({ file, holdOut: 1, testFile: null, rubric: path })
    expect(() => read(rows, verified('contians', '{ any: [a] }'))).toThrow(
      /^\S+verified\.yaml: criteria\[0\] "v": verifier: fn: .*did you mean contains\?$/,
    )
    expect(() => read(rows, verified('length', '{ maxx: 15 }'))).toThrow(
      /^\S+verified\.yaml: criteria\[0\] "v": verifier: params: maxx: .*did you mean max\?$/m,
    )
    const own = criterion('own', { verifier: { kind: 'rule', fn: 'contians' } })
    const wrong = rowsOf('wrong.jsonl', [{ id: 'w', prompt: 'One?', criteria: [own] }])
    expect(() => read(wrong, rubric)).toThrow(/^\S+wrong\.jsonl: item w: criteria\[0\] "own": verifier: fn:/)
  })

  it('is refused where a row has a criterion of the same id, and where a file holds several', () => {
    const again = rowsOf('again.jsonl', [{ prompt: 'One?', criteria: [criterion('short')] }])
    expect(() => splitConversations({ file: again, holdOut: 1, testFile: null, rubric })).toThrow(
      /row1: criteria: expected ids other than those of the rubric for all rows, got "short" again/,
    )
    expect(() => splitConversations({ file: rows, holdOut: 1, testFile: null, rubric: rows })).toThrow()
  })

  it('does not name what formats of others call by its place', () => {
    const health = rowsOf(
      'health.jsonl',
      [1, 2, 3].map(i => ({
        prompt_id: `q${i}`,
        prompt: [{ role: 'user', content: `Number ${i}?` }],
        rubrics: [{ criterion: 'Is kind', points: 3, tags: ['axis:tone'] }],
      })),
    )
    expect(splitConversations({ file: health, holdOut: 1, testFile: null }).named.size).toBe(0)
  })
})
