/** @file How every benchmark tells what it does and what it found. */

/** Called with what is measured next. */
export type OnProgress = (line: string) => void

/** A value with its unit, and what it is to be compared with. */
export type ResultLine = readonly [name: string, value: string, note: string]

/** So many digits behind the point. */
export const round = (value: number, digits: number): number => Number(value.toFixed(digits))

/** Lines of values in columns, values to the right. */
export const resultTable = (lines: readonly ResultLine[]): string => {
  const [name, value] = [0, 1].map(column => Math.max(...lines.map(line => line[column].length)))
  return lines
    .map(line => `${line[0].padEnd(name)}  ${line[1].padStart(value)}  ${line[2]}`.trimEnd())
    .join('\n')
}
