/** @file A row as text. */

/** A line of a JSON Lines file that is not blank, or the row of another file in its place, and where it is: `path:line`. */
export interface JsonlLine {
  place: string
  text: string
}
