/** @file A page as text: aligned for a terminal, or Markdown for a repository. What is drawn alone (charts, dots, bars) is left out. */

import { joinKnown, percentInterval, visible } from '../../util/format.ts'
import {
  type Block,
  type BlockList,
  type PageFact,
  type PageView,
  shownSections,
  type TableCell,
  type TableView,
} from './view.ts'

/** How a form of text shows headings and tables, of which the first row is the head. */
interface TextForm {
  heading(text: string, level: number): string
  table(rows: readonly (readonly string[])[]): string
}

/** A text on one line, with what a terminal would act on written out. */
const onOneLine = (text: string): string => visible(text.replace(/\s*[\r\n]+\s*/g, ' '))

const WIDE =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60]/u
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u

/** Columns of a terminal that a text takes. */
const widthOf = (text: string): number => {
  let width = 0
  for (const character of text) if (!NO_WIDTH.test(character)) width += WIDE.test(character) ? 2 : 1
  return width
}

/** Rows as text: the first column to the left, others to the right. */
export const alignedTable = (rows: readonly (readonly string[])[]): string => {
  const cells = rows.map(row => row.map(onOneLine))
  const widths = cells[0].map((_, column) =>
    cells.reduce((most, row) => Math.max(most, widthOf(row[column])), 0),
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => {
        const space = ' '.repeat(widths[column] - widthOf(cell))
        return column === 0 ? cell + space : space + cell
      })
      .join('  ')
  return cells.map(row => line(row).trimEnd()).join('\n')
}

/** More columns than these no terminal has room for. */
const MOST_COLUMNS = 7

const MOST_CHARACTERS = 60

/** The beginning of a long cell. */
const shortly = (cell: string): string => {
  const characters = Array.from(cell)
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…` : cell
}

/** A table that is too wide, on its side where it has room so. */
const fittingTable = (all: readonly (readonly string[])[]): string => {
  const rows = all.map(row => row.map(shortly))
  if (rows[0].length <= MOST_COLUMNS) return alignedTable(rows)
  return rows.length <= MOST_COLUMNS
    ? alignedTable(rows[0].map((_, column) => rows.map(row => row[column])))
    : `${rows.length - 1} rows of ${rows[0].length} columns, which the page has, and --json.`
}

export const TERMINAL: TextForm = { heading: onOneLine, table: fittingTable }

export const MARKDOWN: TextForm = {
  heading: (text, level) => `${'#'.repeat(level)} ${onOneLine(text)}`,
  table: ([head, ...rows]) =>
    [head, head.map(() => '---'), ...rows]
      // A bar would end the cell, and a tag take what follows it.
      .map(row => `| ${row.map(cell => onOneLine(cell).replace(/\||<(?=[a-z/!?])/gi, '\\$&')).join(' | ')} |`)
      .join('\n'),
}

const cellText = (cell: TableCell): string => {
  if (typeof cell === 'string') return cell
  const { text, chips = [], notes = [], bar } = cell
  const drawn = bar?.interval && percentInterval(bar.interval)
  return joinKnown([text, drawn, ...chips.map(chip => chip.text), ...notes], '; ')
}

const tableText = ({ head, rows }: TableView, form: TextForm): string =>
  form.table([
    head.map(column => (typeof column === 'string' ? column : column.name)),
    ...rows.map(cells => cells.map(cellText)),
  ])

const factText = ([name, value]: PageFact): string | null =>
  value === null ? null : joinKnown([name, typeof value === 'object' ? value.text : String(value)], ' ')

const listText = (lines: readonly string[]): string => lines.map(line => `- ${line}`).join('\n')

/** What of a block is words and metrics; empty where nothing is. */
const blockText = (block: Block, level: number, form: TextForm): string => {
  if (typeof block === 'string') return block
  if ('head' in block) return tableText(block, form)
  switch (block.kind) {
    case 'text':
      return block.text
    case 'facts':
      return joinKnown(block.facts.map(factText), ' · ')
    case 'list':
      return listText(block.lines)
    case 'pairs':
      return listText(block.pairs.map(({ name, text, note }) => joinKnown([`${name}: ${text}`, note], ' ')))
    case 'lines':
      return listText(
        block.lines.map(({ name, value, notes = [], below }) =>
          joinKnown([joinKnown([`${name}: ${value}`, ...notes], ', '), below], '. '),
        ),
      )
    case 'panel': {
      const title = joinKnown([block.title, block.chip?.text, block.note], ': ')
      const head = title === '' ? '' : form.heading(title, level)
      return joinKnown([head, ...textsOf(block.blocks, level + 1, form)], '\n\n')
    }
    case 'stack':
    case 'fold':
      return joinKnown(textsOf(block.blocks, level, form), '\n\n')
    default:
      return ''
  }
}

const textsOf = (blocks: BlockList, level: number, form: TextForm): string[] =>
  blocks.flatMap(block => (block ? blockText(block, level, form) : []))

/** A section without words or metrics is left out. */
export const pageText = (page: PageView, form: TextForm): string => {
  const sections = shownSections(page).flatMap(({ title, about, blocks }) => {
    const inside = joinKnown(textsOf(blocks, 3, form), '\n\n')
    return inside === '' ? [] : [form.heading(title, 2), about, inside]
  })
  const facts = joinKnown([page.status?.text, ...(page.facts ?? []).map(factText)], ' · ')
  const head = [form.heading(page.title, 1), ...textsOf(page.intro ?? [], 2, form), facts]
  return `${joinKnown([...head, ...sections, ...textsOf(page.end ?? [], 2, form)], '\n\n')}\n`
}
