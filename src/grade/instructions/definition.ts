/** @file What an instruction is: a public id, the arguments it takes, and a predicate over a response. */

import { z } from 'zod'

/**
 * An instruction whose following can be checked by rule. `Kwargs` is the shape of its arguments, as the public data
 * names them.
 */
export interface Instruction<Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** Public id, `group:name`. */
  readonly id: string
  readonly kwargs: z.ZodObject<Shape>
  /** The argument that stands for the prompt itself, where the caller gave a prompt and no such argument. */
  readonly promptArgument?: string
  /** Pure, and total: a strange response is a response that does not follow. It is never blank here. */
  follows(response: string, kwargs: z.output<z.ZodObject<Shape>>): boolean
}

/** Defines an instruction. Arguments outside `shape` are refused when it is checked. */
export const instruction = <Shape extends z.ZodRawShape>(
  id: string,
  shape: Shape,
  follows: (response: string, kwargs: z.output<z.ZodObject<Shape>>) => boolean,
  promptArgument?: keyof Shape & string,
): Instruction =>
  // The registry holds instructions of all shapes; each one's kwargs are parsed by its own schema before `follows`.
  ({ id, kwargs: z.strictObject(shape), follows, promptArgument }) as unknown as Instruction

/** A whole number of at least 0. */
export const countSchema = z.int().min(0)

/** A whole number of at least 1: a position, counted from 1. */
export const position = z.int().min(1)

export const percentage = z.number().min(0).max(100)

/** Text that is more than blanks. */
export const phrase = z
  .string()
  .refine(text => text.trim() !== '', 'text that is not blank; name what the response needs')

/** Words or phrases, one or more. */
export const phrases = z.array(phrase).min(1)

/**
 * How a counted number stands to the number asked for. IFEval has the first two; `around` allows a tenth more or less,
 * at least one.
 */
export const relation = z.enum(['at least', 'less than', 'at most', 'more than', 'exactly', 'around'])

/** Whether `actual` stands in `relation` to `asked`. */
export const holds = (actual: number, name: z.output<typeof relation>, asked: number): boolean => {
  switch (name) {
    case 'at least':
      return actual >= asked
    case 'less than':
      return actual < asked
    case 'at most':
      return actual <= asked
    case 'more than':
      return actual > asked
    case 'exactly':
      return actual === asked
    case 'around':
      return Math.abs(actual - asked) <= Math.max(1, Math.round(asked / 10))
  }
}
