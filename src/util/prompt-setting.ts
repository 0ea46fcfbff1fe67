/** @file Prompts of one's own as settings: a file, or the text itself, with placeholders in braces for what a prompt is about. */

import { z } from 'zod'
import { ConfigError } from './errors.ts'
import { resolveShipped } from './package.ts'
import { readText } from './text-file.ts'

/** `{name}`, and `{{name}}` for the word in braces itself. A single letter or a digit in braces is mathematics. */
const PLACEHOLDER = /\{\{([a-z_]{2,})\}\}|\{([a-z_]{2,})\}/gi

/** `{{name}` and `{name}}`. */
const UNBALANCED = /\{\{[a-z_]{2,}\}(?!\})|(?<!\{)\{[a-z_]{2,}\}\}/i

const placeholdersIn = (text: string): string[] =>
  [...text.matchAll(PLACEHOLDER)].flatMap(([, , name]) => (name === undefined ? [] : [name]))

const MOST_BYTES = 1_000_000

/**
 * A prompt, or the path of a file with one (`package:` as elsewhere). The file's text takes the place of its path, so that a
 * configuration and every hash of it hold what is asked, wherever the file lies. A text with a placeholder is a prompt.
 * @param needed placeholders that must be in it
 * @param more placeholders that may
 */
export const promptSetting = (needed: readonly string[], more: readonly string[] = []) =>
  z.string().transform((given, context): string => {
    const refuse = (message: string) => {
      context.addIssue({ code: 'custom', message })
      return z.NEVER
    }
    const braced = needed.map(name => `{${name}}`).join(' and ')
    let prompt = given
    try {
      if (placeholdersIn(given).length === 0)
        prompt = readText(resolveShipped(given), { ErrorKind: ConfigError, maxBytes: MOST_BYTES })
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      return refuse(`a file with a prompt, or a prompt with ${braced}; ${error.message}`)
    }
    if (UNBALANCED.test(prompt))
      return refuse('a prompt with as many braces before a word as after it; write {name} or {{name}}')
    const there = placeholdersIn(prompt)
    const missing = needed.find(name => !there.includes(name))
    if (missing !== undefined)
      return refuse(`a prompt with ${braced}; write {${missing}} where that is to stand`)
    const odd = there.find(name => ![...needed, ...more].includes(name))
    if (odd !== undefined)
      return refuse(
        `a prompt without other placeholders than ${[...needed, ...more].map(name => `{${name}}`).join(', ')}; take {${odd}} out, or write {{${odd}}} for the word in braces`,
      )
    return prompt.trim()
  })

/** The prompt with values in place of its placeholders; braces in values are text. */
export const fillPrompt = (prompt: string, values: Readonly<Record<string, string>>): string =>
  prompt.replace(PLACEHOLDER, (_, word: string | undefined, name: string) =>
    word === undefined ? values[name] : `{${word}}`,
  )
