/** @file Files of rows that a command line names: any that `util/row-stream.ts` reads. */

import { prefetchRows } from '../util/row-stream.ts'

/** Said of every argument that is such a file. */
export const ROW_FILE_HELP =
  'Files of rows are JSON Lines (.jsonl, also .gz), Parquet (.parquet), or either on the Hugging Face hub:\nhf://datasets/OWNER/NAME[@REVISION]/PATH.'

/** Reads what of some files cannot be read at once, for a command that does. @throws DataError as `prefetchRows` */
export const bringFiles = async (...files: readonly (string | undefined)[]): Promise<void> => {
  for (const file of files) if (file !== undefined) await prefetchRows(file)
}
