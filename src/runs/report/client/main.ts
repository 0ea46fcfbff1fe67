/** @file The script of a page that is a file: draws the charts that it describes, on screen and on paper. The rest is read without it. */

import 'uplot/dist/uPlot.min.css'
import '../style.css'
import uPlot from 'uplot'
import { type ChartSpec, chartPlace } from '../chart-spec.ts'
import { drawChart } from './chart.ts'

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
