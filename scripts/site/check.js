/** @file What must hold of a built site: every link in it leads somewhere in it, and nothing is fetched from elsewhere. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const unescaped = text => text.replaceAll('&amp;', '&').replaceAll('&#x27;', "'").replaceAll('&quot;', '"')
const isAddress = target => /^(?:[a-z][a-z+.-]*:|\/\/)/i.test(target)

const attributes = (html, name) =>
  [...html.matchAll(new RegExp(`<(\\w+)\\b[^>]*?\\s${name}="([^"]*)"`, 'g'))].map(([, tag, target]) => ({
    tag,
    target: unescaped(target),
  }))

const pagesOf = folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.html') && !/^media[\\/]/.test(name),
  )

/** Faults of the site in `folder`, each with its page; an empty list is a good site. */
export const faultsOf = folder => {
  const pages = new Map(
    pagesOf(folder).map(name => [join(folder, name), readFileSync(join(folder, name), 'utf8')]),
  )
  const idsOf = new Map()
  const ids = path => {
    if (!idsOf.has(path))
      idsOf.set(path, new Set(attributes(pages.get(path) ?? '', 'id').map(each => each.target)))
    return idsOf.get(path)
  }
  const faults = []
  for (const [path, html] of pages) {
    const fault = text => faults.push(`${relative(folder, path)}: ${text}`)
    for (const { tag, target } of [...attributes(html, 'href'), ...attributes(html, 'src')]) {
      if (isAddress(target)) {
        if (tag !== 'a' && !target.startsWith('data:')) fault(`<${tag}> fetches ${target}`)
        continue
      }
      const [file, anchor] = target.split('#')
      const wanted =
        file === '' ? path : resolve(dirname(path), decodeURIComponent(file.replace(/\?.*$/, '')))
      if (!existsSync(wanted)) fault(`a link that leads nowhere: ${target}`)
      else if (anchor && pages.has(wanted) && !ids(wanted).has(decodeURIComponent(anchor)))
        fault(`no place of that name: ${target}`)
    }
  }
  for (const name of readdirSync(join(folder, 'assets')).filter(name => name.endsWith('.css')))
    for (const [, target] of readFileSync(join(folder, 'assets', name), 'utf8').matchAll(
      /url\(["']?([^"')]+)/g,
    ))
      if (isAddress(target) && !target.startsWith('data:')) faults.push(`assets/${name}: fetches ${target}`)
  return faults
}
