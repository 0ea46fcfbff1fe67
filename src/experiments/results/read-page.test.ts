import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { Blocks } from '../../runs/report/parts/blocks.tsx'
import { part } from '../../runs/report/render.ts'
import { type BlockList, shownSections } from '../../runs/report/view.ts'
import { readExperimentPage } from './read-page.ts'

const RESULTS = fileURLToPath(new URL('../../../results', import.meta.url))

const folders = readdirSync(RESULTS).filter(name => {
  const files = readdirSync(join(RESULTS, name))
  return files.includes('controls.json') && files.includes('summary.md')
})

it.each(folders)('the files of results/%s make the page that their report has', name => {
  const folder = join(RESULTS, name)
  const page = readExperimentPage(folder, { title: name, summary: 'What it is.', curves: [] })
  const titled = new Map(shownSections(page).map(({ title, blocks }) => [title, blocks]))
  const textIn = (blocks: BlockList) => part(Blocks, { blocks }).replaceAll(/<[^>]*>/g, ' ')
  const [cards] = titled.get('Claim by claim')!
  const all = cards && 'blocks' in cards ? cards.blocks : []
  const claims = all.flatMap(block => (block && block.kind === 'panel' ? [block] : []))
  expect(claims.length).toBeGreaterThan(0)
  const summary = readFileSync(join(folder, 'summary.md'), 'utf8')
  for (const { title, chip, note, blocks } of claims) {
    expect(summary).toContain(`### ${title}: ${chip?.text}: ${note}\n`)
    expect(textIn(blocks)).toContain('expected')
    // Effects are the same in either form.
    for (const block of blocks)
      if (block && block.kind === 'lines' && block.ends === undefined)
        for (const { value } of block.lines) expect(summary).toContain(value)
  }
  expect([...titled.keys()]).toEqual(expect.arrayContaining(['Negative controls', 'Arms']))
})
