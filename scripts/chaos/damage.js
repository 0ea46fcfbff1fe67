// Damage between a stop and a resume: bytes turned over, files cut, grown or gone, rows lost or doubled.
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const pick = (list, share) => list[Math.min(list.length - 1, Math.floor(share * list.length))]

const FILE_DAMAGES = {
  'a byte turned over in': (path, share) => {
    const bytes = readFileSync(path)
    const at = Math.min(bytes.length - 1, Math.floor(share * bytes.length))
    bytes[at] ^= 1 << (Math.floor(share * 1000) % 8)
    writeFileSync(path, bytes)
  },
  'cut off': (path, share) => truncateSync(path, Math.floor(share * statSync(path).size)),
  'more bytes at the end of': path => appendFileSync(path, 'more'),
  gone: path => rmSync(path),
}

const rewriteLines = (path, change) => {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  writeFileSync(
    path,
    change(lines)
      .map(line => `${line}\n`)
      .join(''),
  )
}

const ROW_DAMAGES = {
  'a line missing in': (path, share) =>
    rewriteLines(path, lines => lines.filter((_, i) => i !== Math.floor(share * lines.length))),
  'a line twice in': (path, share) =>
    rewriteLines(path, lines =>
      lines.flatMap((line, i) => (i === Math.floor(share * lines.length) ? [line, line] : [line])),
    ),
  'a digit changed in': (path, share) => {
    const text = readFileSync(path, 'utf8')
    const digits = [...text.matchAll(/[1-9]/g)].map(({ index }) => index)
    const at = pick(digits, share)
    writeFileSync(path, `${text.slice(0, at)}${10 - Number(text[at])}${text.slice(at + 1)}`)
  },
  'a later step in': (path, share) =>
    rewriteLines(path, lines =>
      lines.map((line, i) =>
        i === Math.floor(share * lines.length)
          ? line.replace(/"step":(\d+)/, (_, step) => `"step":${Number(step) + 1}`)
          : line,
      ),
    ),
}

/** The newest checkpoint of a run; null before the first. */
export const newestCheckpoint = dir => {
  const root = join(dir, 'checkpoints')
  if (!existsSync(root)) return null
  const name = readdirSync(root)
    .filter(each => /^step-\d+$/.test(each))
    .sort()
    .at(-1)
  return name === undefined ? null : join(root, name)
}

/**
 * Damages a file of a run's newest checkpoint, or its rows.
 * @param {{ target: number, how: number, place: number }} choice shares that choose among what there is
 * @returns what was done, in words; null where there is nothing yet
 */
export const damageRun = (dir, { target, how, place }) => {
  const checkpoint = newestCheckpoint(dir)
  if (checkpoint === null) return null
  const files = readdirSync(checkpoint).filter(name => statSync(join(checkpoint, name)).size > 0)
  const rows = ['metrics.jsonl', 'evals.jsonl'].filter(
    name => existsSync(join(dir, name)) && statSync(join(dir, name)).size > 0,
  )
  const targets = [
    ...files.map(name => [checkpoint, name, FILE_DAMAGES]),
    ...rows.map(name => [dir, name, ROW_DAMAGES]),
  ]
  const [folder, name, damages] = pick(targets, target)
  const [words, damage] = pick(Object.entries(damages), how)
  damage(join(folder, name), place)
  return `${words} ${folder === dir ? '' : 'the newest checkpoint: '}${name}`
}
