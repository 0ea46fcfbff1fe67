import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildIndex } from '../search/index.ts'
import { openTools } from './open.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-index-tool-'))
const path = join(folder, 'wings.index')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeAll(async () => {
  await buildIndex(path, [
    { id: 'w1', title: 'Wings', text: 'A wing lifts.', place: '1' },
    { id: 'h1', text: 'Heat flows.', place: '2' },
    { id: 'w2', text: 'The wing of a bird.', place: '3' },
  ])
})
const signal = new AbortController().signal

it('answers with passages and their ids', async () => {
  const { tools, close } = await openTools([{ kind: 'index', path, top: 2 }])
  const [tool] = tools
  expect(tool).toMatchObject({ name: 'search', parameters: { type: 'object', required: ['query'] } })
  const { text, snippets } = await tool.call({ query: 'wings', top: 99 }, { signal })
  expect(snippets).toEqual([
    { id: 'w1', title: 'Wings', text: 'A wing lifts.' },
    { id: 'w2', text: 'The wing of a bird.' },
  ])
  expect(text).toBe('[w1] Wings\nA wing lifts.\n\n[w2]\nThe wing of a bird.')
  expect((await tool.call({ query: 'wings', top: 1 }, { signal })).snippets).toHaveLength(1)
  expect(await tool.call({ query: 'zebra' }, { signal })).toMatchObject({ snippets: [] })
  await expect(tool.call({ words: 'x' }, { signal })).rejects.toThrow(/search: expected \{"query": "words"\}/)
  await expect(tool.call({ query: 'wing' }, { signal: AbortSignal.abort() })).rejects.toThrow(
    /not waited for/,
  )
  await close()
  await expect(tool.call({ query: 'wing' }, { signal })).rejects.toThrow(/the index is closed/)
})

it('refuses what is no index', async () => {
  writeFileSync(join(folder, 'x.txt'), 'text')
  await expect(openTools([{ kind: 'index', path: join(folder, 'x.txt') }])).rejects.toThrow(
    /expected a search index/,
  )
})
