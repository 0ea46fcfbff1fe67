/** @file Where the page is: the address says everything, so that it can be sent to somebody. */

import { useEffect, useRef, useState } from 'preact/hooks'

export interface PageAddress {
  /** Parts of the path, decoded. */
  path: string[]
  query: URLSearchParams
}

const CHANGED = 'gradus:place'

const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const placeNow = (): PageAddress => ({
  path: location.pathname.split('/').filter(Boolean).map(decoded),
  query: new URLSearchParams(location.search),
})

export const usePlace = (): PageAddress => {
  const [place, setPlace] = useState(placeNow)
  useEffect(() => {
    const follow = () => setPlace(placeNow())
    addEventListener('popstate', follow)
    addEventListener(CHANGED, follow)
    return () => {
      removeEventListener('popstate', follow)
      removeEventListener(CHANGED, follow)
    }
  }, [])
  return place
}

/** Goes to an address of the dashboard. @param replace in place of the present one, which "back" then skips */
export const go = (address: string, replace = false): void => {
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
  dispatchEvent(new Event(CHANGED))
}

/** Changes the query of the present address; null and '' take a name out. */
export const setQuery = (changes: Record<string, string | number | null>, replace = true): void => {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes))
    if (value === null || value === '') query.delete(name)
    else query.set(name, String(value))
  const text = query.toString()
  go(`${location.pathname}${text === '' ? '' : `?${text}`}`, replace)
}

/** Keys pressed outside of fields. @param take whether a key means something; `held`: it was pressed before and not let go */
export const useKey = (take: (key: string, held: boolean) => boolean): void => {
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const inField = /^(INPUT|TEXTAREA|SELECT)$/.test((event.target as Element).tagName)
      if (inField || event.ctrlKey || event.metaKey) return
      if (latest.current(event.key, event.repeat)) event.preventDefault()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [])
}

/** An address from parts, each encoded. */
export const addressOf = (...parts: (string | number)[]): string =>
  `/${parts.map(part => encodeURIComponent(part)).join('/')}`

/** Links within the dashboard are real ones, which can be opened elsewhere; followed here they change the page alone. */
export const followLinks = (): void =>
  addEventListener('click', event => {
    const to = (event.target as Element).closest('a')?.getAttribute('href')
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return
    if (!to?.startsWith('/') && !to?.startsWith('?')) return
    event.preventDefault()
    // What changes the query alone leaves the reader where he is.
    if (to.startsWith('?')) return setQuery(Object.fromEntries(new URLSearchParams(to)), false)
    go(to)
    scrollTo(0, 0)
  })
