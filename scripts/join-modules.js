// Joins JavaScript modules into one script, for pages that are one file. It takes what tsc writes and no more: relative imports
// of single names without `as`, and `export` before a declaration; anything else is an error, as is a name that two modules
// declare. A bundler would do more, and nothing here needs it.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Script } from 'node:vm'

const IMPORT = /^import \{[\w$, ]+\} from '(\.[^']+)';$/gm
const IMPORT_WITH_AS = /^import \{[^}]* as /m
const EXPORT = /^export (?=const|let|function|class|async function)/gm

/** Modules under an entry, each after those that it imports. */
const inOrder = (path, found = new Map()) => {
  if (found.has(path)) return found
  // Set at once, so that modules which import each other end here; their order then shows in the joined script.
  found.set(path, null)
  const code = readFileSync(path, 'utf8')
  if (IMPORT_WITH_AS.test(code))
    throw new Error(`${path}: an import renames what it takes; take it by its own name`)
  for (const [, specifier] of code.matchAll(IMPORT)) inOrder(resolve(dirname(path), specifier), found)
  const body = code
    .replace(IMPORT, '')
    .replace(EXPORT, '')
    .replace(/^export \{\};$/gm, '')
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '')
  const left = /^(?:import|export)\b.*/m.exec(body)
  if (left) throw new Error(`${path}: cannot be joined: ${left[0]}`)
  // Into the map anew: its order is that of the script.
  found.delete(path)
  return found.set(path, body.trim())
}

/**
 * The entry and all that it imports as one script in a scope of its own.
 * @throws Error for an import or export of another form; SyntaxError for a name that two modules declare
 */
export const joinModules = entry => {
  const bodies = [...inOrder(resolve(entry)).values()]
  const script = `(() => {\n'use strict';\n${bodies.join('\n')}\n})();\n`
  new Script(script, { filename: entry })
  return script
}
