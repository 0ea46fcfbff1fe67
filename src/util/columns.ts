/** @file Names of columns as a configuration file writes them. */

import { z } from 'zod'

/** By the key that a row is to have: the column of the file that holds it, or null to leave that key out. */
export const columnsSchema = z
  .record(z.string().min(1), z.string().min(1).nullable())
  .describe(
    'Column of the file for each key of a row: `{prompt: question}`; null leaves the key out. Columns of a Parquet file that are left out are not read.',
  )
