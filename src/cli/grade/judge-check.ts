/** @file `gradus judge check`: asks a judge about labelled verdicts and says how often it errs. */

import { type JudgeQuality, type JudgeRates, judgeQuality } from '../../eval/judge-quality.ts'
import { checkGrader, parseLabelledCase } from '../../grade/judge/calibration.ts'
import { UsageError } from '../../util/errors.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { measuredUntilInterrupted } from '../interrupts.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { formatRate, type JudgeCommandOptions, openCommandJudge } from './judge.ts'

export interface JudgeCheckOptions extends JudgeCommandOptions {
  labels: string
  minAgreement?: number
  json?: boolean
}

/**
 * Prints the judge's quality. Exit code 100 when agreement is below `minAgreement`, or could not be measured.
 * @throws DataError for labels that cannot be used; JudgeError when every call would fail
 */
export const judgeCheck = async (options: JudgeCheckOptions, io: Io): Promise<number> => {
  const cases = someJsonlLines(options.labels, 'label').map(({ text, place }) =>
    parseLabelledCase(
      parseRow(text, place, row => row),
      place,
    ),
  )
  const judge = openCommandJudge(options, message => io.err.write(`gradus: ${message}\n`))
  if (!judge) throw new UsageError('--judge: expected the address of a judge, got none')
  try {
    return await measuredUntilInterrupted(io, async signal => {
      const rows = await checkGrader(judge.grader, cases, { concurrency: options.concurrency, signal })
      const quality = judgeQuality(
        rows.map(({ points, label, verdict, group }) => ({ points, label, verdict, group })),
      )
      if (options.json) printJson(io, quality)
      else io.out.write(formatQuality(quality))
      io.err.write(`${judge.describe()}\n`)
      const agreement = quality.all.agreement?.estimate ?? 0
      return agreement < (options.minAgreement ?? 0) ? EXIT.belowThreshold : EXIT.ok
    })
  } finally {
    await judge.grader.close()
    judge.close()
  }
}

const formatRow = (name: string, rates: JudgeRates): string =>
  [
    name.padEnd(10),
    `${rates.judged}/${rates.rows}`.padEnd(12),
    ...[rates.agreement, rates.falseAccept, rates.falseReject, rates.nullRate].map(rate =>
      (rate === null ? '-' : formatRate(rate)).padEnd(22),
    ),
    rates.kappa === null ? '-' : rates.kappa.toFixed(3),
  ]
    .join('')
    .trimEnd()

const formatQuality = ({ all, positive, negative, nullsAcceptable }: JudgeQuality): string => {
  const heads = ['agreement', 'false accept', 'false reject', 'no verdict'].map(head => head.padEnd(22))
  const lines = [
    ['criteria'.padEnd(10), 'judged'.padEnd(12), ...heads, 'kappa'].join(''),
    formatRow('merits', positive),
    formatRow('flaws', negative),
    formatRow('all', all),
  ]
  if (!nullsAcceptable)
    lines.push('more than 5% of the verdicts of one sign are missing: do not train on this judge')
  return `${lines.join('\n')}\n`
}
