/** @file Comma- or tab-separated values, read as leniently as Python's `csv` does. */

/**
 * Rows of fields; quotes stay in the fields. A field that opens with a quote runs to the closing quote and may hold
 * delimiters, line ends and doubled quotes; whatever stands between the closing quote and the delimiter belongs to it. A
 * blank line is a row without fields.
 */
export const parseCsv = (text: string, delimiter: ',' | '\t'): string[][] => {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const end = fieldEnd(text, at, delimiter)
    const next = text[end]
    const isLastOfRow = next !== delimiter
    row.push(text.slice(at, end))
    at = end + (text.startsWith('\r\n', end) ? 2 : 1)
    if (isLastOfRow) {
      rows.push(row.length === 1 && row[0] === '' ? [] : row)
      row = []
    } else if (at >= text.length) {
      rows.push([...row, ''])
      row = []
    }
  }
  return rows
}

/** Index of the delimiter or line end after the field that starts at `from`. */
const fieldEnd = (text: string, from: number, delimiter: string): number => {
  let at = text[from] === '"' ? closingQuote(text, from) + 1 : from
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n' && text[at] !== '\r') at++
  return Math.min(at, text.length)
}

/** Index of the quote that closes the one at `from`; the end of the text where none does. */
const closingQuote = (text: string, from: number): number => {
  let at = from + 1
  while (at < text.length) {
    if (text[at] !== '"') at++
    else if (text[at + 1] === '"') at += 2
    else return at
  }
  return text.length
}
