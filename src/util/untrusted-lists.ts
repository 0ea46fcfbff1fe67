/**
 * @file Schemas of lists that nobody vouches for. A schema's error has a part for each fault, and a list's length is checked when
 * all of it was read: a million faults are a gigabyte. These count first, and stop at the first fault.
 */

import { z } from 'zod'

/** A list of at most so many: counted before any of it is looked at. @param what its entries are, in words */
export const shortList = <S extends z.ZodType>(item: S, most: number, what: string) =>
  z
    .custom<unknown[]>(list => Array.isArray(list) && list.length <= most, {
      error: `a list of at most ${most} ${what}; send fewer at a time`,
      abort: true,
    })
    .pipe(z.array(item))

/**
 * A list of values that need no schema of their own.
 * @param isOne whether an entry is one of them
 * @param what they are, in words
 * @param make of the list
 */
export const plainList = <T>(
  isOne: (value: unknown) => boolean,
  what: string,
  make: (list: readonly unknown[]) => T,
) =>
  z.custom<readonly unknown[]>(Array.isArray, 'a list; correct this value').transform((list, context): T => {
    const odd = list.findIndex(value => !isOne(value))
    if (odd < 0) return make(list)
    context.addIssue({ code: 'custom', path: [odd], message: `${what}; correct this value` })
    return z.NEVER
  })
