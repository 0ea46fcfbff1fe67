/** @file A schema of settings as JSON Schema, for editors that complete and check what people write. */

import { z } from 'zod'

interface Node {
  def: { type: string; in?: Node; out?: Node }
}

/** What is changed before it is read has its keys behind the change. */
const written = (schema: z.ZodType): z.ZodType => {
  const { type, in: first, out } = (schema as unknown as Node).def
  return type === 'pipe' && first?.def.type === 'transform' ? (out as unknown as z.ZodType) : schema
}

/**
 * JSON Schema (draft 7) of what a file may say. What only this program can check (a loss, rules that several keys follow) is
 * left open in it.
 * @param title shown by editors
 */
export const jsonSchemaOf = (schema: z.ZodType, title: string): Record<string, unknown> => ({
  title,
  ...z.toJSONSchema(written(schema), { io: 'input', target: 'draft-7', unrepresentable: 'any' }),
})
