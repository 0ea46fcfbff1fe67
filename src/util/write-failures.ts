/** @file What the system's errors mean when something cannot be written, and what to do about them. */

export interface WriteAdvice {
  /** What happened, in words; null for an error that is not known here. */
  what: string | null
  hint: string
}

const KNOWN: Readonly<Record<string, WriteAdvice>> = {
  ENOSPC: { what: 'the disk is full', hint: 'free some disk space' },
  EDQUOT: { what: 'the disk quota is used up', hint: 'free some disk space' },
  EFBIG: {
    what: 'the file is larger than this system allows',
    hint: 'raise the limit (ulimit -f), or choose another disk',
  },
  EIO: { what: 'the disk failed', hint: 'look at its health, or choose another disk' },
  EROFS: { what: 'the file system is read-only', hint: 'choose another folder' },
  EACCES: { what: 'permission was refused', hint: 'check who owns the folder' },
  EPERM: { what: 'permission was refused', hint: 'check who owns the folder' },
}

const UNKNOWN: WriteAdvice = { what: null, hint: 'check the folder and its permissions' }

/** @param code of a system error: `ENOSPC` */
export const adviceOnWriting = (code: string): WriteAdvice => KNOWN[code] ?? UNKNOWN

/** Errors after which the same write may succeed once somebody has done something about the disk. */
export const passesWithRoom = (code: string): boolean => ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'].includes(code)
