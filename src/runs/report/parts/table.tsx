/** @file Tables: of rows by what stands in each column, and of text as data. All of them may be wider than the page. */

import type { ComponentChildren } from 'preact'
import { NONE } from '../../../util/format.ts'
import type { TableCell, TableColumn, TableRow, TableView } from '../view.ts'
import { Track } from './lines.tsx'
import { Meter } from './meter.tsx'
import { ChipOf, noted } from './words.tsx'

/** Arrow keys scroll what has the focus. */
const FOCUSABLE = { tabIndex: 0 }

/**
 * What a column is called, what stands in it (null: nothing is known), its class, and what who points at a cell is told. Of the
 * kind `head` is what names the row, else the first is; `meter` holds bars.
 */
export type Column<Row> = readonly [
  head: ComponentChildren,
  cell: (row: Row, index: number) => ComponentChildren,
  kind?: string,
  title?: (row: Row) => string | undefined,
]

/** Within a panel it has no frame of its own. */
interface TableProps<Row> {
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  /** Class of the table beside `figure-table`, which in a narrow place is a list a row. */
  class?: string
  rowClass?(row: Row): string | undefined
}

const headClass = (kind: string | undefined): string | undefined =>
  kind === 'meter' ? 'wide' : kind === 'head' ? undefined : kind

export const Table = <Row,>({ rows, columns, class: own = '', rowClass }: TableProps<Row>) => {
  const named = Math.max(
    0,
    columns.findIndex(([, , kind]) => kind === 'head'),
  )
  return (
    <section class="panel scroll figures-place" aria-label="Table" {...FOCUSABLE}>
      <table class={`figure-table ${own}`}>
        <thead>
          <tr>
            {columns.map(([head, , kind], i) => (
              <th scope="col" class={headClass(kind)} key={i}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, nth) => (
            <tr class={rowClass?.(row)} key={nth}>
              {columns.map(([head, cell, kind, title], i) => {
                const inside = cell(row, nth)
                const name = typeof head === 'string' ? head : undefined
                if (i === named)
                  return (
                    <th scope="row" data-head={name || undefined} key={i}>
                      {inside}
                    </th>
                  )
                return (
                  <td
                    class={inside === null ? `${kind ?? ''} none` : kind}
                    data-name={name}
                    title={title?.(row)}
                    key={i}
                  >
                    {inside ?? NONE}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const CellText = ({ cell }: { cell: TableCell }) => {
  if (typeof cell === 'string') return <>{cell}</>
  const { text, class: own, href, bar, color, marks, notes = [], chips = [] } = cell
  if (bar && notes.length === 0) return <Meter text={text} {...bar} />
  const named = href ? <a href={href}>{text}</a> : text
  const Place = marks ? 'div' : 'span'
  return (
    <Place>
      {color && <i class="swatch" style={{ background: `var(--${color})` }} />}
      {marks && <Track marks={marks} />}
      {bar && <Meter text={text} {...bar} />}
      {noted(bar ? '' : own ? <span class={own}>{named}</span> : named, ...notes)}
      {chips.map(chip => (
        <ChipOf chip={chip} key={chip.text} />
      ))}
    </Place>
  )
}

/** What the cells of a column are: as it says itself, else by those that show it. */
const kindOf = ({ rows, text }: TableView, i: number, { kind }: TableColumn): string | undefined => {
  if (kind !== undefined || i === 0) return kind
  const cells = rows.map(row => row[i]).filter(cell => typeof cell === 'object')
  if (cells.some(({ bar }) => bar)) return 'meter'
  return text || cells.some(({ class: own }) => own?.includes('chip')) ? 'item' : 'num'
}

export const TextTable = ({ table }: { table: TableView }) => (
  <Table
    class={table.class}
    rows={table.rows}
    columns={table.head.map((given, i): Column<TableRow> => {
      const column = typeof given === 'string' ? { name: given } : given
      return [
        column.title === undefined ? (
          column.name
        ) : (
          <span class="explained" title={column.title}>
            {column.name}
          </span>
        ),
        row => (row[i] === NONE ? null : <CellText cell={row[i]} />),
        kindOf(table, i, column),
        row => (typeof row[i] === 'string' ? undefined : row[i].title),
      ]
    })}
    rowClass={([first]) => (typeof first === 'string' ? undefined : first.row)}
  />
)
