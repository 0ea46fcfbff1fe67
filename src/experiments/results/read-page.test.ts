import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { part } from '../../runs/report/page.ts'
import { Blocks } from '../../runs/report/parts/blocks.tsx'
import { type BlockList, type KindBlock, shownSections } from '../../runs/report/view.ts'
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
  const ofKind = <Kind extends KindBlock['kind']>(blocks: BlockList, kind: Kind) =>
    blocks.filter(
      (block): block is Extract<KindBlock, { kind: Kind }> =>
        typeof block === 'object' && block !== null && 'kind' in block && block.kind === kind,
    )
  const [cards] = ofKind(titled.get('Claim by claim')!, 'stack')
  const claims = ofKind(cards.blocks, 'panel')
  expect(claims.length).toBeGreaterThan(0)
  const summary = readFileSync(join(folder, 'summary.md'), 'utf8')
  for (const { title, chip, note, blocks } of claims) {
    expect(summary).toContain(`### ${title}: ${chip?.text}: ${note}\n`)
    expect(textIn(blocks)).toContain('expected')
    // Effects are the same in either form.
    for (const { lines, ends } of ofKind(blocks, 'lines'))
      if (ends === undefined) for (const { value } of lines) expect(summary).toContain(value)
  }
  expect([...titled.keys()]).toEqual(expect.arrayContaining(['Negative controls', 'Arms']))
})
