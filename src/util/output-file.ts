/** @file Files that commands are asked to write: whole or not there, and a device, a pipe or a link stays what it is. */

import { accessSync, closeSync, constants, openSync, realpathSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileAtomic } from './atomic.ts'
import { fileFailure, withFile } from './file-failure.ts'

/**
 * Writes the file that a user named: atomically where that is a file or nothing yet, through a link to what it points to,
 * and straight into a device or pipe, which a rename would replace (`/dev/full`, `/dev/stdout`).
 * @throws DataError naming the path; a file that was there before is as it was
 */
export const writeOutput = (path: string, text: string): void => {
  try {
    const there = path === '' ? undefined : statSync(path, { throwIfNoEntry: false })
    if (there !== undefined && !there.isFile() && !there.isDirectory()) writeThrough(path, text)
    else if (there?.isFile()) writeFileAtomic(realpathSync(path), text)
    else if (there?.isDirectory() || path === '') closeSync(openSync(path, 'w'))
    else writeFileAtomic(path, text)
  } catch (error) {
    throw fileFailure(path, error, { doing: 'cannot be written' })
  }
}

/** Before work whose result a file is to take: whether it could be written now. @throws DataError as `writeOutput` */
export const assertWritable = (path: string): void =>
  withFile(
    path,
    () => {
      const there = path === '' ? undefined : statSync(path, { throwIfNoEntry: false })
      if (there?.isDirectory() || path === '') closeSync(openSync(path, 'w'))
      accessSync(there === undefined ? dirname(path) : path, constants.W_OK)
    },
    { doing: 'cannot be written' },
  )

const writeThrough = (path: string, text: string): void => {
  const fd = openSync(path, 'w')
  try {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
  } finally {
    closeSync(fd)
  }
}
