/** @file Prompts for pretrained models, in our own words: what spec/papers.md, Appendix A, says they must contain. */

import { printFormula } from '../../grade/logic/formula.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'

const OUTPUT_RULES = `Work in numbered steps, one statement a line, each step following from the premises alone.
Write a step either as a plain sentence or as a formula with forall, exists, &, |, ->, <-> and ~.
After a step you may name the rule in brackets, with what it uses: [mp; p2, s1].
Known rules: premise, mp (modus ponens), mt (modus tollens), ui (universal instantiation), and-i, and-e, or-i, or-e, ds, hs, contra, dneg.

Answer in exactly this form:
<reasoning>
1. first step
2. second step
</reasoning>
<answer>LABEL</answer>`

/** Task, labels and the step grammar of spec 6.3. */
export const SYSTEM_PROMPT = `You decide whether a conclusion follows from premises.
True: it follows. False: its opposite follows. Unknown: neither does.
LABEL is True, False or Unknown.

${OUTPUT_RULES}`

/** The premises, numbered so that steps can cite them, and the conclusion. */
export const userPrompt = ({
  premises,
  conclusion,
}: Pick<LogicTaskExample, 'premises' | 'conclusion'>): string =>
  [
    'Premises:',
    ...premises.map((premise, i) => `p${i + 1}. ${premise}`),
    '',
    `Conclusion: ${conclusion}`,
  ].join('\n')

/** The same with the formula of each sentence below it, so that steps can be written in their names. */
export const userPromptWithFormulas = ({
  premises,
  premisesFol,
  conclusion,
  conclusionFol,
}: Pick<LogicTaskExample, 'premises' | 'premisesFol' | 'conclusion' | 'conclusionFol'>): string =>
  [
    'Premises, each with its formula:',
    ...premises.flatMap((premise, i) => [`p${i + 1}. ${premise}`, `    ${printFormula(premisesFol[i])}`]),
    '',
    `Conclusion: ${conclusion}`,
    ...(conclusionFol === null ? [] : [`    ${printFormula(conclusionFol)}`]),
  ].join('\n')
