/** @file Options of commands: values as numbers (each says what it expects, and commander puts the option's name before it), names, options that commands share. */

import { type Command, InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../util/errors.ts'

export const numberThat = (text: string, test: (value: number) => boolean, expected: string): number => {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || !test(value))
    throw new InvalidArgumentError(`Expected ${expected}.`)
  return value
}

export const anyNumber = (text: string): number => numberThat(text, () => true, 'a number')

export const above0 = (text: string): number => numberThat(text, n => n > 0, 'a number above 0')

export const atLeast0 = (text: string): number => numberThat(text, n => n >= 0, 'a number of at least 0')

export const share = (text: string): number => numberThat(text, n => n >= 0 && n <= 1, 'a number from 0 to 1')

/** Metrics of evaluations that are no shares. */
const LENGTHS = ['length', 'tokens']

/** `NAME=SHARE`, of lengths `NAME=NUMBER`, added to those before it. */
export const namedShares = (
  text: string,
  before: readonly (readonly [name: string, share: number])[] = [],
): (readonly [name: string, share: number])[] => {
  const [, name, value] = /^(.+)=([^=]*)$/.exec(text) ?? []
  if (name === undefined) throw new InvalidArgumentError('Expected NAME=SHARE.')
  return [...before, [name, (LENGTHS.includes(name) ? atLeast0 : share)(value)]]
}

/** `NAME=TEXT`, added to those before it. */
export const namedText = (
  text: string,
  before: readonly (readonly [name: string, text: string])[] = [],
): (readonly [name: string, text: string])[] => {
  const [, name, value] = /^([^=]+)=(.+)$/.exec(text) ?? []
  if (name === undefined || value === undefined) throw new InvalidArgumentError('Expected OLD=NEW.')
  return [...before, [name, value]]
}

export const count = (text: string): number =>
  numberThat(text, n => Number.isInteger(n) && n > 0, 'a whole number above 0')

export const countOr0 = (text: string): number =>
  numberThat(text, n => Number.isInteger(n) && n >= 0, 'a whole number')

const callShape = (text: string): 'criterion' | 'rubric' | { batch: number } =>
  text === 'criterion' || text === 'rubric' ? text : { batch: count(text) }

/** How many criteria a call of the judge is about. */
export const callsOption = (): Option =>
  new Option('--calls <shape>', 'criteria a call: criterion (one), rubric (all), or a number')
    .argParser(callShape)
    .default('criterion')

const calibration = (text: string): { temperature: number; bias: number } => {
  const [temperature, bias, ...more] = text.split(',').map(anyNumber)
  if (bias === undefined || more.length > 0 || temperature <= 0)
    throw new InvalidArgumentError('Expected a temperature above 0 and a bias, such as 1.9,-0.8.')
  return { temperature, bias }
}

/** On which scale a judge gives its verdicts. */
export const addScaleOptions = (command: Command): Command =>
  command
    .addOption(
      new Option(
        '--levels <scale>',
        "the judge's scale (default: yes-no); likelihood: of the word Yes, which needs log-probs",
      ).choices(['yes-no', 'likelihood', 'levels']),
    )
    .addOption(
      new Option('--calibration <t,b>', 'of likelihoods: temperature and bias, as judge check fits them')
        .argParser(calibration)
        .implies({ levels: 'likelihood' }),
    )

/** What calls of a judge on a server may take, and where its verdicts are kept. */
export const addCallOptions = (command: Command): Command =>
  command
    .option('--cache <dir>', 'folder of verdicts to reuse and add to')
    .option(
      '--timeout <s>',
      'seconds that an attempt to get an answer of the judge may take (default: 120)',
      above0,
    )
    .option('--retries <n>', 'further attempts of a call that had no answer (default: 5)', countOr0)
    .option(
      '--judge-tokens <n>',
      'tokens of an answer of the judge at most (default: as its server has it)',
      count,
    )

export const nullsOption = (): Option =>
  new Option('--nulls <how>', 'a verdict that is null: leave its criterion out, or count it as not met')
    .choices(['drop', 'as-false'])
    .default('drop')

/** `maxTokens` as it is called: `--max-tokens`. */
export const optionName = (key: string): string =>
  `--${key.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`

/** The first of some options that was given, as it is called; undefined: none was. */
export const givenOption = <Options extends object>(
  options: Options,
  keys: readonly (keyof Options & string)[],
): string | undefined => {
  const key = keys.find(name => options[name] !== undefined)
  return key && optionName(key)
}

/** @throws UsageError for the first of some options that was given, with why it may not be */
export const refuseGiven = <Options extends object>(
  options: Options,
  keys: readonly (keyof Options & string)[],
  why: string,
  hint?: string,
): void => {
  const stray = givenOption(options, keys)
  if (stray !== undefined) throw new UsageError(`${stray}: ${why}`, { hint })
}

/** Options as a command line has them: lists by their name again and again, flags alone, what was not given left out. */
export const optionWords = <Options extends object>(
  options: Options,
  keys: readonly (keyof Options & string)[],
): string[] =>
  keys.flatMap(key => {
    const value: unknown = options[key]
    if (value === undefined || value === false) return []
    if (value === true) return [optionName(key)]
    return [value].flat().flatMap(one => [optionName(key), String(one)])
  })

/** As `policy.sampleBits`, of a model in this process. @param of whose weights, in words */
export const sampleBitsOption = (of = 'a weight'): Option =>
  new Option(
    '--sample-bits <n>',
    `bits of ${of} while tokens are drawn, as \`policy.sampleBits\`: 8 rounds, and is faster for large models (default: 32)`,
  ).argParser(text => numberThat(text, n => n === 8 || n === 32, '8 or 32'))

/** What help texts say of options that name a model. */
export const MODEL_HELP = `A model is a folder, a .gguf file, package:models/NAME, or a name on the Hugging Face Hub: OWNER/NAME[@REVISION], or
OWNER/NAME/FILE.gguf for one file, with hf:// before it where a folder here has that name. It is fetched once, into the cache of HF_HOME.`
