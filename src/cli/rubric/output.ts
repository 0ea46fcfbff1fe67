/** @file Where commands put the rubrics that they make: a file, or standard output. */

import { textOfRows } from '../../rubric/formats/document.ts'
import { type FormatName, type RubricFile, rubricRows, writeRubricFile } from '../../rubric/formats/index.ts'
import type { Io } from '../io.ts'

export interface OutputOptions {
  out?: string
  format?: FormatName
  /** Standard output is written as this file is: YAML or JSON. */
  like?: string
}

/** @throws DataError for rubrics that the format cannot hold. */
export const writeRubrics = (file: RubricFile, { out, format, like }: OutputOptions, io: Io): void => {
  const kind = format ?? file.format
  if (out === undefined)
    io.out.write(textOfRows(rubricRows(file.items, kind), file.layout, like ?? 'rubric.yaml'))
  else {
    writeRubricFile(out, file, { format: kind })
    io.err.write(`wrote ${out}\n`)
  }
}
