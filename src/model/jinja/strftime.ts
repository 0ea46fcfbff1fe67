/** @file The date as templates write it. */

const pad = (value: number, width = 2, fill = '0') => `${value}`.padStart(width, fill)
const english = (date: Date, options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', options).format(date)

const dayOfYear = (date: Date): number => {
  const midnight = (year: number, month: number, day: number) => Date.UTC(year, month, day)
  const today = midnight(date.getFullYear(), date.getMonth(), date.getDate())
  return 1 + (today - midnight(date.getFullYear(), 0, 1)) / 86_400_000
}

const hour12 = (date: Date) => date.getHours() % 12 || 12

const PARTS: Readonly<Record<string, (date: Date) => string>> = {
  a: date => english(date, { weekday: 'short' }),
  A: date => english(date, { weekday: 'long' }),
  b: date => english(date, { month: 'short' }),
  B: date => english(date, { month: 'long' }),
  d: date => pad(date.getDate()),
  D: date => strftime(date, '%m/%d/%y'),
  e: date => pad(date.getDate(), 2, ' '),
  f: date => pad(date.getMilliseconds() * 1000, 6),
  F: date => strftime(date, '%Y-%m-%d'),
  H: date => pad(date.getHours()),
  I: date => pad(hour12(date)),
  j: date => pad(dayOfYear(date), 3),
  m: date => pad(date.getMonth() + 1),
  M: date => pad(date.getMinutes()),
  p: date => (date.getHours() < 12 ? 'AM' : 'PM'),
  R: date => strftime(date, '%H:%M'),
  S: date => pad(date.getSeconds()),
  T: date => strftime(date, '%H:%M:%S'),
  u: date => `${date.getDay() || 7}`,
  w: date => `${date.getDay()}`,
  y: date => pad(date.getFullYear() % 100),
  Y: date => `${date.getFullYear()}`,
  z: () => '',
  Z: () => '',
  '%': () => '%',
}

/** `strftime` of a local date without a time zone, in English; `%-d` without zeros. @throws Error for parts it does not know */
export const strftime = (date: Date, format: string): string =>
  format.replace(/%(-?)(.)?/gs, (whole: string, bare: string, part?: string) => {
    if (part === undefined || !Object.hasOwn(PARTS, part))
      throw new Error(`strftime_now: ${whole}: not supported`)
    const text = PARTS[part](date)
    return bare === '' ? text : text.replace(/^[0 ]+(?=.)/, '')
  })
