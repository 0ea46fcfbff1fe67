/** @file What stands in rows and configurations, by the paths to it. */

/** What stands inside a value, each by its path, where no further object is. @param isLeaf what is taken for one value */
export const leafEntries = (
  value: unknown,
  between: string,
  isLeaf: (value: object) => boolean = () => false,
): [path: string, leaf: unknown][] => {
  const below = (own: unknown, path: string): [string, unknown][] =>
    own === null || typeof own !== 'object' || isLeaf(own)
      ? [[path, own]]
      : Object.entries(own).flatMap(([key, item]) =>
          below(item, path === '' ? key : `${path}${between}${key}`),
        )
  return below(value, '')
}

/** Settings by dotted path; a list is one value. */
export const flatSettings = (value: unknown): [string, unknown][] => leafEntries(value, '.', Array.isArray)
