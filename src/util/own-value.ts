/** @file Records whose keys are names that people gave: `constructor` and `__proto__` are names like others. */

/** The value that a record itself has under a name; never what every object has under it. */
export const ownValue = <Value>(
  record: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined => (record && Object.hasOwn(record, name) ? record[name] : undefined)

/** What stands inside a value, at keys one below the other; undefined where nothing does. */
export const valueInside = (root: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key],
    root,
  )

/** Whether it is an object with keys, and no array. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
