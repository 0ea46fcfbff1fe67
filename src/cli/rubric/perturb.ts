/** @file `gradus rubric perturb`: a spoilt copy of every rubric of a file. */

import { type FormatName, readRubricFile } from '../../rubric/formats/index.ts'
import { type PerturbOptions, perturbRubric, VARIANTS, type Variant } from '../../rubric/perturb.ts'
import { UsageError } from '../../util/errors.ts'
import { meantOr } from '../../util/schema.ts'
import { EXIT, type Io } from '../io.ts'
import { writeRubrics } from './output.ts'

export interface PerturbCommandOptions extends PerturbOptions {
  variant: string
  seed: string
  format?: FormatName
  out?: string
}

/**
 * Writes the spoilt copy and says on stderr what changed.
 * @throws UsageError for a variant that there is none of; DataError for a file that cannot be used.
 */
export const perturbCommand = (path: string, options: PerturbCommandOptions, io: Io): number => {
  const variant = variantNamed(options.variant)
  const file = readRubricFile(path)
  const several = file.items.length > 1
  const items = file.items.map(item => {
    const seed = several ? `${options.seed}/${item.id}` : options.seed
    const result = perturbRubric(item.rubric, variant, seed, options)
    const { changedIds, addedIds, removedIds, attainablePoints } = result
    const changes = { changed: changedIds, added: addedIds, removed: removedIds }
    const said = Object.entries(changes).flatMap(([what, ids]) =>
      ids.length > 0 ? [`${what} ${ids.join(', ')}`] : [],
    )
    const name = several ? `${item.id}: ` : ''
    io.err.write(`${name}${said.join('; ') || 'nothing changed'}; score out of ${attainablePoints}\n`)
    return { ...item, rubric: result.rubric }
  })
  writeRubrics({ ...file, items }, { ...options, like: path }, io)
  return EXIT.ok
}

const variantNamed = (name: string): Variant => {
  if (Object.hasOwn(VARIANTS, name)) return name as Variant
  const names = Object.keys(VARIANTS)
  throw new UsageError(`--variant: expected one of ${names.join(', ')}, got ${JSON.stringify(name)}`, {
    hint: meantOr(name, names, 'choose one of them'),
  })
}
