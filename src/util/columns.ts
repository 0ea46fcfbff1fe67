/** @file Names of columns as a configuration file writes them. */

import { z } from 'zod'

/** By the key that a row is to have: the column of the file that holds it, or null to leave that key out. */
export const columnsSchema = z
  .record(z.string().min(1), z.string().min(1).nullable())
  .describe(
    'Columns of the file under the names that rows have here: `{prompt: question}`; null leaves one out. Of Parquet files what is left out is not read.',
  )
