/** @file Asks the server: JSON by address, news by server-sent events; what was there stays until the new is. */

import { useEffect, useRef, useState } from 'preact/hooks'

export interface Loaded<T> {
  value: T | null
  error: string | null
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

/** @throws Error with the server's words */
export const postJson = <T>(path: string, body: unknown, headers: Record<string, string>): Promise<T> =>
  ask(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** What an address answers. @param version asks again when it changes; null path: nothing is asked */
export const useJson = <T>(path: string | null, version: unknown = 0): Loaded<T> => {
  const [state, setState] = useState<Loaded<T>>({ value: null, error: null })
  useEffect(() => {
    if (path === null) return
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

/** Listens to a stream while the page shows what it is about. @returns whether it is there now */
export const useLive = (path: string, handlers: Record<string, (data: never) => void>): boolean => {
  const [there, setThere] = useState(false)
  const latest = useRef(handlers)
  latest.current = handlers
  useEffect(() => {
    const source = new EventSource(path)
    source.onopen = () => setThere(true)
    source.onerror = () => setThere(false)
    for (const name of Object.keys(latest.current))
      source.addEventListener(name, event =>
        latest.current[name]?.(JSON.parse((event as MessageEvent<string>).data) as never),
      )
    return () => source.close()
  }, [path])
  return there
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
