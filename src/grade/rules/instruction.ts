/** @file Rules on following instructions: those of IFEval and IFBench by their public ids, and the language. */

import { z } from 'zod'
import type { GradeItem } from '../grader.ts'
import { checkInstruction } from '../instructions/index.ts'
import { isInLanguage, LANGUAGES } from '../instructions/language.ts'
import { defineRule } from './rule.ts'

const questionOf = ({ prompt }: GradeItem): string | undefined =>
  prompt.findLast(({ role }) => role === 'user')?.content

const instructionRule = defineRule({
  name: 'instruction',
  about:
    'Follows an instruction of IFEval or IFBench, named by its public id with its kwargs; strictly or loosely.',
  params: {
    id: z.string().min(1),
    kwargs: z.record(z.string(), z.unknown()).nullable().default({}),
    mode: z.enum(['strict', 'loose']).default('strict'),
  },
  uses: ['prompt'],
  compile: ({ id, kwargs, mode }) => {
    // Once on anything at all: an unknown id or argument shows here.
    checkInstruction(id, kwargs, 'response', { prompt: 'prompt' })
    return (text, item) => checkInstruction(id, kwargs, text, { mode, prompt: questionOf(item) })
  },
})

const languageRule = defineRule({
  name: 'language',
  about: 'Is written in a language, named by its code (ISO 639-1).',
  params: {
    language: z.string().refine(code => LANGUAGES.includes(code), {
      message: `one of ${LANGUAGES.join(', ')}; give the code of a language`,
    }),
  },
  compile:
    ({ language }) =>
    text =>
      text.trim() !== '' && isInLanguage(text, language),
})

export const INSTRUCTION_RULES = [instructionRule, languageRule]
