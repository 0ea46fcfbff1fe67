/** @file The script of a report's page: draws every chart that the page describes, on screen and on paper. */

import type Plot from 'uplot'
import { type ChartSpec, chartPlace } from '../chart-spec.ts'
import { drawChart } from './chart.ts'

/** The page has uPlot before this script. */
declare const uPlot: typeof Plot

const byId = (id: string): Element => document.getElementById(id)!

const specs: ChartSpec[] = JSON.parse(byId('chart-data').textContent ?? '[]')
const charts = specs.map(spec => drawChart(uPlot, byId(chartPlace(spec.id)), spec))

const redraw = () => {
  for (const chart of charts) chart.redraw()
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
// Paper is white whatever the screen is.
addEventListener('beforeprint', () => {
  document.documentElement.classList.add('paper')
  for (const fold of document.querySelectorAll('details.print')) fold.setAttribute('open', '')
  redraw()
})
addEventListener('afterprint', () => {
  document.documentElement.classList.remove('paper')
  redraw()
})
