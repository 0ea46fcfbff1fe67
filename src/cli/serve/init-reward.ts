/** @file `gradus init reward`: copies the example that ships with the package. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { UsageError } from '../../util/errors.ts'
import { resolveShipped } from '../../util/package.ts'
import { EXIT, type Io } from '../io.ts'

const SOURCE = 'package:examples/reward'

/** Writes the example, all of it or nothing. @throws UsageError when a file is there already and `force` is not set. */
export const initReward = (folder: string, { force = false }: { force?: boolean }, io: Io): number => {
  const source = resolveShipped(SOURCE)
  const names = readdirSync(source)
  const taken = names.filter(name => existsSync(join(folder, name)))
  if (taken.length > 0 && !force)
    throw new UsageError(`${taken.map(name => join(folder, name)).join(', ')}: there already`, {
      hint: 'give another folder, or --force to overwrite',
    })
  for (const name of names) writeFileAtomic(join(folder, name), readFileSync(join(source, name)))
  const config = join(folder, 'reward.yaml')
  io.out.write(`${names.map(name => join(folder, name)).join('\n')}\n`)
  io.err.write(`next: gradus serve reward --config ${config}\n`)
  return EXIT.ok
}
