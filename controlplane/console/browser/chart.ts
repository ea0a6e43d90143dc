import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import type { Series } from '#controlplane/figures/figures.ts';
import { clock } from './format.ts';
import { html, type Shown } from './html.ts';
import { onTheme } from './theme.ts';

/** One curve: its values by step, and the colour's variable. */
export type Curve = {
  readonly label: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
};

const HEIGHT = 160;
const LEAST_S = 180;
const MINUTES = [1, 2, 5, 10].map(minutes => minutes * 60);
const FEW = 8;

/** Draws curves over the time of a series. `text` says the same in words. */
export function Chart({
  series,
  curves,
  unit,
  text,
}: {
  readonly series: Pick<Series, 'start' | 'stepMs'>;
  readonly curves: readonly Curve[];
  readonly unit: (value: number) => string;
  readonly text: string;
}): Shown {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const length = curves[0]?.values.length ?? 0;
  const times = Array.from({ length }, (_, index) => (series.start + index * series.stepMs) / 1000);
  const data = [times, ...curves.map(({ values }) => [...values])] as uPlot.AlignedData;
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let Plot: typeof uPlot | undefined;
    const draw = () => {
      if (Plot === undefined) return;
      plot.current?.destroy();
      plot.current = new Plot(options(element, curves, unit), latest.current, element);
    };
    let isGone = false;
    // It takes the browser 20 ms to load, for which the first page does not wait.
    void import('uplot').then(module => {
      if (isGone) return;
      Plot = module.default;
      draw();
    });
    const watch = new ResizeObserver(() => plot.current?.setSize(sizeOf(element)));
    watch.observe(element);
    const stop = onTheme(draw);
    return () => {
      isGone = true;
      stop();
      watch.disconnect();
      plot.current?.destroy();
    };
  }, [curves.length]);
  useEffect(() => plot.current?.setData(data), [JSON.stringify(data)]);
  return html`<div class="chart" role="img" aria-label=${text}><div ref=${place}></div></div>`;
}

function options(
  element: HTMLElement,
  curves: readonly Curve[],
  unit: (value: number) => string,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: color('muted'),
    grid: { stroke: color('line'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    ...sizeOf(element),
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 18, 0, 0],
    scales: {
      // A curve that has just begun is not drawn over the whole width.
      x: { range: (_plot, first, last) => [Math.min(first, last - LEAST_S), last] },
      y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        space: 60,
        size: 26,
        // The labels are minutes.
        incrs: MINUTES,
        values: (_plot, splits) => splits.map(at => clock(at * 1000).slice(0, 5)),
      },
      { ...axis, size: 52, space: 34, values: (_plot, splits) => splits.map(unit) },
    ],
    series: [
      {},
      ...curves.map(({ color: name, label, values }, index) => ({
        label,
        stroke: color(name),
        width: 1.6,
        // A few values are not a line yet.
        points: { show: values.filter(value => value !== null).length < FEW, size: 4 },
        ...(index === 0 ? { fill: `color-mix(in srgb, ${color(name)} 12%, transparent)` } : {}),
      })),
    ],
  };
}

function sizeOf(element: HTMLElement): { width: number; height: number } {
  return { width: Math.max(200, element.clientWidth), height: HEIGHT };
}
