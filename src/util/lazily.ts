/** @file Packages that take time to load, loaded at the first use: most commands need none of them. */

import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Loads a package when the returned function is first called. `require` of an ES module is synchronous since Node
 * 20.19; the way over `import.meta.resolve` serves packages that export themselves to `import` only.
 */
export const lazily = <Module>(specifier: string): (() => Module) => {
  let loaded: Module | undefined
  return () => {
    loaded ??= createRequire(import.meta.url)(fileURLToPath(import.meta.resolve(specifier))) as Module
    return loaded
  }
}
