/** @file Names that occur twice made unique: verdicts are matched by id. */

/** Returns a function that gives each name back, from its second time on with `~2`, `~3`, ... behind it. */
export const uniqueNames = (): ((name: string) => string) => {
  const taken = new Set<string>()
  return name => {
    let unique = name
    for (let n = 2; taken.has(unique); n++) unique = `${name}~${n}`
    taken.add(unique)
    return unique
  }
}
