/** @file Values by a name that some of them have in common. */

/** The values of each name, in order; names in the order of their first value. */
export const groupedBy = <Value>(
  values: readonly Value[],
  nameOf: (value: Value) => string,
): Map<string, Value[]> => {
  const groups = new Map<string, Value[]>()
  for (const value of values) {
    const own = groups.get(nameOf(value))
    if (own) own.push(value)
    else groups.set(nameOf(value), [value])
  }
  return groups
}
