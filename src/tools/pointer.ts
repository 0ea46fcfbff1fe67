/** @file Places in a JSON value: JSON pointers (`/web/results`, RFC 6901) or names with dots (`web.results`). */

const stepsOf = (path: string): string[] => {
  if (path === '') return []
  if (!path.startsWith('/')) return path.split('.')
  return path
    .slice(1)
    .split('/')
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What stands at a place; undefined where nothing does. '' is the whole value. */
export const valueAt = (root: unknown, path: string): unknown => {
  let value = root
  for (const step of stepsOf(path)) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return undefined
    value = (value as Record<string, unknown>)[step]
  }
  return value
}
