/** @file Scripts import from dist/ by name, which no compiler checks: what they name is there. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..')
const IMPORT = /^import \{([^}]+)\} from '(?:\.\.\/)+dist\/([^']+)\.js'/gm

/** Module of src/ (no ending) and a name, for each that a script takes from dist/. */
const imports = readdirSync(join(ROOT, 'scripts'), { recursive: true, encoding: 'utf8' })
  .filter(file => /\.m?js$/.test(file))
  .flatMap(file =>
    [...readFileSync(join(ROOT, 'scripts', file), 'utf8').matchAll(IMPORT)].flatMap(([, names, module]) =>
      names
        .split(',')
        .map(name => name.trim().split(' as ')[0])
        .filter(name => name !== '')
        .map(name => ({ file, module, name })),
    ),
  )

describe('scripts', () => {
  it('are looked through', () => {
    expect(imports).toContainEqual({
      file: join('experiments', 'runs.js'),
      module: 'runs/readers',
      name: 'readEvals',
    })
  })

  it.each(imports)('$file takes $name of $module, which has it', async ({ module, name }) => {
    const there = await import(pathToFileURL(join(ROOT, 'src', `${module}.ts`)).href)
    expect(there).toHaveProperty([name])
  })
})
