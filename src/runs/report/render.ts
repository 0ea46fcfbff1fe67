/** @file Components and data as text of a file. */

import { h, type VNode } from 'preact'
import { renderToStaticMarkup } from 'preact-render-to-string'

/** A component as HTML: the markup that it makes in a browser. */
export const part = <Props extends object>(component: (props: Props) => VNode | null, props: Props): string =>
  renderToStaticMarkup(h(component, props))

/** JSON for a script element: nothing in it can close the element or open a comment. */
export const jsonForScript = (value: unknown): string =>
  JSON.stringify(value)
    .replace(/</g, '\\u003c')
    .replace(/\u2028/g, '\\u2028')
    .replace(/\u2029/g, '\\u2029')
