/** @file How deep a YAML text is nested, before it is parsed: the parser calls itself for every level, and dies of too many. */

import { CST, Lexer } from 'yaml'

const OPENS: ReadonlySet<string | null> = new Set(['flow-map-start', 'flow-seq-start'])
const CLOSES: ReadonlySet<string | null> = new Set(['flow-map-end', 'flow-seq-end', 'flow-error-end'])
const MARKS: ReadonlySet<string> = new Set([CST.BOM, CST.DOCUMENT, CST.FLOW_END, CST.SCALAR])
const BLANKS: ReadonlySet<string | null> = new Set(['space', 'newline', 'comment'])

/**
 * Line of the first place that may lie in more than `most` lists and maps; null where there is none. Block collections are
 * told by the columns at which their entries begin, so that the figure may be up to twice too high, never too low.
 */
export const deeperThan = (text: string, most: number): number | null => {
  const columns: number[] = []
  let [flow, line, column, atStart] = [0, 1, 0, true]
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token)
    if (OPENS.has(type)) flow++
    else if (CLOSES.has(type)) flow = Math.max(0, flow - 1)
    else if (flow === 0 && atStart && !BLANKS.has(type)) {
      while (columns.length > 0 && columns[columns.length - 1] >= column) columns.pop()
      columns.push(column)
    }
    if (flow + 2 * columns.length > most) return line
    const lastFeed = token.lastIndexOf('\n')
    if (lastFeed >= 0) {
      for (const char of token) if (char === '\n') line++
      column = token.length - lastFeed - 1
      atStart = true
    } else {
      // Marks of the lexer's own take no room.
      if (!MARKS.has(token)) column += token.length
      if (type === 'seq-item-ind' || type === 'explicit-key-ind') atStart = true
      else if (!BLANKS.has(type) && type !== 'scalar') atStart = false
    }
  }
  return null
}
