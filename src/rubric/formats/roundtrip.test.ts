import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { parseRubric } from '../criterion.ts'
import { type FormatName, readRubricFile, readRubricText, rubricRows } from './index.ts'

const FILES: [FormatName, string, number][] = [
  ['healthbench', 'healthbench/rows.jsonl', 200],
  ['scholarqa-cs', 'scholarqa-cs/rubrics.jsonl', 55],
  ['writingbench', 'writingbench/length_subset.jsonl', 111],
  ['deep-research-bench', 'deep-research-bench/criteria.jsonl', 50],
  ['biggen', 'biggen/sample_evals.jsonl', 200],
]

const present = sharedData('healthbench/rows.jsonl') !== null
describe.skipIf(!present)('real files (skipped where ../shared/data is absent)', () => {
  it.each(FILES)('%s: read and written again, %s is as it was', (format, name, rows) => {
    const path = sharedData(name)!
    const file = readRubricFile(path)
    expect(file).toMatchObject({ format, layout: 'rows' })
    expect(file.items).toHaveLength(rows)
    expect(rubricRows(file.items, format)).toEqual(readJsonl(path))
    for (const { rubric } of file.items) expect(parseRubric(rubric)).toEqual(rubric)
  })

  it.each(FILES)('%s: by way of our own format too', (format, name) => {
    const path = sharedData(name)!
    const { items } = readRubricFile(path)
    const ours = rubricRows(items, 'native').map(row => JSON.stringify(row))
    const again = readRubricText(ours.join('\n'), 'ours.jsonl')
    expect(again.format).toBe('native')
    expect(rubricRows(again.items, format)).toEqual(readJsonl(path))
  })

  const folder = present ? join(sharedData('paperbench/robust-clip.json')!, '..') : ''
  const trees = present ? readdirSync(folder).filter(name => name.endsWith('.json')) : []
  it.each(trees)('paperbench: %s is as it was, also by way of our own format', name => {
    const path = join(folder, name)
    const file = readRubricFile(path)
    expect(file).toMatchObject({ format: 'paperbench', layout: 'single' })
    const original = JSON.parse(readFileSync(path, 'utf8'))
    expect(rubricRows(file.items, 'paperbench')).toEqual([original])
    expect(parseRubric(file.items[0].rubric)).toEqual(file.items[0].rubric)
    const again = readRubricText(JSON.stringify(rubricRows(file.items, 'native')[0]), 'ours.json')
    expect(rubricRows(again.items, 'paperbench')).toEqual([original])
  })

  it('there are eight trees', () => expect(trees).toHaveLength(8))
})
