/** @file Tables: of rows by what stands in each column, and of text as data. All of them may be wider than the page. */

import type { ComponentChildren } from 'preact'
import type { TableCell, TableView } from '../view.ts'
import { StatusChip } from './claim.tsx'

/** Arrow keys scroll what has the focus. */
const FOCUSABLE = { tabIndex: 0 }

/** What stands in a cell, and below it in small what belongs to it, so far as it is known. */
export const noted = (text: ComponentChildren, ...notes: (string | null | undefined | false)[]) => (
  <>
    {text}
    {notes.map(note => note && <small key={note}>{note}</small>)}
  </>
)

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
                    {inside ?? '–'}
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

const textOf = (cell: TableCell) =>
  typeof cell === 'string' ? (
    cell
  ) : (
    <>
      {cell.color && <i class="swatch" style={{ background: `var(--${cell.color})` }} />}
      {noted(cell.isStatus ? <StatusChip status={cell.text} /> : cell.text, ...(cell.notes ?? []))}
    </>
  )

const cellAt = ({ rows: [first] }: TableView, i: number) => {
  const cell = first?.cells[i]
  return typeof cell === 'object' ? cell : undefined
}

export const TextTable = ({ table }: { table: TableView }) => (
  <Table
    rows={table.rows}
    columns={table.head.map(
      (name, i): Column<TableView['rows'][number]> => [
        name,
        ({ cells }) => (i === 0 ? textOf(cells[0]) : <span>{textOf(cells[i])}</span>),
        i === 0 ? undefined : table.text || cellAt(table, i)?.isStatus ? 'item' : 'num',
        ({ cells }) => (typeof cells[i] === 'string' ? undefined : cells[i].title),
      ],
    )}
    rowClass={({ kind }) => kind}
  />
)
