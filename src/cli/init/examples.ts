/** @file What `gradus init` writes: examples that ship with the package, with the schema of their settings for editors. */

import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { grpoSchema } from '../../recipes/grpo/config.ts'
import { rewardConfigSchema } from '../../serve/reward/config.ts'
import { writeFileAtomic } from '../../util/atomic.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { withFile } from '../../util/file-failure.ts'
import { commandLineIn, commandLineOf } from '../../util/invocation.ts'
import { resolveShipped } from '../../util/package.ts'
import { jsonSchemaOf } from '../../util/schema-keys.ts'
import { EXIT, Interrupted, type Io } from '../io.ts'
import { type Files, type ModelTraining, modelTraining } from './model-training.ts'

/** All files of a folder that ships with the package, also those of its folders. */
const shipped = (place: string): Files => {
  const root = resolveShipped(place)
  const files: Files = new Map()
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' }).sort())
    if (statSync(join(root, name)).isFile()) files.set(name, readFileSync(join(root, name)))
  return files
}

/** The settings file with its first line for editors, and the schema that this names, beside it. */
const withSchema = (files: Files, name: string, schema: Record<string, unknown>): Files => {
  const schemaName = `${basename(name, '.yaml')}.schema.json`
  const text = Buffer.from(files.get(name)!).toString('utf8')
  return new Map([
    ...files,
    [name, `# yaml-language-server: $schema=${schemaName}\n${text}`],
    [schemaName, `${JSON.stringify(schema, null, 1)}\n`],
  ])
}

/** @throws DataError when a file is there already and `force` is not set */
const refuseTaken = (folder: string, names: Iterable<string>, force: boolean): void => {
  const taken = [...names].map(name => join(folder, name)).filter(path => existsSync(path))
  if (taken.length > 0 && !force)
    throw new DataError(`${taken.join(', ')}: there already`, {
      hint: 'give another folder, or --force to overwrite',
    })
}

/** Writes all of it or nothing. @throws DataError as `refuseTaken` does */
const writeExample = (folder: string, files: Files, force: boolean): string[] => {
  const paths = [...files.keys()].map(name => join(folder, name))
  refuseTaken(folder, files.keys(), force)
  const written: string[] = []
  try {
    for (const [name, content] of files) {
      const path = join(folder, name)
      withFile(path, () => writeFileAtomic(path, content), { doing: 'cannot be written' })
      written.push(path)
    }
  } catch (error) {
    if (!force) for (const path of written) rmSync(path, { force: true })
    throw error
  }
  return paths
}

interface InitOptions {
  force?: boolean
}

/** What `gradus init train` may be asked for besides. */
export interface InitTrainOptions extends InitOptions {
  /** Another model than the small one that ships. */
  model?: string
  /** Rows of instructions that a rule checks, in place of the example's. */
  instructions?: boolean
  /** Demonstrations of the model's own to begin with. */
  coldStart?: boolean
  /** How many, at most. */
  demonstrations?: number
}

/** `gradus init reward`. Returns the exit code. @throws DataError as writing does */
export const initReward = (folder: string, { force = false }: InitOptions, io: Io): number => {
  const schema = jsonSchemaOf(rewardConfigSchema, 'Settings of gradus serve reward')
  const files = withSchema(shipped('package:examples/reward'), 'reward.yaml', schema)
  io.out.write(`${writeExample(folder, files, force).join('\n')}\n`)
  io.err.write(`next: ${commandLineOf(['serve', 'reward', '--config', join(folder, 'reward.yaml')])}\n`)
  return EXIT.ok
}

/** More take days of answers, and far more no memory holds. */
const MOST_DEMONSTRATIONS = 100_000

/** Null where it was interrupted. */
const demonstrations = async (
  folder: string,
  { model, fit }: ModelTraining,
  io: Io,
  count: number | undefined,
): Promise<Files | null> => {
  const { coldStartFiles } = await import('./cold-start.ts')
  try {
    return await coldStartFiles(folder, model, fit, io, count)
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
    io.err.write(`interrupted; answers are kept in ${folder}: the same command goes on from there\n`)
    return null
  }
}

/**
 * `gradus init train`: its settings name the small chat model that ships, or another one and what fits it. Returns the exit code.
 * @throws DataError as writing does; CheckpointError for a model that cannot be used; UsageError
 */
export const initTrain = async (
  folder: string,
  { force = false, model, instructions = false, coldStart = false, demonstrations: count }: InitTrainOptions,
  io: Io,
): Promise<number> => {
  const settings = jsonSchemaOf(grpoSchema, 'Settings of gradus train, recipe grpo')
  const example = shipped('package:examples/train')
  if (model === undefined && instructions)
    throw new UsageError(
      '--instructions: expected --model with it, got none; the small chat model that ships knows no instructions',
      {
        hint: '--model HuggingFaceTB/SmolLM2-135M-Instruct',
      },
    )
  if (coldStart && !instructions)
    throw new UsageError('--cold-start: expected --instructions with it, got none')
  if (count !== undefined && !coldStart)
    throw new UsageError('--demonstrations: expected --cold-start with it, got none')
  if (count !== undefined && count > MOST_DEMONSTRATIONS)
    throw new UsageError(`--demonstrations: expected at most ${MOST_DEMONSTRATIONS}, got ${count}`, {
      hint: 'each takes the model some seconds: a few thousand are enough',
    })
  const kind = { instructions, coldStart }
  const training = model === undefined ? null : await modelTraining(model, kind, example)
  const files = training?.files ?? example
  // Before minutes of answers.
  refuseTaken(folder, files.keys(), force)
  const more = training && coldStart ? await demonstrations(folder, training, io, count) : []
  if (more === null) return EXIT.interrupted
  const paths = writeExample(folder, withSchema(new Map([...files, ...more]), 'train.yaml', settings), force)
  io.out.write(`${paths.join('\n')}\n`)
  const next = commandLineIn(folder, ['train', coldStart ? 'cold-start.yaml' : 'train.yaml'])
  io.err.write(`next: ${next}\n`)
  return EXIT.ok
}
