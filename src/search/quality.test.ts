import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readJsonl } from '../util/jsonl.ts'
import { sharedData } from '../util/shared-data.fixture.ts'
import { buildIndex } from './build.ts'
import { ROW_KEYS, readDocuments } from './documents.ts'
import { SearchIndex } from './search-index.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-quality-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Question {
  text: string
  relevant: readonly string[]
}

const TOP = 10

/** The first ten documents of an answer; a document of several passages counts once, at its best. */
const documentsFor = (index: SearchIndex, query: string): string[] =>
  [...new Set(index.search(query, { top: 100 }).map(({ document }) => document))].slice(0, TOP)

const qualityOf = (index: SearchIndex, questions: readonly Question[]) => {
  let ndcg = 0
  let recall = 0
  for (const { text, relevant } of questions) {
    const found = documentsFor(index, text)
    const gain = (place: number) => 1 / Math.log2(place + 2)
    const dcg = found.reduce((sum, id, place) => sum + (relevant.includes(id) ? gain(place) : 0), 0)
    const ideal = relevant.slice(0, TOP).reduce((sum, _, place) => sum + gain(place), 0)
    ndcg += dcg / ideal / questions.length
    recall += found.filter(id => relevant.includes(id)).length / relevant.length / questions.length
  }
  return { ndcg, recall }
}

const SETS = [
  {
    name: 'cranfield',
    corpus: sharedData('cranfield/documents.jsonl'),
    asked: sharedData('cranfield/queries.jsonl'),
    keys: ROW_KEYS,
    read: (row: unknown): Question => row as Question,
    reference: { ndcg: 0.519, recall: 0.447 },
  },
  {
    name: 'hotpotqa',
    corpus: sharedData('hotpotqa/paragraphs.jsonl'),
    asked: sharedData('hotpotqa/questions.jsonl'),
    keys: { ...ROW_KEYS, id: 'title' },
    read: (row: unknown): Question => {
      const { question, supportingTitles } = row as { question: string; supportingTitles: string[] }
      return { text: question, relevant: supportingTitles }
    },
    reference: { ndcg: 0.795, recall: 0.905 },
  },
]

describe.each(SETS)('on $name', ({ name, corpus, asked, keys, read, reference }) => {
  // The reference has whole documents; what is cut as by default must not be worse.
  it.for<[kind: string, maxChars: number | undefined]>([
    ['whole documents', 100_000],
    ['passages of the default length', undefined],
  ])('%s are found as the reference finds them', async ([kind, maxChars], context) => {
    if (corpus === null || asked === null) return context.skip(`needs shared/data/${name} beside the clone`)
    const path = join(folder, `${name}.index`)
    await buildIndex(path, readDocuments([corpus], keys), { ...(maxChars && { maxChars }) })
    const index = new SearchIndex(path)
    const { ndcg, recall } = qualityOf(index, readJsonl(asked, read))
    index.close()
    console.log(`${name}, ${kind}: nDCG@10 ${ndcg.toFixed(3)}, recall@10 ${recall.toFixed(3)}`)
    expect(Math.abs(ndcg - reference.ndcg)).toBeLessThan(0.03)
    expect(Math.abs(recall - reference.recall)).toBeLessThan(0.03)
  })
})
