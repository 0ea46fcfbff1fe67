/** @file The token that lets this tab control runs: it comes in the address once, and stays in the tab alone. */

const NAME = 'gradus-control-token'

/** Takes it out of the address, where a screenshot or a sent link would show it. */
export const takeToken = (): void => {
  const found = /^#token=([\w-]+)$/.exec(location.hash)
  if (found === null) return
  setToken(found[1])
  history.replaceState(null, '', location.pathname + location.search)
}

export const token = (): string | null => sessionStorage.getItem(NAME)

export const setToken = (value: string | null): void => {
  if (value === null) sessionStorage.removeItem(NAME)
  else sessionStorage.setItem(NAME, value)
}
