/** @file Failures of files in words: what a code of the system means to whoever named the file, and what to do. */

import { DataError, GradusError } from './errors.ts'

interface Words {
  what: string
  hint: string
}

/** What the system's codes mean. The text of the system itself (`EISDIR: illegal operation`) says it to nobody. */
const WORDS: Readonly<Record<string, Words>> = {
  ENOENT: { what: 'there is no such file or folder', hint: 'check the path' },
  EISDIR: { what: 'it is a folder', hint: 'name a file' },
  ENOTDIR: { what: 'a part of its path is a file, not a folder', hint: 'check the path' },
  EACCES: { what: 'permission was refused', hint: 'check who owns it and its folder' },
  EPERM: { what: 'permission was refused', hint: 'check who owns it and its folder' },
  EROFS: { what: 'the file system is read-only', hint: 'choose another folder' },
  ELOOP: { what: 'its path goes round in circles through symbolic links', hint: 'correct the links' },
  ENAMETOOLONG: { what: 'its name is longer than this system allows', hint: 'shorten the path' },
  EMFILE: {
    what: 'too many files are open in this process',
    hint: 'raise the limit (ulimit -n), or do less at a time',
  },
  ENFILE: { what: 'too many files are open on this machine', hint: 'close some, then try again' },
  ENOSPC: { what: 'the disk is full', hint: 'free some disk space' },
  EDQUOT: { what: 'the disk quota is used up', hint: 'free some disk space' },
  EFBIG: {
    what: 'the file is larger than this system allows',
    hint: 'raise the limit (ulimit -f), or choose another disk',
  },
  EIO: { what: 'the disk or device failed', hint: 'check it, then try again' },
  ENXIO: { what: 'nobody is at the other end of it', hint: 'name a file' },
  EPIPE: { what: 'its reader is gone', hint: 'name a file' },
  EBUSY: { what: 'it is in use', hint: 'try again when it is free' },
  EEXIST: { what: 'something is there already', hint: 'choose another path' },
  ENOTEMPTY: { what: 'the folder there is not empty', hint: 'choose another path' },
  EXDEV: { what: 'it lies on another file system', hint: 'choose another folder' },
  ENOTSUP: { what: 'this file system cannot do it', hint: 'choose another folder' },
  EINVAL: { what: 'it cannot be used like a file', hint: 'name a file' },
  EADDRINUSE: { what: 'another process listens there', hint: 'choose another port' },
  EADDRNOTAVAIL: { what: 'this machine has no such address', hint: 'choose another host' },
  ENOTFOUND: { what: 'no such host is known', hint: 'check its name' },
  ECONNREFUSED: { what: 'nobody listens there', hint: 'check the address' },
  ECONNRESET: { what: 'the other side hung up', hint: 'try again' },
  ENODEV: { what: 'there is no such device', hint: 'name a file' },
  ENOMEM: { what: 'there is not enough memory', hint: 'use a smaller file' },
  ERR_INVALID_ARG_VALUE: { what: 'its name has a character that no path may have', hint: 'check the path' },
  ERR_FS_FILE_TOO_LARGE: { what: 'it is too large to be read at once', hint: 'split it' },
  ERR_STRING_TOO_LONG: { what: 'it is too large to be read at once', hint: 'split it' },
}

const DEFAULT: Words = { what: 'the system refused it', hint: 'check the path and its permissions' }

/** What a code of the system means, with the code behind it: `the disk is full (ENOSPC)`. */
export const wordsOfCode = (code: string): Words => {
  const { what, hint } = Object.hasOwn(WORDS, code) ? WORDS[code] : DEFAULT
  return { what: `${what} (${code})`, hint }
}

/** Codes after which the same write may succeed once somebody has done something about the disk. */
export const passesWithRoom = (code: string): boolean => ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'].includes(code)

/** Whether an error came from the system or its file functions, and not from this program's own code. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error &&
  !(error instanceof GradusError) &&
  typeof (error as NodeJS.ErrnoException).code === 'string'

/** What a failure means; null for errors that are not the system's. */
export const describeFailure = (error: unknown): Words | null =>
  isSystemError(error) ? wordsOfCode(error.code ?? '') : null

/** A failure of the system that nobody gave words to on its way, with what it was about; null for other errors. */
export const systemErrorText = (error: Error): string | null => {
  const words = describeFailure(error)
  if (words === null) return null
  const { path, address, port, syscall } = error as NodeJS.ErrnoException & {
    address?: string
    port?: number
  }
  const what = path ?? (address === undefined ? syscall : [address, port].filter(Boolean).join(':'))
  return `${what === undefined ? '' : `${what}: `}${words.what}; ${words.hint}`
}

type ErrorClass = new (message: string, options?: { hint?: string; cause?: unknown }) => GradusError

export interface FileFailure {
  /** What was tried: `cannot be read`, the default, `cannot be written`. */
  doing?: string
  ErrorKind?: ErrorClass
  /** What to do where there is no such file, beside checking the path. */
  missingHint?: string
}

/**
 * A failure at a file as an error with its path, what was tried, why it failed and what to do. Errors that are not the
 * system's come back as they are.
 */
export const fileFailure = (
  path: string,
  error: unknown,
  { doing = 'cannot be read', ErrorKind = DataError, missingHint }: FileFailure = {},
): Error => {
  const words = describeFailure(error)
  if (words === null) return error as Error
  const named = path === '' ? 'an empty path' : path
  const isMissing = isSystemError(error) && error.code === 'ENOENT'
  const hint = isMissing && missingHint !== undefined ? `${words.hint}; ${missingHint}` : words.hint
  return new ErrorKind(`${named}: ${doing}: ${words.what}`, { hint, cause: error })
}

/** Does something with a file and gives its failure a clear message. @throws as `fileFailure` */
export const withFile = <T>(path: string, work: () => T, failure?: FileFailure): T => {
  try {
    return work()
  } catch (error) {
    throw fileFailure(path, error, failure)
  }
}
