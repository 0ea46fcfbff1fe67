/** @file Answers about texts that come again and again, remembered. */

/** The same function, which works each text out once; it forgets all when it knows `most`. */
export const remembered = <Value>(
  make: (text: string) => Value,
  most = Number.POSITIVE_INFINITY,
): ((text: string) => Value) => {
  const known = new Map<string, Value>()
  return text => {
    let value = known.get(text)
    if (value === undefined) {
      value = make(text)
      if (known.size >= most) known.clear()
      known.set(text, value)
    }
    return value
  }
}
