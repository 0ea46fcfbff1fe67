/** @file Asks the server: JSON by address, news by server-sent events; what was there stays until the new is. */

import { useEffect, useRef, useState } from 'preact/hooks'

export interface Loaded<T> {
  value: T | null
  error: string | null
}

const TOKEN = 'gradus-control-token'

/** The token that lets this tab control runs: it comes in the address once, and stays in the tab alone. */
export const token = (): string | null => sessionStorage.getItem(TOKEN)

export const setToken = (value: string): void => sessionStorage.setItem(TOKEN, value)

/** Takes it out of the address, where a screenshot or a sent link would show it. */
export const takeToken = (): void => {
  const found = /^#token=([\w-]+)$/.exec(location.hash)
  if (found === null) return
  setToken(found[1])
  history.replaceState(null, '', location.pathname + location.search)
}

const failureOf = async (response: Response): Promise<string> => {
  try {
    const { error } = (await response.json()) as { error?: string }
    return error ?? response.statusText
  } catch {
    return response.statusText
  }
}

/** @throws Error with the server's words */
const ask = async <T>(path: string, request: RequestInit): Promise<T> => {
  const response = await fetch(path, request)
  if (!response.ok) throw new Error(await failureOf(response))
  return (await response.json()) as T
}

/** @throws Error with the server's words */
export const getJson = <T>(path: string, signal?: AbortSignal): Promise<T> =>
  ask(path, { signal, headers: { accept: 'application/json' } })

/** Asks for something with the token, which is forgotten where it is not the right one. @throws Error with the server's words */
export const postJson = async <T>(path: string, body: unknown): Promise<T> => {
  const headers = { 'content-type': 'application/json', 'x-gradus-token': token() ?? '' }
  try {
    return await ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
  } catch (error) {
    if ((error as Error).message.includes('token')) sessionStorage.removeItem(TOKEN)
    throw error
  }
}

/** What an address answers. @param version asks again when it changes */
export const useJson = <T>(path: string, version: unknown = 0): Loaded<T> => {
  const [state, setState] = useState<Loaded<T>>({ value: null, error: null })
  useEffect(() => {
    const gone = new AbortController()
    getJson<T>(path, gone.signal)
      .then(value => setState({ value, error: null }))
      .catch((error: Error) => {
        if (!gone.signal.aborted) setState(({ value }) => ({ value, error: error.message }))
      })
    return () => gone.abort()
  }, [path, version])
  return state
}

/** The latest that a stream told, and whether it is there now. */
export const useLive = <T>(path: string): { news: T | null; there: boolean } => {
  const [news, setNews] = useState<T | null>(null)
  const [there, setThere] = useState(false)
  useEffect(() => {
    const source = new EventSource(path)
    source.onopen = () => setThere(true)
    source.onerror = () => setThere(false)
    source.onmessage = event => setNews(JSON.parse(event.data))
    return () => source.close()
  }, [path])
  return { news, there }
}

/** A value that follows another one at most so often: what is costly to draw need not follow every line of a file. */
export const useThrottled = <T>(value: T, everyMs: number): T => {
  const [shown, setShown] = useState(value)
  const lastMs = useRef(0)
  useEffect(() => {
    if (Object.is(value, shown)) return
    const wait = Math.max(0, lastMs.current + everyMs - performance.now())
    const timer = setTimeout(() => {
      lastMs.current = performance.now()
      setShown(value)
    }, wait)
    return () => clearTimeout(timer)
  }, [value, shown, everyMs])
  return shown
}
