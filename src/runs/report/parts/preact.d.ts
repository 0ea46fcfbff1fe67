/**
 * @file What the compiler knows of preact where code runs in Node: tsconfig.json leads here. Preact's own types bring the
 * browser's with them (`document` would then be known everywhere); the dashboard's tsconfig checks the same components by those.
 */

export interface VNode {
  type: unknown
  props: unknown
  key: unknown
}

export type ComponentChild = VNode | string | number | boolean | null | undefined
export type ComponentChildren = ComponentChild | ComponentChildren[]

export function h<Props extends object>(component: (props: Props) => VNode | null, props: Props): VNode
export const Fragment: (props: { children?: ComponentChildren }) => VNode
export function jsx(type: unknown, props: unknown, key?: unknown): VNode
export function jsxs(type: unknown, props: unknown, key?: unknown): VNode

export namespace JSX {
  export type Element = VNode
  export interface ElementChildrenAttribute {
    children: unknown
  }
  export interface IntrinsicAttributes {
    key?: unknown
  }
  export interface IntrinsicElements {
    [name: string]: Record<string, unknown>
  }
}
